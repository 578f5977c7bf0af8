"""What is asked of clusters, against what they have.

Everything placed counts, also what is blocked: it keeps running as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from graph.effective.later import Later
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
_Move = tuple[Asked, Asked]
"""Before and after."""


@dataclass(frozen=True, slots=True)
class Demand:
    """How much is asked of each cluster, and of which ones too much."""

    asked: Mapping[str, Tally] = field(default_factory=lambda: dict.fromkeys(RESOURCES, Tally()))
    over: ClusterSet = EMPTY


def demand_after(
    demand: Demand,
    moves: Iterable[_Move],
    changed: ClusterSet,
    machines: Machines,
) -> Demand:
    """The demand once applications ask otherwise; ``changed`` machines are looked at again.

    A move tells what was asked before and what is now, of all clusters or of those that matter.
    The amounts are put together when somebody reads them.
    """
    moves = [(was, now) for was, now in moves if was[0] != now[0] or was[1] is not now[1]]
    moved = ClusterSet.union([_moved(was, now) for was, now in moves]) if moves else EMPTY
    among = moved | changed if changed else moved
    if not among:
        return demand
    part = _Counted(demand, moves) if len(among) <= FEW else _Added(demand, moves, among)
    over = demand.over.patched(among, part.over(among, machines))
    if not moved:
        return Demand(demand.asked, over)
    return Demand(Later(partial(_patched, demand.asked, among, part.asked)), over)


def _moved(was: Asked, now: Asked) -> ClusterSet:
    """Clusters of which an application asks otherwise."""
    return was[1] ^ now[1] if was[0] == now[0] else was[1] | now[1]


def _patched(
    asked: Mapping[str, Tally],
    among: ClusterSet,
    part: Callable[[ClusterSet], Mapping[str, Tally]],
) -> dict[str, Tally]:
    """The amounts with those of some clusters replaced."""
    return {name: asked[name].patched(among, tally) for name, tally in part(among).items()}


class _Added:
    """What is asked of some clusters, with every move made on sets of them."""

    def __init__(self, demand: Demand, moves: Iterable[_Move], among: ClusterSet) -> None:
        self._asked = {name: tally.among(among) for name, tally in demand.asked.items()}
        for (was, held), (now, holds) in moves:
            gone, come = (held, holds) if was != now else (held - holds, holds - held)
            for resource in RESOURCES:
                less = self._asked[resource].minus(amount_of(was, resource), gone)
                self._asked[resource] = less.plus(amount_of(now, resource), come)

    def asked(self, _: ClusterSet) -> Mapping[str, Tally]:
        return self._asked

    def over(self, among: ClusterSet, machines: Machines) -> ClusterSet:
        found = [
            tally.exceeds(machines.offered[resource], among & machines.stated[resource])
            for resource, tally in self._asked.items()
        ]
        return ClusterSet.union(found)


class _Counted:
    """The same for a few clusters, counted one by one."""

    def __init__(self, demand: Demand, moves: Sequence[_Move]) -> None:
        self._was = demand.asked
        self._moves = moves

    def asked(self, among: ClusterSet) -> Mapping[str, Tally]:
        found = [(cluster, self._at(cluster)) for cluster in among]
        return {
            resource: Tally.of([(amounts[resource], (cluster,)) for cluster, amounts in found])
            for resource in RESOURCES
        }

    def over(self, among: ClusterSet, machines: Machines) -> ClusterSet:
        found = [
            cluster
            for cluster in among
            if any(
                cluster in machines.stated[resource]
                and amount > machines.offered[resource].at(cluster)
                for resource, amount in self._at(cluster).items()
            )
        ]
        return ClusterSet.of(found) if found else EMPTY

    def _at(self, cluster: int) -> dict[str, int]:
        more = _difference_at(cluster, self._moves)
        return {
            resource: self._was[resource].at(cluster) + more[resource] for resource in RESOURCES
        }


def _difference_at(cluster: int, moves: Iterable[_Move]) -> dict[str, int]:
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
