"""Effective state of a whole fleet, worked out from nothing.

``graph.effective.step`` leads from one state to the next. They keep these promises:

E1  ``advance`` gives what ``begin`` would, whatever changed in between.
E2  What nothing touched is the same object as before, so that two states are compared at the cost
    of what differs.
E3  Nothing reads a name to decide: orders are of rules, never of spelling.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graph.composition.stack import Stack
from graph.effective.definition import Definition, define, in_order, layers_in
from graph.effective.demand import Asked, Demand, demand_after, leniency_of
from graph.effective.judgement import Judgement, Placement
from graph.effective.machines import Machines, capacity_at, machines_of
from graph.effective.place import Ground, Place, place
from graph.effective.reach import Reach, reach_of
from graph.effective.refine import refine
from graph.effective.shift import Parts
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.inventory import Capacity
from graph.model.names import ClusterNumber
from graph.model.view import FleetView


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
    places: Mapping[str, Place] = field(repr=False)
    view: FleetView = field(repr=False)
    """What it was worked out for."""
    mark: object = field(default_factory=object, repr=False)
    since: object = field(default=None, repr=False)
    """The mark of the state it was made from."""
    touched: ClusterSet = field(default=EMPTY, repr=False)
    """The clusters whose own facts changed since then."""
    altered: frozenset[str] = field(default=frozenset(), repr=False)
    """The only applications for which anything can differ since then."""
    only: ClusterSet | None = field(default=None, repr=False)
    """The only clusters for which anything can differ since then; None when it may for all."""

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
    judgement = Judgement(demand, leniency, placements)
    for name in order:
        application = definitions[name].application
        placements[name] = judgement.of(application, places[name])
    fleet = Stack.of_fleet(fleet_layers, view)
    return State(
        placements=placements,
        definitions=definitions,
        fleet=fleet,
        fleet_configurations=refine(view.everything(), ground.reached(layers_in(fleet)).items()),
        reach=ground.reach,
        machines=ground.machines,
        demand=demand,
        order=order,
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
