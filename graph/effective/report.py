"""Reports along a hierarchy: how full clusters are, and who pays for what runs on them.

Sums over sets of clusters are counts of intersections, so a row costs the same for ten clusters
and for ten thousand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graph.effective.machines import RESOURCES, amount_of
from graph.effective.reading import Reading
from graph.model.cluster_set import ClusterSet
from graph.model.inventory import Capacity
from graph.model.names import GroupNumber
from graph.model.view import path_of
from graph.model.workload import Namespace


@dataclass(frozen=True, slots=True)
class CapacityRow:
    """What is asked of the clusters of a group, and what they have."""

    group: GroupNumber
    path: str
    clusters: int
    stated: int
    """Clusters that say what they have."""
    asked: Capacity
    offered: Capacity
    over: int
    """Clusters of which more is asked than they have."""


@dataclass(frozen=True, slots=True)
class ChargebackRow:
    """What the applications of a namespace take from the clusters of a group."""

    cost_center: str
    namespace: str
    path: str
    clusters: int
    """Clusters on which one of them is effective."""
    requested: Capacity
    """What they request, on all of these together."""

    @property
    def key(self) -> str:
        """What tells the row from all others."""
        return f"{self.namespace}:{self.path}"


def capacity_report(reading: Reading, group: GroupNumber) -> list[CapacityRow]:
    """A row for the group itself, and one for each group right below, by path."""
    asked = reading.asked()
    machines, over = reading.state.machines, reading.state.demand.over
    rows: list[CapacityRow] = []
    for number in (group, *_children(reading, group)):
        members = reading.view.members(number)
        row = CapacityRow(
            number,
            path_of(reading.view, number),
            len(members),
            machines.stated[RESOURCES[0]].size_with(members),
            Capacity(*(asked[each].total(members) for each in RESOURCES)),
            Capacity(*(machines.offered[each].total(members) for each in RESOURCES)),
            over.size_with(members),
        )
        rows.append(row)
    return rows


def chargeback(reading: Reading, group: GroupNumber) -> Iterator[ChargebackRow]:
    """A row for each namespace and each group right below, where something runs.

    By cost centre, namespace and path. A cluster in two of the groups counts in both.
    """
    places = [
        (path_of(reading.view, number), reading.view.members(number))
        for number in _children(reading, group)
    ]
    of_namespace: dict[str, list[tuple[Capacity | None, ClusterSet]]] = {}
    for definition in reading.definitions():
        application = definition.application
        effective = reading.state.placements[application.name].effective
        held = of_namespace.setdefault(application.namespace, [])
        held.append((application.requests, effective))
    namespaces = reading.view.workload.namespaces
    named = (namespaces[name] for name in of_namespace if name in namespaces)
    for namespace in sorted(named, key=lambda each: (each.cost_center, each.name)):
        for path, members in places:
            row = _charged(namespace, path, members, of_namespace[namespace.name])
            if row.clusters:
                yield row


def _charged(
    namespace: Namespace,
    path: str,
    members: ClusterSet,
    held: list[tuple[Capacity | None, ClusterSet]],
) -> ChargebackRow:
    here = [(requests, effective.size_with(members)) for requests, effective in held]
    amounts = (
        sum(amount_of(requests, each) * count for requests, count in here) for each in RESOURCES
    )
    met = [
        effective & members for (_, effective), (_, count) in zip(held, here, strict=True) if count
    ]
    clusters = len(ClusterSet.union(met))
    return ChargebackRow(namespace.cost_center, namespace.name, path, clusters, Capacity(*amounts))


def _children(reading: Reading, group: GroupNumber) -> list[GroupNumber]:
    return [number for _, number in sorted(reading.view.children(group).items())]
