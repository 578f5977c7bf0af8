"""Real reconcilers on a cluster: told once where a store's pointer is, and then only looked at.

A ``Follower`` makes what a person makes when a store is set up, reads what the reconciler says of
an application, and takes everything away again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from acceptance_fleet import Store
from kubernetes_cluster import Kubernetes, Object, give_up, until
from renderer import paths

FLUX = "flux-system"
ARGO_CD = "argocd"
KUSTOMIZATION = "kustomizations.kustomize.toolkit.fluxcd.io"
GIT_REPOSITORY = "gitrepositories.source.toolkit.fluxcd.io"
OCI_REPOSITORY = "ocirepositories.source.toolkit.fluxcd.io"
APPLICATION = "applications.argoproj.io"
INTERVAL = "2s"
"""How often Flux looks for something new in what a store follows."""
FORMATS: Mapping[str, str] = {
    "TRELLIS_FORMAT_FLUX_INTERVAL_SECONDS": "60",
    "TRELLIS_FORMAT_FLUX_RETRY_SECONDS": "5",
    "TRELLIS_FORMAT_FLUX_TIMEOUT_SECONDS": "60",
    "TRELLIS_FORMAT_ARGOCD_RETRY_SECONDS": "5",
    "TRELLIS_FORMAT_ARGOCD_RETRY_SECONDS_MAX": "20",
}
"""Settings of a worker whose stores lose no time."""


class Follower(Protocol):
    """What looks after one store."""

    def begin(self) -> None:
        """Tell the reconciler where the pointer is."""
        ...

    def said(self, application: str) -> tuple[bool, str]:
        """Whether all of an application is applied and healthy, and what is said about it."""
        ...

    def applications(self) -> set[str]:
        """The store's applications that the reconciler knows of."""
        ...

    def end(self) -> None:
        """Nothing of the store is left."""
        ...


@dataclass(frozen=True)
class FluxFollower:
    """A Kustomization on a source, which is shared with others or the store's own."""

    kubernetes: Kubernetes
    store: Store
    kind: str
    source: Mapping[str, object]
    name: str
    path: str

    def begin(self) -> None:
        for each in (GIT_REPOSITORY, KUSTOMIZATION):
            if not self.kubernetes.has(each):
                give_up(f"the cluster has no {each}: Flux is not there")
        self.kubernetes.apply(self._source(), self._root())

    def said(self, application: str) -> tuple[bool, str]:
        found = self.kubernetes.get(KUSTOMIZATION, application, FLUX)
        if found is None:
            return False, "Flux does not know of it"
        status = found.get("status", {})
        ready = _condition(status.get("conditions", ()), "Ready")
        current = status.get("observedGeneration") == found["metadata"]["generation"]
        return current and ready.get("status") == "True", ready.get("message", "")

    def applications(self) -> set[str]:
        return self.kubernetes.names(KUSTOMIZATION, FLUX, labels=_labels(self.store))

    def end(self) -> None:
        self.kubernetes.delete(KUSTOMIZATION, self.store.cluster, namespace=FLUX)
        until(lambda: not self.applications() and self._is_gone(), self.applications)
        self.kubernetes.delete(self.kind, self.name, namespace=FLUX)
        account = f"trellis-{self.store.namespace}"
        self.kubernetes.delete("serviceaccount", account, namespace=FLUX)
        self.kubernetes.delete("namespace", self.store.namespace)

    def _is_gone(self) -> bool:
        return self.kubernetes.get(KUSTOMIZATION, self.store.cluster, FLUX) is None

    def _source(self) -> Object:
        kind = "GitRepository" if self.kind == GIT_REPOSITORY else "OCIRepository"
        return {
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": kind,
            "metadata": {"name": self.name, "namespace": FLUX},
            "spec": {"interval": INTERVAL, "timeout": "60s", **self.source},
        }

    def _root(self) -> Object:
        kind = "GitRepository" if self.kind == GIT_REPOSITORY else "OCIRepository"
        return {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": self.store.cluster, "namespace": FLUX},
            "spec": {
                "interval": "60s",
                "retryInterval": "5s",
                "timeout": "60s",
                "path": self.path,
                "prune": True,
                "sourceRef": {"kind": kind, "name": self.name},
            },
        }


@dataclass(frozen=True)
class ArgoFollower:
    """An Application on the pointer: the app of apps."""

    kubernetes: Kubernetes
    store: Store
    repository: str

    def begin(self) -> None:
        if not self.kubernetes.has(APPLICATION):
            give_up(f"the cluster has no {APPLICATION}: Argo CD is not there")
        self.kubernetes.apply(self._root())

    def said(self, application: str) -> tuple[bool, str]:
        found = self.kubernetes.get(APPLICATION, application, ARGO_CD)
        if found is None:
            return False, "Argo CD does not know of it"
        status = found.get("status", {})
        compared = status.get("sync", {}).get("comparedTo", {})
        current = compared.get("source") == found["spec"]["source"]
        synced = status.get("sync", {}).get("status") == "Synced"
        healthy = status.get("health", {}).get("status") == "Healthy"
        return current and synced and healthy, _argo_message(status)

    def applications(self) -> set[str]:
        return self.kubernetes.names(APPLICATION, ARGO_CD, labels=_labels(self.store))

    def end(self) -> None:
        self.kubernetes.delete(APPLICATION, self.store.cluster, namespace=ARGO_CD)
        until(lambda: not self.applications() and self._is_gone(), self.applications)
        self.kubernetes.delete("namespace", self.store.namespace)

    def _is_gone(self) -> bool:
        return self.kubernetes.get(APPLICATION, self.store.cluster, ARGO_CD) is None

    def _root(self) -> Object:
        return {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {
                "name": self.store.cluster,
                "namespace": ARGO_CD,
                "finalizers": ["resources-finalizer.argocd.argoproj.io"],
            },
            "spec": {
                "project": "default",
                "source": {
                    "repoURL": self.repository,
                    "targetRevision": "main",
                    "path": paths.pointer(self.store.cluster),
                },
                "destination": {
                    "server": "https://kubernetes.default.svc",
                    "namespace": ARGO_CD,
                },
                "syncPolicy": {"automated": {"prune": True, "selfHeal": True}},
            },
        }


def _labels(store: Store) -> str:
    return f"trellis.dev/namespace={store.namespace}"


def _condition(conditions: Sequence[Mapping[str, Any]], kind: str) -> Mapping[str, Any]:
    return next((each for each in conditions if each["type"] == kind), {})


def _argo_message(status: Mapping[str, Any]) -> str:
    """Everything Argo CD says of what it did and of what it finds."""
    operation = status.get("operationState", {})
    results = operation.get("syncResult", {}).get("resources", ())
    told = [
        operation.get("message", ""),
        *(each.get("message", "") for each in results),
        *(each.get("message", "") for each in status.get("conditions", ())),
    ]
    return "; ".join(filter(None, told))
