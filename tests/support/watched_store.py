"""A store that a real reconciler looks after: what is on its cluster, and how soon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from acceptance_fleet import Fleet, Receipt, Store
from kubernetes_cluster import Kubernetes, until
from reconcilers import Follower


class Took(NamedTuple):
    """How long a change took from its receipt on, in seconds."""

    way: str
    what: str
    published: float
    applied: float


@dataclass(frozen=True)
class Watched:
    """A store that a real reconciler looks after."""

    store: Store
    fleet: Fleet
    kubernetes: Kubernetes
    follower: Follower
    took: list[Took]

    def settings(self, name: str) -> dict[str, str] | None:
        """The content of a ConfigMap of the store; None where there is none."""
        found = self.kubernetes.get("configmap", name, self.store.namespace)
        return None if found is None else found["data"]

    def says(self, name: str, key: str) -> str | None:
        return (self.settings(name) or {}).get(key)

    def settles(self, *applications: str) -> None:
        """Wait for applications to be applied and healthy; for the pointer itself without any."""
        names = [self.store.named(each) for each in applications] or [self.store.cluster]
        for name in names:
            until(partial(self._is_settled, name), self._everything_said)

    def is_ready(self, application: str) -> bool:
        """Whether the reconciler calls it applied and healthy."""
        return self.follower.said(self.store.named(application))[0]

    def complaint(self, application: str) -> str:
        """What the reconciler says of an application."""
        return self.follower.said(self.store.named(application))[1]

    def sees(self, what: str, receipt: Receipt, holds: Callable[[], bool]) -> None:
        """Wait for a change to be in git, then on the cluster; both times are told."""
        published = receipt.since.until(lambda: self.fleet.is_published(receipt))
        applied = receipt.since.until(holds, self._everything_said)
        self.took.append(Took(self.store.way, what, published, applied))

    def _is_settled(self, name: str) -> bool:
        return self.follower.said(name)[0]

    def _everything_said(self) -> list[str]:
        names = (self.store.cluster, *sorted(self.follower.applications()))
        return [f"{name}: {self.follower.said(name)}" for name in names]
