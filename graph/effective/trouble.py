"""Why clusters are blocked, told: groups of clusters that have the same reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from graph.composition.problem import Problem, Reason
from graph.effective.judgement import Placement
from graph.effective.refine import refine
from graph.effective.state import State
from graph.model.cluster_set import EMPTY, ClusterSet


@dataclass(frozen=True, slots=True, order=True)
class Trouble:
    """One reason, told to people."""

    reason: Reason
    message: str


Troubles = Mapping[tuple[Trouble, ...], ClusterSet]
"""Blocked clusters by all that blocks them. Each is in one group."""

_Told = tuple[tuple[Trouble, ...], ClusterSet]


def troubles_of(name: str, state: State) -> Troubles:
    """What blocks an application, wherever something does."""
    placement = state.placements.get(name)
    if placement is None or not placement.blocked:
        return {}
    return _grouped(list(_told(name, placement, state)))


def fleet_troubles(state: State) -> Troubles:
    """Where layers conflict about the fleet's own settings."""
    found = [
        (_of(problems), clusters)
        for names, clusters in state.fleet_configurations.items()
        if (problems := state.fleet.problems(names))
    ]
    return _grouped(found)


def _grouped(told: list[_Told]) -> Troubles:
    """Clusters by everything that is told of them."""
    if not told:
        return {}
    blocked = ClusterSet.union([clusters for _, clusters in told])
    numbered = [(str(at), clusters) for at, (_, clusters) in enumerate(told)]
    groups: dict[tuple[Trouble, ...], ClusterSet] = {}
    for numbers, clusters in refine(blocked, numbered).items():
        said = tuple(sorted({each for at in numbers for each in told[int(at)][0]}))
        groups[said] = groups[said] | clusters if said in groups else clusters
    return groups


def _told(name: str, placement: Placement, state: State) -> Iterator[_Told]:
    application, blocked = state.definitions[name].application, placement.blocked
    for names, problems in placement.problems.items():
        yield _of(problems), placement.configurations[names]
    torn = state.places[name].torn & blocked.get(Reason.CONFLICT, EMPTY)
    if torn:
        message = "layers that nothing orders give a late-bound key different values"
        yield (Trouble(Reason.CONFLICT, message),), torn
    if unbound := blocked.get(Reason.LATE_BOUND):
        keys = ", ".join(late.key for late in application.late_bound)
        message = f"no value for a late-bound key ({keys})"
        yield (Trouble(Reason.LATE_BOUND, message),), unbound
    if over := blocked.get(Reason.CAPACITY):
        message = "more is asked of the cluster than it has"
        yield (Trouble(Reason.CAPACITY, message),), over
    alone = blocked.get(Reason.DEPENDENCY, EMPTY)
    for needed in application.depends_on if alone else ():
        if without := alone - state.placements[needed].effective:
            message = f"{needed}, which it depends on, is not effective there"
            yield (Trouble(Reason.DEPENDENCY, message),), without


def _of(problems: tuple[Problem, ...]) -> tuple[Trouble, ...]:
    return tuple(Trouble(each.reason, each.message) for each in problems)
