"""From one state to the next, at the cost of what changed.

Things hang on each other in one order: definitions, places, what is asked of clusters, and the
verdict. Each stage looks at those applications whose inputs turned out otherwise, and keeps the
others as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from graph.composition.stack import Stack
from graph.effective.definition import Definition, define, in_order, layers_in
from graph.effective.demand import Demand, demand_after, leniency_of
from graph.effective.judgement import Judgement, Placement
from graph.effective.machines import machines_after
from graph.effective.place import Ground, Place, Turn, place, place_again
from graph.effective.reach import reach_after
from graph.effective.refine import refine
from graph.effective.shift import Parts
from graph.effective.state import State, asked, vetoes_on
from graph.effective.touched import touched_by
from graph.model.change import Change
from graph.model.cluster_set import ClusterSet
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView, subtree
from graph.model.workload import Application, Assignment, Choice, Layer, Policy, Prohibition

_T = TypeVar("_T")


def advance(state: State, after: FleetView, changes: Sequence[Change]) -> State:
    """The state once ``changes`` have led from the view of ``state`` to ``after``."""
    return _Step(state, after, changes).state()


class _Step:
    def __init__(self, was: State, after: FleetView, changes: Sequence[Change]) -> None:
        self._was = was
        self._view = after
        self._workload = after.workload
        self._states = [
            each
            for change in changes
            if change.ref.kind not in _INVENTORY
            for each in (change.before, change.after)
            if each is not None
        ]
        """Every changed object of the workload, as it was and as it is."""
        self._touched = touched_by(changes, was.view, after)
        reach, self._turned = reach_after(was.reach, self._touched, changes, after)
        machines = machines_after(was.machines, self._touched.machines, after)
        self._ground = Ground(after, reach, machines)
        earlier = Ground(was.view, was.reach, was.machines)
        self._among = self._touched.clusters | self._touched.machines
        inventory = all(change.ref.kind in _INVENTORY for change in changes)
        self._turn = Turn(
            earlier,
            self._ground,
            self._turned,
            self._turned_layers(),
            bool(self._touched.machines),
            # layers on groups that moved reach nobody but clusters that moved along
            self._among if inventory and not self._touched.reordered else None,
        )

    def state(self) -> State:
        """The next state."""
        fleet = self._fleet()
        definitions = self._definitions(fleet)
        order = self._order()
        places = self._places(definitions, order)
        replaced = _differing(self._was.places, places)
        demand = self._demand(replaced, definitions, places)
        placements = self._placements(replaced, definitions, order, places, demand)
        return State(
            placements=placements,
            definitions=definitions,
            fleet=fleet,
            fleet_configurations=self._fleet_configurations(fleet),
            reach=self._ground.reach,
            machines=self._ground.machines,
            demand=demand,
            order=order,
            places=places,
            view=self._view,
            since=self._was.mark,
            touched=self._among,
            altered=_differing(self._was.placements, placements)
            | _differing(self._was.definitions, definitions),
            only=self._turn.among,
        )

    # definitions

    def _fleet(self) -> Stack:
        changed = any(isinstance(each, Layer) and not each.application for each in self._states)
        moved = self._touched.reordered or any(not each.application for each in self._moved_layers)
        if not changed and not moved:
            return self._was.fleet
        return Stack.of_fleet(self._fleet_layers(), self._view)

    def _fleet_layers(self) -> list[Layer]:
        return [each for each in self._workload.layers.values() if not each.application]

    def _definitions(self, fleet: Stack) -> Mapping[str, Definition]:
        applications = self._workload.applications
        anew = set(self._redefined())
        if fleet is not self._was.fleet:
            anew.update(name for name, each in applications.items() if each.reads)
        if not anew:
            return self._was.definitions
        definitions = dict(self._was.definitions)
        layers = self._fleet_layers()
        regrouped = self._touched.reordered or bool(self._touched.regrouped)
        for name in anew:
            application = applications.get(name)
            if application is None:
                definitions.pop(name, None)
            else:
                known = None if regrouped else self._was.definitions.get(name)
                definitions[name] = define(application, layers, self._view, known)
        return definitions

    def _redefined(self) -> Iterator[str]:
        """Applications whose definition may be another one."""
        for entity in self._states:
            match entity:
                case Application(name=name):
                    yield name
                case Assignment() | Prohibition():
                    yield from self._chosen(entity.choice)
                case Layer(application=name) if name:
                    yield name
                case _:
                    pass
        if self._touched.reordered:
            yield from (each.application for each in self._workload.layers.values())
        else:
            yield from (each.application for each in self._moved_layers)

    def _chosen(self, choice: Choice) -> Iterator[str]:
        if choice.applications:
            yield from choice.applications
            return
        for name, each in self._workload.applications.items():
            if choice.takes(each):
                yield name

    def _turned_layers(self) -> Mapping[str, Sequence[str]]:
        """The layers that turned, by application."""
        found: dict[str, list[str]] = {}
        for ref in self._turned:
            if ref.kind is Kind.LAYER and (layer := self._workload.layers.get(str(ref.key))):
                found.setdefault(layer.application, []).append(layer.name)
        return found

    @cached_property
    def _moved_layers(self) -> Sequence[Layer]:
        """Layers on groups that lie below another parent now."""
        return [
            self._workload.layers[str(ref.key)]
            for top in self._touched.regrouped
            for group in subtree(self._view, top)
            for ref in self._view.referrers(Ref(Kind.GROUP, group))
            if ref.kind is Kind.LAYER
        ]

    def _order(self) -> tuple[str, ...]:
        if not any(isinstance(each, Application) for each in self._states):
            return self._was.order
        return in_order(self._workload.applications)

    # places

    def _places(
        self, definitions: Mapping[str, Definition], order: Sequence[str]
    ) -> Mapping[str, Place]:
        was, vetoed = self._was, set[str]()
        concerned = set(self._concerned(definitions))
        concerned.update(_differing(was.definitions, definitions))
        places = _only_in(definitions, was.places)
        for name in _those(order, concerned):
            old, definition = was.definitions.get(name), definitions[name]
            vetoes = vetoes_on(definition, places)
            if old is None:
                places[name] = place(definition, self._ground, vetoes)
            else:
                places[name] = place_again(
                    was.places[name],
                    old,
                    definition,
                    self._turn,
                    vetoes=vetoes,
                    vetoed=name in vetoed,
                )
            if old is None or places[name].standing.veto is not was.places[name].standing.veto:
                vetoed.update(dependents := self._dependents(name))
                concerned |= dependents
        return places

    def _dependents(self, name: str) -> set[str]:
        """Applications that depend on one, and so on its vetoes and on where it runs."""
        found = self._view.referrers(Ref(Kind.APPLICATION, name))
        return {str(ref.key) for ref in found if ref.kind is Kind.APPLICATION}

    def _concerned(self, definitions: Mapping[str, Definition]) -> Iterator[str]:
        """Applications with an input that turned out otherwise."""
        workload = self._workload
        for ref in self._turned:
            name = str(ref.key)
            match ref.kind:
                case Kind.APPLICATION:
                    yield name
                case Kind.ASSIGNMENT if name in workload.assignments:
                    yield from self._chosen(workload.assignments[name].choice)
                case Kind.PROHIBITION if name in workload.prohibitions:
                    yield from self._chosen(workload.prohibitions[name].choice)
                case Kind.LAYER if name in workload.layers:
                    yield from self._configured_by(workload.layers[name])
                case _:
                    pass
        yield from self._bound_anew(definitions)

    def _configured_by(self, layer: Layer) -> Iterator[str]:
        if layer.application:
            yield layer.application
            return
        for name, each in self._workload.applications.items():
            if not layer.values.data.keys().isdisjoint(each.reads):
                yield name

    def _bound_anew(self, definitions: Mapping[str, Definition]) -> Iterator[str]:
        """Applications that take a changed label, or care which machine they are on."""
        machines, labels = self._turn.machines, self._touched.labels
        if not machines and not labels:
            return
        for name, definition in definitions.items():
            if (machines and definition.application.reconcilers) or not (
                labels.isdisjoint(definition.late_labels)
            ):
                yield name

    # what is asked, and the verdict

    def _demand(
        self,
        replaced: Iterable[str],
        definitions: Mapping[str, Definition],
        places: Mapping[str, Place],
    ) -> Demand:
        was = self._was
        moves = [
            (asked(name, was.definitions, was.places), asked(name, definitions, places))
            for name in replaced
        ]
        return demand_after(was.demand, moves, self._touched.machines, self._ground.machines)

    def _placements(
        self,
        replaced: Iterable[str],
        definitions: Mapping[str, Definition],
        order: Sequence[str],
        places: Mapping[str, Place],
        demand: Demand,
    ) -> Mapping[str, Placement]:
        was, among = self._was.placements, self._turn.among
        judged = {*replaced, *self._strained(definitions, places, demand)}
        if not judged:
            return was
        leniency = leniency_of(self._workload.policies.values(), self._ground.reach)
        placements = _only_in(places, was)
        judgement = Judgement(demand, leniency, placements)
        for name in _those(order, judged):
            application, now = definitions[name].application, places[name]
            placements[name] = (
                judgement.of(application, now)
                if among is None or name not in was
                else judgement.again(was[name], application, now, among)
            )
            if name not in was or placements[name].effective is not was[name].effective:
                judged |= self._dependents(name)
        return placements

    def _strained(
        self, definitions: Mapping[str, Definition], places: Mapping[str, Place], demand: Demand
    ) -> Iterator[str]:
        """Applications that capacity may block otherwise than before."""
        reviewed = self._reviewed(demand)
        for name, definition in definitions.items() if reviewed else ():
            if definition.application.requests is not None and places[name].placed.meets(reviewed):
                yield name

    def _reviewed(self, demand: Demand) -> ClusterSet:
        """Clusters on which capacity may block otherwise than before."""
        swayed = any(isinstance(each, Policy) for each in self._states) or any(
            ref.kind is Kind.POLICY for ref in self._turned
        )
        was = self._was.demand.over
        return was | demand.over if swayed else was ^ demand.over

    def _fleet_configurations(self, fleet: Stack) -> Parts:
        layers = layers_in(fleet)
        if (
            fleet is self._was.fleet
            and self._turned.isdisjoint(layers.values())
            and not self._touched.came_or_went
        ):
            return self._was.fleet_configurations
        return refine(self._view.everything(), self._ground.reached(layers).items())


def _differing(was: Mapping[str, _T], now: Mapping[str, _T]) -> frozenset[str]:
    """The names that stand for other objects than before, or for none."""
    if was is now:
        return frozenset()
    found = [name for name, each in now.items() if was.get(name) is not each]
    return frozenset([*found, *(was.keys() - now.keys())])


def _only_in(names: Mapping[str, object], held: Mapping[str, _T]) -> dict[str, _T]:
    """A copy of what is held for some names."""
    if len(names) == len(held) and names.keys() == held.keys():
        return dict(held)
    return {name: each for name, each in held.items() if name in names}


def _those(order: Iterable[str], chosen: set[str]) -> Iterator[str]:
    """The ``chosen`` ones in order; more may be chosen on the way, if they come later."""
    return (name for name in order if name in chosen) if chosen else iter(())


_INVENTORY = frozenset({Kind.CLUSTER, Kind.GROUP, Kind.HIERARCHY, Kind.LABEL_KEY, Kind.GRANT})
"""Objects that define no application."""
