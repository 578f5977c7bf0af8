"""What clusters are and offer, as sets: reconcilers and capacities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graph.effective.tally import Tally
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.inventory import Capacity, Reconciler
from graph.model.names import ClusterNumber
from graph.model.view import FleetView

RESOURCES = ("cpu_millicores", "memory_mib", "storage_mib")
"""The resources of a capacity, in the order of a refusal."""


@dataclass(frozen=True, slots=True)
class Machines:
    """The clusters of one view by what they run and hold."""

    by_reconciler: Mapping[Reconciler, ClusterSet]
    offered: Mapping[str, Tally]
    """How much of each resource a cluster has."""
    stated: Mapping[str, ClusterSet]
    """Clusters that say how much of it they have."""

    def under(self, reconcilers: Iterable[Reconciler]) -> ClusterSet:
        """Clusters that run one of these."""
        return ClusterSet.union([self.by_reconciler.get(each, EMPTY) for each in reconcilers])


def machines_of(view: FleetView) -> Machines:
    """The machines of ``view``, from nothing."""
    none = Machines({}, dict.fromkeys(RESOURCES, Tally()), dict.fromkeys(RESOURCES, EMPTY))
    return machines_after(none, view.everything(), view)


def machines_after(machines: Machines, changed: ClusterSet, view: FleetView) -> Machines:
    """The machines once ``changed`` ones are as ``view`` has them; the rest is as it was."""
    if not changed:
        return machines
    there = changed & view.everything()
    numbers = there.numbers()
    reconcilers = view.columns.reconciler.many(numbers)
    held: dict[Reconciler, list[int]] = {each: [] for each in machines.by_reconciler}
    for number, reconciler in zip(numbers, reconcilers, strict=True):
        held.setdefault(reconciler, []).append(number)
    by_reconciler = {
        each: (machines.by_reconciler.get(each, EMPTY) - changed) | ClusterSet.of(found)
        for each, found in held.items()
    }
    by_capacity: dict[Capacity | None, list[int]] = {}
    for number, capacity in zip(numbers, view.columns.capacity.many(numbers), strict=True):
        by_capacity.setdefault(capacity, []).append(number)
    offered: dict[str, Tally] = {}
    stated: dict[str, ClusterSet] = {}
    for resource in RESOURCES:
        found = [
            (amount, clusters)
            for capacity, clusters in by_capacity.items()
            if (amount := _stated(capacity, resource)) >= 0
        ]
        offered[resource] = machines.offered[resource].patched(changed, Tally.of(found))
        known = ClusterSet.of([number for _, clusters in found for number in clusters])
        stated[resource] = (machines.stated[resource] - changed) | known
    return Machines(by_reconciler, offered, stated)


def amount_of(capacity: Capacity | None, resource: str) -> int:
    """How much of a resource is asked for."""
    return 0 if capacity is None else int(getattr(capacity, resource))


def capacity_at(tallies: Mapping[str, Tally], cluster: ClusterNumber) -> Capacity:
    """The amounts of one cluster."""
    return Capacity(*(tallies[resource].at(cluster) for resource in RESOURCES))


def _stated(capacity: Capacity | None, resource: str) -> int:
    """How much a cluster says it has; below zero when it does not say."""
    if capacity is None or (resource == "storage_mib" and not capacity.storage_mib):
        return -1
    return int(getattr(capacity, resource))
