"""Batches to preview on the workload fleet, by how many clusters they touch.

Kinds that touch one cluster have several batches, so that no single store is measured. Sizes shrink
with the fleet: on a small one, thousands are as many as there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from random import Random

from bench.stores import ACTOR
from graph.model.command import Batch, Command, Join, MoveGroup, UpdateCluster
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import Except, IsCluster, Under
from graph.model.view import FleetView, group_at, lineage, path_of, subtree
from graph.model.workload_command import Assign, SetLayer

ONE, HUNDRED, THOUSANDS = "1 cluster", "100 clusters", "5,000 clusters"
SIZES = {ONE: 1, HUNDRED: 100, THOUSANDS: 5_000}
BATCHES = 20
"""Of each kind that touches one cluster."""
STATE_DEPTH = 3
"""Geo, country, region, state."""
APPLICATION = "app-000"
"""The application that is on the whole fleet and has most configurations."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of change, and batches each of which may be the next."""

    name: str
    touches: str
    batches: Sequence[Batch]


def kinds_of_change(view: FleetView, *, seed: int = 1) -> list[Kind]:
    """Every kind of change that is previewed."""
    work = _Work(view, Random(seed))
    return [
        Kind("a store moved inside its state", ONE, _each(work.near)),
        Kind("a store moved to another region", ONE, _each(work.far)),
        Kind("a store relabelled", ONE, _each(work.relabelled)),
        Kind("a layer on a store", ONE, _each(work.layers)),
        Kind("a late-bound value on a store", ONE, _each(work.late)),
        Kind("stores moved to another region", HUNDRED, [_batch(*work.far(SIZES[HUNDRED]))]),
        Kind("stores relabelled", HUNDRED, [_batch(*work.relabelled(SIZES[HUNDRED]))]),
        Kind("a city moved to another region", HUNDRED, [work.moved(HUNDRED)]),
        Kind("a state moved to another region", THOUSANDS, [work.moved(THOUSANDS)]),
        Kind("an assignment narrowed", THOUSANDS, [work.narrowed()]),
        Kind("another value in a layer", THOUSANDS, [work.revalued()]),
    ]


def _each(commands: Callable[[int], Iterator[Command]]) -> list[Batch]:
    return [_batch(each) for each in commands(BATCHES)]


def _batch(*commands: Command) -> Batch:
    return Batch(commands, ACTOR, "measured", expected_loss=10**9)


class _Work:
    """Commands on one fleet."""

    def __init__(self, view: FleetView, random: Random) -> None:
        self._view, self._random = view, random
        self._us = _group(view, "/geo/us")

    def near(self, count: int) -> Iterator[Command]:
        """Stores, each to another place in its state."""
        for cluster, here in self._places(count):
            top = lineage(self._view, here)[::-1]
            state = top[STATE_DEPTH if len(top) > STATE_DEPTH else -1].number
            yield self._joined(cluster, _last(self._view, state, besides=here))

    def far(self, count: int) -> Iterator[Command]:
        """Stores, each to a place in another region."""
        regions = list(self._view.children(self._us).values())
        for cluster, _ in self._places(count):
            others = [each for each in regions if cluster not in self._view.members(each)]
            yield self._joined(cluster, _last(self._view, self._random.choice(others)))

    def relabelled(self, count: int) -> Iterator[Command]:
        """Stores, each of another size: of some applications' size, or no longer."""
        for cluster, _ in self._places(count):
            size = "medium" if self._view.label(cluster, "size") == "small" else "small"
            yield UpdateCluster(self._view.cluster_name(cluster), labels={"size": size})

    def layers(self, count: int) -> Iterator[Command]:
        """A layer on each of some stores, each for another application."""
        applications = cycle(sorted(self._view.workload.applications))
        for (cluster, _), name in zip(self._places(count), applications, strict=False):
            yield SetLayer(f"{name}-only", IsCluster(cluster), {"replicas": 3}, name)

    def late(self, count: int) -> Iterator[Command]:
        """A layer on each of some stores that gives a late-bound key."""
        applications = self._view.workload.applications
        bound = cycle(sorted(name for name, each in applications.items() if each.late_bound))
        for (cluster, _), name in zip(self._places(count), bound, strict=False):
            values = {"host": "elsewhere.example.com"}
            yield SetLayer(f"{name}-host", IsCluster(cluster), values, name)

    def moved(self, size: str) -> Batch:
        """A group of about so many stores, under another region."""
        group = self._of_size(size)
        regions = list(self._view.children(self._us).values())
        above = {each.number for each in lineage(self._view, group)}
        there = next(each for each in regions if each not in above)
        return _batch(MoveGroup(path_of(self._view, group), path_of(self._view, there)))

    def narrowed(self) -> Batch:
        """What an application is assigned to, less some thousands."""
        was = self._view.workload.assignments[f"{APPLICATION}-most"]
        less = Except(was.selector, Under(self._of_size(THOUSANDS)))
        return _batch(Assign(was.name, was.choice, less))

    def revalued(self) -> Batch:
        """A layer that reaches some thousands, with another value."""
        found = (each for each in self._view.workload.layers.values() if each.application)
        groups = {
            each.name: len(self._view.members(each.selector.group))
            for each in found
            if isinstance(each.selector, Under)
        }
        name = min(groups, key=lambda each: (abs(groups[each] - self._wanted(THOUSANDS)), each))
        was = self._view.workload.layers[name]
        values = {**was.values.data, "tax": 0.77}
        return _batch(SetLayer(name, was.selector, values, was.application, was.rank))

    def _places(self, count: int) -> Iterator[tuple[ClusterNumber, GroupNumber]]:
        """Some stores of the country that has most of the fleet, each with its place in it."""
        members = self._view.members(self._us).numbers()
        for number in sorted(self._random.sample(members, min(count, len(members) // 4))):
            cluster = ClusterNumber(number)
            yield cluster, next(filter(self._is_in_geo, self._view.memberships(cluster)))

    def _is_in_geo(self, group: GroupNumber) -> bool:
        found = self._view.group(group)
        return found is not None and found.hierarchy == "geo"

    def _joined(self, cluster: ClusterNumber, there: GroupNumber) -> Command:
        return Join(self._view.cluster_name(cluster), path_of(self._view, there))

    def _wanted(self, size: str) -> int:
        return min(SIZES[size], len(self._view.everything()) // 12)

    def _of_size(self, size: str) -> GroupNumber:
        """The group below a region that is nearest to this size."""
        regions = self._view.children(self._us).values()
        below = [each for region in regions for each in subtree(self._view, region)]
        groups = [each for each in below if each not in set(regions)]
        return min(groups, key=lambda at: abs(len(self._view.members(at)) - self._wanted(size)))


def _group(view: FleetView, path: str) -> GroupNumber:
    number = group_at(view, path)
    assert number is not None, f"the sample has no {path}"
    return number


def _last(view: FleetView, top: GroupNumber, besides: GroupNumber | None = None) -> GroupNumber:
    """The last place below a group that has nothing below it."""
    leaves = (each for each in subtree(view, top) if not view.children(each) and each != besides)
    return max(leaves, default=top)
