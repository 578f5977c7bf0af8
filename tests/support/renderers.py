"""What a careful renderer holds, once as told by portions and once as read from a state.

The one knows nothing but what it is told; the other looks every cluster up by itself. Lines of
what is blocked are kept apart: they are what the past has left, and no state tells them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from graph.composition.problem import Problem
from graph.effective.key import overlay_key
from graph.effective.late_columns import late_columns
from graph.effective.portion import (
    Blocked,
    Definitions,
    Overlays,
    Pointer,
    Pointers,
    Portion,
    Removals,
    Settings,
)
from graph.effective.rendition import FLEET
from graph.effective.state import State
from graph.model.cluster_set import ClusterSet
from graph.model.ref import Kind, Ref

Pair = tuple[str, str]
"""An application and a cluster, both by name."""


@dataclass
class Model:
    """What is held."""

    overlays: dict[tuple[str, str], Any] = field(default_factory=dict)
    """Layers, digest and what is beside the values when it was told, by application and key, of
    what runs; ``FLEET`` for settings."""
    kept: dict[tuple[str, str], Any] = field(default_factory=dict)
    """Overlays that nothing runs, to which a line of something blocked still leads."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Kind, reconciler and policies by cluster."""
    lines: dict[Pair, Any] = field(default_factory=dict)
    """Namespace, key, late-bound values, what the cluster is and which fields are filled, as they
    were when the line was told; for the fleet's settings the key alone."""
    held: dict[Pair, Any] = field(default_factory=dict)
    """Lines of what is blocked: as they were."""
    blocked: dict[Pair, Any] = field(default_factory=dict)
    definitions: dict[Ref, int] = field(default_factory=dict)

    def take(self, portions: Iterable[Portion], state: State) -> None:
        """Believe what leads to ``state``; definitions are looked up there."""
        for portion in portions:
            self._take(portion, state)
        led_to = self._led_to()
        self.kept = {key: each for key, each in self.kept.items() if key in led_to}

    def _take(self, portion: Portion, state: State) -> None:
        match portion:
            case Removals():
                self._remove(portion)
            case Definitions(refs):
                for ref in refs:
                    self.definitions[ref] = definitions_in(state)[ref]
            case Settings(overlays) | Overlays(overlays):
                for each in overlays:
                    beside = beside_values(state, each.application)
                    self.overlays[each.application, each.key] = (each.layers, each.digest, beside)
            case Pointers(pointers):
                for pointer in pointers:
                    self._point(pointer, state)
            case Blocked(found):
                for each in found:
                    for name in each.clusters:
                        self.block(each.application, name, each.troubles)

    def _point(self, pointer: Pointer, state: State) -> None:
        name, fits = pointer.cluster, (pointer.kind, pointer.reconciler)
        self.facts[name] = (*fits, pointer.policies)
        if pointer.fleet is not None:
            self.run(FLEET, name, pointer.fleet)
        for line in pointer.lines:
            fills = fields_filled(state, line.application)
            self.run(line.application, name, (line.namespace, line.key, line.late, fits, fills))

    def run(self, application: str, cluster: str, line: Any) -> None:
        """A line is written."""
        self.lines[application, cluster] = line
        self.held.pop((application, cluster), None)
        self.blocked.pop((application, cluster), None)

    def block(self, application: str, cluster: str, troubles: Any) -> None:
        """A line stays as it is, if there is one."""
        pair = application, cluster
        self.blocked[pair] = troubles
        if pair in self.lines:
            self.held[pair] = self.lines.pop(pair)

    def _remove(self, removals: Removals) -> None:
        for each in removals.lines:
            for name in each.clusters:
                self.forget(each.application, name)
        for name in removals.pointers:
            del self.facts[name]
            self.forget(FLEET, name)
            left = [pair for pair in (*self.lines, *self.held, *self.blocked) if pair[1] == name]
            assert not left, f"{left} are of a pointer that goes"
        for key in removals.overlays:
            self.kept[key] = self.overlays.pop(key)
        for ref in removals.definitions:
            del self.definitions[ref]

    def forget(self, application: str, cluster: str) -> None:
        """A line goes."""
        for held in (self.lines, self.held, self.blocked):
            held.pop((application, cluster), None)

    def dangling(self) -> set[tuple[str, str]]:
        """Overlays to which lines lead that nobody has written."""
        return self._led_to() - self.overlays.keys() - self.kept.keys()

    def _led_to(self) -> set[tuple[str, str]]:
        return {
            (application, line if application == FLEET else line[1])
            for lines in (self.lines, self.held)
            for (application, _), line in lines.items()
        }

    def told(self) -> dict[str, Any]:
        """Everything that a state tells."""
        return {
            "overlays": self.overlays,
            "facts": self.facts,
            "lines": self.lines,
            "blocked": {
                pair: {each.reason for each in troubles} for pair, troubles in self.blocked.items()
            },
            "definitions": self.definitions,
        }


