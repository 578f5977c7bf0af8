"""A state as somebody may read it.

Clusters that may not be seen are taken out of every set, and objects that may not be seen are not
named. What rests on them is told without them: that something is in the way, and not what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from graph.composition.numbering import Names
from graph.composition.problem import Problem, Reason
from graph.effective.definition import Definition
from graph.effective.judgement import NOWHERE, Placement
from graph.effective.machines import RESOURCES, amount_of
from graph.effective.state import State
from graph.effective.tally import Tally
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.names import ClusterNumber
from graph.model.ref import Kind, Ref
from graph.model.selector import Selector
from graph.model.view import FleetView, entity_of

K = TypeVar("K")


class Status(StrEnum):
    """How an application and a cluster stand to each other."""

    EFFECTIVE = "effective"
    """It runs there."""
    BLOCKED = "blocked"
    """It is placed there, and something keeps it from what it should run."""
    PROHIBITED = "prohibited"
    """It is assigned there and may not run there."""
    LACKING = "lacking"
    """It is assigned there, and the cluster lacks what it requires."""
    UNASSIGNED = "unassigned"
    """Nothing assigns it there."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A state, and the view of the same revision that says what may be told of it."""

    state: State
    view: FleetView
    visible: ClusterSet | None = None
    """The clusters that may be seen; None for all."""
    covers_all: bool = True
    """Whether every application may be seen, where it may be seen at all."""
    readable: Callable[[Selector], bool] = lambda _: True
    """Whether the text of a selector names nothing that is hidden."""

    def definition(self, name: str) -> Definition | None:
        """The definition of an application; None if it is not there to be seen."""
        if name not in self.view.workload.applications:
            return None
        return self.state.definitions.get(name)

    def placement(self, name: str) -> Placement:
        """Where an application stands."""
        found = self.state.placements.get(name, NOWHERE)
        if self.visible is not None:
            found = _among(found, self.visible)
        return found if self.covers_all else self._by_shown_layers(found)

    def layers(self, names: Names) -> Names:
        """Those of the layers of a configuration that may be named."""
        if self.covers_all:
            return names
        return frozenset(name for name in names if self.shows(Ref(Kind.LAYER, name)))

    def _by_shown_layers(self, placement: Placement) -> Placement:
        """A placement whose configurations are as if hidden layers were not there."""
        merged: dict[Names, ClusterSet] = {}
        problems: dict[Names, tuple[Problem, ...]] = {}
        for names, clusters in placement.configurations.items():
            shown = self.layers(names)
            merged[shown] = merged.get(shown, EMPTY) | clusters
            if found := placement.problems.get(names):
                problems.setdefault(shown, found)
        return replace(placement, configurations=merged, problems=problems)

    def status(self, name: str, cluster: ClusterNumber) -> Status:
        """How an application stands to a cluster that may be seen."""
        return status_in(self.state.placements.get(name, NOWHERE), cluster)

    def shows(self, ref: Ref) -> bool:
        """Whether an object may be named."""
        return entity_of(self.view, ref) is not None

    def shown(self, refs: Iterable[Ref]) -> tuple[Ref, ...]:
        """Those of ``refs`` that may be named."""
        return tuple(ref for ref in refs if self.shows(ref))

    def reaches(self, ref: Ref, cluster: ClusterNumber) -> bool:
        """Whether the selector of an object of the workload chooses a cluster."""
        found = self.state.reach.of(ref)
        return found is not None and cluster in found

    def asked(self) -> Mapping[str, Tally]:
        """What is asked of every cluster, by those applications that may be seen."""
        if self.covers_all:
            return self.state.demand.asked
        made: dict[str, Tally] = {resource: Tally() for resource in RESOURCES}
        for definition in self.definitions():
            requests = definition.application.requests
            placed = self.state.placements[definition.application.name].placed
            for resource in RESOURCES:
                made[resource] = made[resource].plus(amount_of(requests, resource), placed)
        return made

    def definitions(self) -> Iterator[Definition]:
        """Every application that may be seen, by name."""
        for name in sorted(self.view.workload.applications):
            found = self.state.definitions.get(name)
            if found is not None:
                yield found


def status_in(placement: Placement, cluster: ClusterNumber) -> Status:
    """How an application with this placement stands to a cluster."""
    if cluster in placement.effective:
        return Status.EFFECTIVE
    if cluster in placement.placed:
        return Status.BLOCKED
    if cluster in placement.prohibited:
        return Status.PROHIBITED
    return Status.LACKING if cluster in placement.lacking else Status.UNASSIGNED


def having(placement: Placement, status: Status, fleet: ClusterSet) -> ClusterSet:
    """The clusters of a fleet to which an application with this placement stands like that."""
    match status:
        case Status.EFFECTIVE:
            return placement.effective
        case Status.BLOCKED:
            return placement.placed - placement.effective
        case Status.PROHIBITED:
            return placement.prohibited
        case Status.LACKING:
            return placement.lacking
        case Status.UNASSIGNED:
            return fleet - placement.assigned


def blocked_for(placement: Placement, reason: Reason) -> ClusterSet:
    """The clusters on which an application is blocked for this reason."""
    return placement.blocked.get(reason, EMPTY)


def _among(placement: Placement, visible: ClusterSet) -> Placement:
    """A placement as far as it concerns some clusters."""
    return replace(
        placement,
        assigned=placement.assigned & visible,
        prohibited=placement.prohibited & visible,
        lacking=placement.lacking & visible,
        placed=placement.placed & visible,
        effective=placement.effective & visible,
        blocked=_met(placement.blocked, visible),
        configurations=_met(placement.configurations, visible),
    )


def _met(parts: Mapping[K, ClusterSet], visible: ClusterSet) -> dict[K, ClusterSet]:
    return {key: seen for key, each in parts.items() if (seen := each & visible)}
