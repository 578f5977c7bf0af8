"""Argo CD: one Application for each application, each in a project of its own.

Argo CD runs in the cluster it serves. The pointer is the app of apps; a project has one repository,
one destination, and of objects without a namespace exactly those that the definition lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph.model.values import Value
from graph.model.workload import Application, Base
from renderer import paths
from renderer.formats.late import Patch, handed_on, object_patches
from renderer.formats.port import Unit
from renderer.objects.business import labels_of
from renderer.objects.manifest import directory, manifest
from renderer.settings import FormatSettings
from renderer.tree import Tree

KIND = "Application"
SYNC = "sync.yaml"
_API = "argoproj.io/v1alpha1"
_WAVE = "argocd.argoproj.io/sync-wave"
_PATHS = "argocd.argoproj.io/manifest-generate-paths"
_FINALIZER = "resources-finalizer.argocd.argoproj.io"
"""The objects of an Application go with it, and a project stays while an Application is in it."""
_ANY = {"group": "*", "kind": "*"}
_OF_THE_NAMESPACE = [{"group": "", "kind": "LimitRange"}, {"group": "", "kind": "ResourceQuota"}]
"""What an application may not write: Trellis does."""


class ArgoCD:
    """The words of Argo CD's application-controller."""

    name = "argocd"

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings

    def leads_to(self, application: str, key: str) -> str:
        """What tells Argo CD of the overlay."""
        return paths.sync(application, self.name, key)

    def files(self, unit: Unit, tree: Tree) -> Mapping[str, bytes]:
        """The application's project and Application; the project is there first and goes last."""
        marks = labels_of(unit.application, unit.namespace, unit.key)
        name, namespace = unit.application.name, self._settings.argocd_namespace
        project = manifest(
            _API,
            "AppProject",
            name,
            {"spec": self._project(unit)},
            namespace=namespace,
            marks=marks,
            annotations={_WAVE: "-1"},
            finalizers=[_FINALIZER],
        )
        told = manifest(
            _API,
            KIND,
            name,
            {"spec": self._spec(unit)},
            namespace=namespace,
            marks=marks,
            annotations={_WAVE: str(unit.wave), _PATHS: ";".join(_read_from(unit))},
            finalizers=[_FINALIZER],
        )
        return directory(SYNC, [project, told])

    def patches(self, application: Application, late: Mapping[str, Value]) -> Sequence[Patch]:
        """Given to the Application, which has kustomize apply them to its objects.

        They come with what they stand in: Argo CD takes an empty one out of an Application, and
        whoever puts it back is then never in step with its cluster.
        """
        filled = object_patches(application, late)
        if not filled:
            return []
        return [handed_on(KIND, application.name, "/spec/source/kustomize", {"patches": filled})]

    def _project(self, unit: Unit) -> dict[str, object]:
        granted = (each.partition("/") for each in sorted(unit.application.cluster_scoped))
        return {
            "sourceRepos": [self._settings.argocd_repository],
            "destinations": [self._destination(unit)],
            "clusterResourceWhitelist": [
                {"group": "*", "kind": kind, "name": name} for kind, _, name in granted
            ],
            "namespaceResourceWhitelist": [_ANY],
            "namespaceResourceBlacklist": _OF_THE_NAMESPACE,
        }

    def _spec(self, unit: Unit) -> dict[str, object]:
        settings = self._settings
        return {
            "project": unit.application.name,
            "source": {
                "repoURL": settings.argocd_repository,
                "targetRevision": settings.argocd_revision,
                "path": paths.overlay(unit.application.name, unit.key),
            },
            "destination": self._destination(unit),
            "syncPolicy": {
                "automated": {"prune": True, "selfHeal": True},
                "retry": {
                    "limit": settings.argocd_retries,
                    "backoff": {
                        "duration": f"{settings.argocd_retry_seconds}s",
                        "factor": 2,
                        "maxDuration": f"{settings.argocd_retry_seconds_max}s",
                    },
                },
                "syncOptions": ["CreateNamespace=false", "FailOnSharedResource=true"],
            },
        }

    def _destination(self, unit: Unit) -> dict[str, str]:
        return {"server": self._settings.argocd_server, "namespace": unit.namespace.name}


def _read_from(unit: Unit) -> list[str]:
    """Where a change makes Argo CD build the application again, from the root of the repository."""
    name, source = unit.application.name, unit.application.source
    found = [paths.overlay(name, unit.key)]
    if isinstance(source, Base):
        owned = [source.path, *(each.path for each in source.components)]
        found += [paths.below_application(name, each) for each in dict.fromkeys(owned)]
    return [f"/{each}" for each in found]
