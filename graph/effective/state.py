"""Effective state of a whole fleet, worked out from nothing.

``graph.effective.step`` leads from one state to the next. They keep these promises:

E1  ``advance`` gives what ``begin`` would, whatever changed in between.
E2  What nothing touched is the same object as before, so that two states are compared at the cost
    of what differs.
E3  Nothing reads a name to decide: orders are of rules, never of spelling.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from graph.composition.stack import Stack
from graph.effective.definition import Definition, define, dependents_of, in_order
from graph.effective.demand import Asked, Demand, demand_after, leniency_of
from graph.effective.judgement import NOWHERE, Judgement, Placement, Verdict
from graph.effective.machines import Machines, capacity_at, machines_of
from graph.effective.place import Ground, Place, place
from graph.effective.reach import Reach, reach_of
from graph.effective.refine import refine
from graph.effective.share import new_share
from graph.effective.shift import Parts
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.inventory import Capacity
from graph.model.names import ClusterNumber
from graph.model.view import FleetView


@dataclass(frozen=True, slots=True, eq=False)
class Stride:
    """What differs between two states, before the later one is put together."""

    ground: Ground
    """Of the later one, as far as anything can differ."""
    verdicts: Mapping[str, Verdict[Any]]
    """The applications that differ, or may; all through the same lens, whichever it was."""
    gone: Collection[str]
    """Those that are no more."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What runs where, at one revision."""

    placements: Mapping[str, Placement]
    definitions: Mapping[str, Definition]
    fleet: Stack
    """The fleet layers."""
    fleet_configurations: Parts
    """The whole fleet by the fleet layers that reach."""
    reach: Reach
    machines: Machines
    demand: Demand
    order: tuple[str, ...]
    """The applications, each after those it depends on."""
    dependents: Mapping[str, frozenset[str]]
    """By application, those that depend on it."""
    places: Mapping[str, Place] = field(repr=False)
    view: FleetView = field(repr=False)
    """What it was worked out for."""
    mark: object = field(default_factory=object, repr=False)
    since: object = field(default=None, repr=False)
    """The mark of the state it was made from."""
    touched: ClusterSet = field(default=EMPTY, repr=False)
    """The clusters whose own facts changed since then."""
    stride: Stride | None = field(default=None, repr=False)
    """What differs since then, until that has been told."""

    @property
    def oversubscribed(self) -> ClusterSet:
        """Clusters of which more is asked than they have."""
        return self.demand.over

    def asked_of(self, cluster: ClusterNumber) -> Capacity:
        """What is asked of one cluster."""
        return capacity_at(self.demand.asked, cluster)


def begin(view: FleetView) -> State:
    """The state of ``view``, from nothing."""
    workload = view.workload
    ground = Ground(view, reach_of(view), machines_of(view))
    fleet_layers = [each for each in workload.layers.values() if not each.application]
    definitions = {
        name: define(each, fleet_layers, view) for name, each in workload.applications.items()
    }
    order = in_order(workload.applications)
    places: dict[str, Place] = {}
    for name in order:
        places[name] = place(definitions[name], ground, vetoes_on(definitions[name], places))
    moves = [(NOTHING_ASKED, asked(name, definitions, places)) for name in order]
    demand = demand_after(Demand(), moves, EMPTY, ground.machines)
    leniency = leniency_of(workload.policies.values(), ground.reach)
    placements: dict[str, Placement] = {}
    judgement = Judgement(demand, leniency, lambda name: placements[name].effective)
    for name in order:
        found, application = places[name], definitions[name].application
        placements[name] = judgement.of(NOWHERE, application, new_share(found)).placement(found)
    fleet = Stack.of_fleet(fleet_layers, view)
    return State(
        placements=placements,
        definitions=definitions,
        fleet=fleet,
        fleet_configurations=refine(
            view.everything(), ground.reached(each.name for each in fleet.keyed).items()
        ),
        reach=ground.reach,
        machines=ground.machines,
        demand=demand,
        order=order,
        dependents=dependents_of(workload.applications),
        places=places,
        view=view,
    )


NOTHING_ASKED: Asked = (None, EMPTY)


def vetoes_on(definition: Definition, places: Mapping[str, Place]) -> list[ClusterSet]:
    """The vetoes of what an application depends on."""
    return [places[name].standing.veto for name in definition.application.depends_on]


def asked(name: str, definitions: Mapping[str, Definition], places: Mapping[str, Place]) -> Asked:
    """What an application asks for, and of whom."""
    if name not in places:
        return NOTHING_ASKED
    return definitions[name].application.requests, places[name].placed