def model_of(state: State) -> dict[str, Any]:
    """What ``Model.told`` has to be, looked up cluster by cluster."""
    found = Model()
    view = state.view
    for number in view.everything():
        cluster = view.cluster(number)
        assert cluster is not None
        found.facts[cluster.name] = (cluster.kind, cluster.reconciler, policies_at(state, number))
        _settings(state, number, found)
        for name in state.placements:
            _line(state, name, number, found)
    found.definitions = definitions_in(state)
    return found.told()


def policies_at(state: State, number: int) -> tuple[str, ...]:
    """The policies about registries that reach a cluster."""
    return tuple(
        name
        for name, policy in sorted(state.view.workload.policies.items())
        if policy.selector is not None
        and policy.registries
        and number in state.reach.sets[Ref(Kind.POLICY, name)]
    )


def definitions_in(state: State) -> dict[Ref, int]:
    """The revision of everything that is defined."""
    workload = state.view.workload
    return {
        Ref(kind, name): each.changed
        for kind, held in (
            (Kind.NAMESPACE, workload.namespaces),
            (Kind.APPLICATION, workload.applications),
            (Kind.POLICY, workload.policies),
        )
        for name, each in held.items()
    }


def fields_filled(state: State, application: str) -> list[Any]:
    """What of its manifests an application's late-bound keys fill."""
    late_bound = state.definitions[application].application.late_bound
    return [(late.key, late.fields) for late in late_bound]


def beside_values(state: State, application: str) -> Any:
    """What an overlay holds of its application, whatever the values are."""
    if application == FLEET:
        return None
    each = state.definitions[application].application
    about = each.source, each.namespace, each.owner, dict(each.labels), each.depends_on
    return *about, each.late_bound, each.cluster_scoped


def _settings(state: State, number: int, found: Model) -> None:
    name = state.view.cluster_name(number)
    (names,) = (each for each, part in state.fleet_configurations.items() if number in part)
    problems = state.fleet.problems(names)
    if problems:
        found.blocked[FLEET, name] = problems
        return
    key = overlay_key(FLEET, names)
    found.lines[FLEET, name] = key
    found.overlays[FLEET, key] = (tuple(sorted(names)), state.fleet.digest(names), None)


def _line(state: State, name: str, number: int, found: Model) -> None:
    placement, definition = state.placements[name], state.definitions[name]
    cluster = state.view.cluster_name(number)
    if number in placement.placed - placement.effective:
        reasons = (each for each, part in placement.blocked.items() if number in part)
        found.blocked[name, cluster] = [Problem(each, "") for each in reasons]
    if number not in placement.effective:
        return
    (names,) = (each for each, part in placement.configurations.items() if number in part)
    key, application = overlay_key(name, names), definition.application
    (late,) = late_columns(definition, state, ClusterSet.of([number])).values()
    held = state.view.cluster(number)
    assert held is not None
    fits, fills = (held.kind, held.reconciler), fields_filled(state, name)
    found.lines[name, cluster] = (application.namespace, key, late, fits, fills)
    digest = definition.stack.digest(names)
    found.overlays[name, key] = (tuple(sorted(names)), digest, beside_values(state, name))
