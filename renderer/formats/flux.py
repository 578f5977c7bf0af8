"""Flux: one Kustomization for each application, so that a bad one stops nobody else.

It is named after the application and lies in Flux's namespace, with the account it impersonates:
that account may do everything in the application's namespace and nothing outside of it, but for the
objects without a namespace that the definition lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph.model.values import Value
from graph.model.workload import Application
from renderer import paths
from renderer.formats.late import Patch, handed_on, object_patches
from renderer.formats.port import Unit
from renderer.objects.business import labels_of
from renderer.objects.grants import account_name, grants
from renderer.objects.manifest import directory, manifest
from renderer.settings import FormatSettings
from renderer.tree import Tree

KIND = "Kustomization"
SYNC = "sync.yaml"


class Flux:
    """The words of Flux's kustomize-controller."""

    name = "flux"

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings

    def leads_to(self, application: str, key: str) -> str:
        """What tells Flux of the overlay."""
        return paths.sync(application, self.name, key)

    def files(self, unit: Unit, tree: Tree) -> Mapping[str, bytes]:
        """The application's Kustomization, and what its account may do outside of namespaces."""
        settings = self._settings
        marks = labels_of(unit.application, unit.namespace, unit.key)
        told = manifest(
            "kustomize.toolkit.fluxcd.io/v1",
            KIND,
            unit.application.name,
            {"spec": self._spec(unit)},
            namespace=settings.flux_namespace,
            marks=marks,
        )
        allowed = grants(unit.application, settings.flux_namespace, marks)
        return directory(SYNC, [*allowed, told])

    def patches(self, application: Application, late: Mapping[str, Value]) -> Sequence[Patch]:
        """Handed on to the application's Kustomization, which applies them to its objects."""
        filled = object_patches(application, late)
        return [handed_on(KIND, application.name, "/spec/patches", filled)] if filled else []

    def _spec(self, unit: Unit) -> dict[str, object]:
        settings = self._settings
        return {
            "interval": f"{settings.flux_interval_seconds}s",
            "retryInterval": f"{settings.flux_retry_seconds}s",
            "timeout": f"{settings.flux_timeout_seconds}s",
            "path": f"./{paths.overlay(unit.application.name, unit.key)}",
            "sourceRef": {"kind": settings.flux_source_kind, "name": settings.flux_source_name},
            "targetNamespace": unit.namespace.name,
            "serviceAccountName": account_name(unit.namespace.name),
            "prune": True,
            "wait": settings.flux_wait,
            "dependsOn": [{"name": application} for application, _ in unit.needs],
        }
