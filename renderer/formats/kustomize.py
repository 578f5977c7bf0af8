"""Plain kustomize: whoever applies there builds the pointer, and has every object in hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph.model.values import Value
from graph.model.workload import Application
from renderer import paths
from renderer.formats.late import Patch, object_patches
from renderer.formats.port import Unit
from renderer.tree import Tree


class Kustomize:
    """Lines lead to overlays, and late-bound values right to their objects."""

    name = "kustomize"

    def leads_to(self, application: str, key: str) -> str:
        """The overlay."""
        return paths.overlay(application, key)

    def files(self, unit: Unit, tree: Tree) -> Mapping[str, bytes]:
        """None: there is nobody to tell."""
        return {}

    def patches(self, application: Application, late: Mapping[str, Value]) -> Sequence[Patch]:
        """A patch for each object, in the application's namespace."""
        return object_patches(application, late, namespace=application.namespace)
