"""What changes mean, before any application is looked at.

Whom selectors reach now, which definitions are others, and which applications that concerns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from graph.composition.stack import Stack
from graph.effective.definition import Definition, define, dependents_of, in_order
from graph.effective.machines import machines_after
from graph.effective.place import Ground
from graph.effective.reach import reach_after
from graph.effective.refine import refine
from graph.effective.shift import Parts
from graph.effective.state import State
from graph.effective.touched import touched_by
from graph.model.change import Change
from graph.model.cluster_set import ClusterSet
from graph.model.names import GroupNumber
from graph.model.ref import Kind
from graph.model.selector import Under
from graph.model.view import FleetView, subtree
from graph.model.workload import Application, Assignment, Choice, Layer, Policy, Prohibition


class News:
    """What ``changes``, which lead from the view of a state to another, mean for it."""

    def __init__(self, was: State, after: FleetView, changes: Sequence[Change]) -> None:
        self.was = was
        self.view = after
        self._workload = after.workload
        kinds = [change.ref.kind for change in changes]
        self._states = [
            each
            for kind, change in zip(kinds, changes, strict=True)
            if kind not in _INVENTORY
            for each in (change.before, change.after)
            if each is not None
        ]
        """Every changed object of the workload, as it was and as it is."""
        self.touched = touched_by(changes, was.view, after)
        self.among = self.touched.clusters | self.touched.machines
        # layers on groups that moved reach nobody but clusters that moved along
        inventory = _INVENTORY.issuperset(kinds) and not self.touched.reordered
        self.only: ClusterSet | None = self.among if inventory else None
        """The only clusters for which anything can differ; None when it may for all."""
        self.turned = reach_after(was.reach, self.touched, changes, after, self.only)
        self.reach = self.turned.whole()
        near = self.reach if self.only is None else self.turned.near()
        machines = machines_after(was.machines, self.touched.machines, after)
        self.ground = Ground(after, near, machines)
        """To be read no further than ``only`` goes."""
        self.fleet = self._fleet()
        self.anew = set(self._redefined())
        """Applications whose definition may be another one."""
        self.definitions = self._definitions()
        self.gone = was.definitions.keys() - self.definitions.keys() if self._states else set[str]()

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The applications, each after those it depends on."""
        if not self._redefines_applications:
            return self.was.order
        return in_order(self._workload.applications)

    @cached_property
    def dependents(self) -> Mapping[str, frozenset[str]]:
        """By application, those that depend on it."""
        if not self._redefines_applications:
            return self.was.dependents
        return dependents_of(self._workload.applications)

    @cached_property
    def _redefines_applications(self) -> bool:
        return any(isinstance(each, Application) for each in self._states)

    @cached_property
    def sways_policies(self) -> bool:
        """Whether policies say otherwise, or reach others."""
        return any(isinstance(each, Policy) for each in self._states) or any(
            ref.kind is Kind.POLICY for ref in self.turned.sets
        )

    def turned_layers(self) -> dict[str, list[str]]:
        """The layers that turned, by application; each with those of the fleet."""
        found: dict[str, list[str]] = {}
        layers = self._workload.layers
        for name in self.turned.layers:
            if (layer := layers.get(name)) is not None:
                found.setdefault(layer.application, []).append(name)
        if fleet := found.get(""):
            for application, names in found.items():
                if application:
                    names += fleet
        return found

    def fleet_configurations(self) -> Parts:
        """The whole fleet by the fleet layers that reach."""
        names = [each.name for each in self.fleet.keyed]
        if (
            self.fleet is self.was.fleet
            and self.turned.layers.keys().isdisjoint(names)
            and not self.touched.came_or_went
        ):
            return self.was.fleet_configurations
        reach = self.reach.layers
        return refine(self.view.everything(), [(name, reach[name]) for name in names])

    # definitions

    def _fleet(self) -> Stack:
        changed = any(isinstance(each, Layer) and not each.application for each in self._states)
        moved = self.touched.reordered or any(not each.application for each in self._moved_layers)
        if not changed and not moved:
            return self.was.fleet
        layers = self._workload.layers.values()
        return Stack.of_fleet([each for each in layers if not each.application], self.view)

    def _definitions(self) -> Mapping[str, Definition]:
        was, applications = self.was.definitions, self._workload.applications
        if not self.anew:
            return was
        definitions = dict(was)
        layers = self.fleet.order.weakest_first
        selectors = (each.selector for each in self._moved_layers)
        moved = {each.group for each in selectors if isinstance(each, Under)}
        for name in self.anew:
            application = applications.get(name)
            if application is None:
                definitions.pop(name, None)
            else:
                known = None if self.touched.reordered else was.get(name)
                definitions[name] = define(application, layers, self.view, known, moved)
        return definitions

    def _redefined(self) -> Iterator[str]:
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
        if self.fleet is not self.was.fleet:
            yield from (name for name, each in self._workload.applications.items() if each.reads)
        layers = self._workload.layers.values() if self.touched.reordered else self._moved_layers
        yield from (each.application for each in layers)

    @cached_property
    def _moved_layers(self) -> Sequence[Layer]:
        """Layers on groups that lie below another parent now."""
        on, layers = self.reach.anchors.groups, self._workload.layers
        found = (
            each for top in self.touched.regrouped for each in _on_or_below(top, on, self.view)
        )
        return [layers[name] for group in found for _, name in on.get(group, ())]

    # whom that concerns

    def displaced(self) -> Iterator[str]:
        """Applications which something may place elsewhere than before."""
        workload = self._workload
        for ref in self.turned.sets:
            name = str(ref.key)
            match ref.kind:
                case Kind.APPLICATION:
                    yield name
                case Kind.ASSIGNMENT if name in workload.assignments:
                    yield from self._chosen(workload.assignments[name].choice)
                case Kind.PROHIBITION if name in workload.prohibitions:
                    yield from self._chosen(workload.prohibitions[name].choice)
                case _:
                    pass
        for name, each in self.definitions.items() if self.touched.machines else ():
            if each.application.reconcilers:
                yield name

    def concerned(self, turned_layers: Mapping[str, Sequence[str]]) -> Iterator[str]:
        """Applications with another input that turned out otherwise."""
        yield from self.anew
        for application, names in turned_layers.items():
            if application:
                yield application
            else:
                yield from self._reading(names)
        labels = self.touched.labels
        for name, each in self.definitions.items() if labels else ():
            if not labels.isdisjoint(each.late_labels):
                yield name

    def _chosen(self, choice: Choice) -> Iterator[str]:
        if choice.applications:
            yield from choice.applications
            return
        for name, each in self._workload.applications.items():
            if choice.takes(each):
                yield name

    def _reading(self, names: Iterable[str]) -> Iterator[str]:
        """The applications that read something of what these fleet layers set."""
        layers = [self._workload.layers[name] for name in names]
        keys = {key for layer in layers for key in layer.values.data}
        for name, each in self._workload.applications.items():
            if not keys.isdisjoint(each.reads):
                yield name


_INVENTORY = frozenset({Kind.CLUSTER, Kind.GROUP, Kind.HIERARCHY, Kind.LABEL_KEY, Kind.GRANT})
"""Objects that define no application."""


def _on_or_below(
    top: GroupNumber, groups: Mapping[int, object], view: FleetView
) -> Iterable[GroupNumber]:
    """All of ``groups`` at or below one, and maybe others there.

    A small subtree is walked down; from many groups it is shorter to look up whether one is above.
    """
    few = len(groups) // 4
    found = list(islice(subtree(view, top), few + 1))
    if len(found) <= few:
        return found
    below = {top: True}
    return [each for each in map(GroupNumber, groups) if _is_below(each, below, view)]


def _is_below(number: GroupNumber, known: dict[GroupNumber, bool], view: FleetView) -> bool:
    """Whether a group is below another; ``known`` says it of some, and of more from then on."""
    found = known.get(number)
    if found is None:
        group = view.group(number)
        above = None if group is None else group.parent
        found = known[number] = above is not None and _is_below(above, known, view)
    return found
