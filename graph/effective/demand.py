"""What is asked of clusters, against what they have.

Everything placed counts, also what is blocked: it keeps running as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graph.effective.machines import RESOURCES, Machines, amount_of
from graph.effective.reach import Reach
from graph.effective.tally import Tally
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.inventory import Capacity
from graph.model.ref import Kind, Ref
from graph.model.workload import Application, Enforcement, Policy

FEW = 16
"""Clusters that are cheaper to count one by one than to add up as sets."""

Asked = tuple[Capacity | None, ClusterSet]
"""What one application asks for, and of whom."""


@dataclass(frozen=True, slots=True)
class Demand:
    """How much is asked of each cluster, and of which ones too much."""

    asked: Mapping[str, Tally] = field(default_factory=lambda: dict.fromkeys(RESOURCES, Tally()))
    over: ClusterSet = EMPTY


def demand_after(
    demand: Demand,
    moves: Iterable[tuple[Asked, Asked]],
    changed: ClusterSet,
    machines: Machines,
) -> Demand:
    """The demand once applications ask otherwise; ``changed`` machines are looked at again."""
    moves = [(was, now) for was, now in moves if was[0] != now[0] or was[1] is not now[1]]
    moved = ClusterSet.union([_moved(was, now) for was, now in moves])
    among = moved | changed
    if not among:
        return demand
    asked = (
        _counted(demand.asked, moves, moved) if len(moved) <= FEW else _added(demand.asked, moves)
    )
    found = [
        asked[resource].exceeds(machines.offered[resource], among & machines.stated[resource])
        for resource in RESOURCES
    ]
    return Demand(asked, ClusterSet.union([demand.over - among, *found]))


def _moved(was: Asked, now: Asked) -> ClusterSet:
    """Clusters of which an application asks otherwise."""
    return was[1] ^ now[1] if was[0] == now[0] else was[1] | now[1]


def _added(asked: Mapping[str, Tally], moves: Iterable[tuple[Asked, Asked]]) -> dict[str, Tally]:
    """The amounts with every move made on whole sets."""
    made = dict(asked)
    for (was, held), (now, holds) in moves:
        gone, come = (held, holds) if was != now else (held - holds, holds - held)
        for resource in RESOURCES:
            less = made[resource].minus(amount_of(was, resource), gone)
            made[resource] = less.plus(amount_of(now, resource), come)
    return made


def _counted(
    asked: Mapping[str, Tally], moves: Sequence[tuple[Asked, Asked]], moved: ClusterSet
) -> dict[str, Tally]:
    """The amounts with a few clusters counted one by one."""
    made = dict(asked)
    for cluster in moved:
        for resource, less_or_more in _difference_at(cluster, moves).items():
            if less_or_more:
                tally = made[resource]
                made[resource] = tally.set_to(tally.at(cluster) + less_or_more, cluster)
    return made


def _difference_at(cluster: int, moves: Iterable[tuple[Asked, Asked]]) -> dict[str, int]:
    """How much more is asked of one cluster; less below zero."""
    found: dict[str, int] = dict.fromkeys(RESOURCES, 0)
    for (less, was), (more, now) in moves:
        for sign, capacity, clusters in ((-1, less, was), (1, more, now)):
            if capacity is not None and cluster in clusters:
                found["cpu_millicores"] += sign * capacity.cpu_millicores
                found["memory_mib"] += sign * capacity.memory_mib
                found["storage_mib"] += sign * capacity.storage_mib
    return found


@dataclass(frozen=True, slots=True)
class Leniency:
    """Where too much is only reported."""

    reported: ClusterSet
    refused: ClusterSet
    namespaces_reported: frozenset[str]
    namespaces_refused: frozenset[str]

    def forgives(self, application: Application, clusters: ClusterSet) -> ClusterSet:
        """Those of ``clusters`` on which ``application`` is not blocked. Refusing wins."""
        if application.namespace in self.namespaces_refused:
            return EMPTY
        if application.namespace in self.namespaces_reported:
            return clusters - self.refused
        return (clusters & self.reported) - self.refused


def leniency_of(policies: Iterable[Policy], reach: Reach) -> Leniency:
    """What the policies say about asking too much."""
    said = {each: _Said() for each in Enforcement}
    for policy in policies:
        if policy.oversubscription is not None:
            said[policy.oversubscription].take(policy, reach)
    report, refuse = said[Enforcement.REPORT], said[Enforcement.REFUSE]
    return Leniency(
        ClusterSet.union(report.clusters),
        ClusterSet.union(refuse.clusters),
        frozenset(report.namespaces),
        frozenset(refuse.namespaces),
    )


@dataclass(slots=True)
class _Said:
    clusters: list[ClusterSet] = field(default_factory=list[ClusterSet])
    namespaces: set[str] = field(default_factory=set[str])

    def take(self, policy: Policy, reach: Reach) -> None:
        self.namespaces.update(policy.namespaces)
        if policy.selector is not None:
            self.clusters.append(reach.sets[Ref(Kind.POLICY, policy.name)])
