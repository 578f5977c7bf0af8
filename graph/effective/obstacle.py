"""What keeps an application from running on a cluster it is assigned to, told to people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from graph.composition.problem import Problem, Reason
from graph.effective.configuration import configuration_on, late_told
from graph.effective.definition import Definition
from graph.effective.late import given
from graph.effective.machines import RESOURCES, amount_of
from graph.effective.reading import Reading, Status
from graph.model.names import ClusterNumber, quoted
from graph.model.ref import Kind, Ref
from graph.model.referring import labels_in
from graph.model.selector import Selector
from graph.model.view import FleetView
from graph.model.workload import LateBound, Layer
from graph.targeting.explain import Reason as Clause
from graph.targeting.explain import explain

CLAUSES_MAX = 3
"""Clauses of a requirement that one line tells."""
_UNITS = {
    "cpu_millicores": "millicores",
    "memory_mib": "MiB of memory",
    "storage_mib": "MiB of storage",
}


class ObstacleKind(StrEnum):
    """What is in the way."""

    PROHIBITION = "prohibition"
    REQUIRES = "requires"
    RECONCILER = "reconciler"
    SCHEMA = "schema"
    CONFLICT = "conflict"
    LATE_BOUND = "late_bound"
    CAPACITY = "capacity"
    DEPENDENCY = "dependency"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One thing in the way."""

    kind: ObstacleKind
    message: str
    about: tuple[Ref, ...] = ()
    """The objects it rests on, as far as they may be named."""


def obstacles(definition: Definition, cluster: ClusterNumber, reading: Reading) -> list[Obstacle]:
    """Everything in the way of an application on a cluster."""
    match reading.status(definition.application.name, cluster):
        case Status.PROHIBITED:
            return list(_prohibitions(definition, cluster, reading))
        case Status.LACKING:
            return list(_lacking(definition, cluster, reading))
        case Status.BLOCKED:
            return list(_blocked(definition, cluster, reading))
        case _:
            return []


def problem_told(problem: Problem, reading: Reading) -> Obstacle:
    """What is wrong with the values of a configuration; without what hidden layers say."""
    kind = ObstacleKind(problem.reason.value)
    layers = [Ref(Kind.LAYER, name) for name in problem.layers]
    shown = reading.shown(layers)
    if len(shown) == len(layers):
        return Obstacle(kind, problem.message, shown)
    return Obstacle(kind, "the values do not fit together with a layer you do not see", shown)


def needed(
    definition: Definition, reading: Reading
) -> Iterator[tuple[Definition, tuple[str, ...]]]:
    """The application and all it depends on, each with the way there that may be told."""
    waiting: list[tuple[str, tuple[str, ...]]] = [(definition.application.name, ())]
    known = {definition.application.name}
    while waiting:
        name, way = waiting.pop(0)
        found = reading.state.definitions[name]
        yield found, way
        for each in found.application.depends_on:
            if each not in known:
                known.add(each)
                waiting.append((each, (*way, each)))


def _prohibitions(
    definition: Definition, cluster: ClusterNumber, reading: Reading
) -> Iterator[Obstacle]:
    unseen = False
    for each, way in needed(definition, reading):
        through = [Ref(Kind.APPLICATION, name) for name in way]
        for ref in each.prohibitions:
            if not reading.reaches(ref, cluster):
                continue
            if not reading.shows(ref) or len(reading.shown(through)) < len(through):
                unseen = True
            elif way:
                message = f"it needs {way[-1]}, which prohibition {quoted(str(ref.key))} takes"
                yield Obstacle(ObstacleKind.PROHIBITION, message, (ref, through[-1]))
            else:
                message = f"prohibition {quoted(str(ref.key))} takes it"
                yield Obstacle(ObstacleKind.PROHIBITION, message, (ref,))
    if unseen:
        yield Obstacle(ObstacleKind.PROHIBITION, "a prohibition you do not see takes it")


def _lacking(
    definition: Definition, cluster: ClusterNumber, reading: Reading
) -> Iterator[Obstacle]:
    application = definition.application
    itself = Ref(Kind.APPLICATION, application.name)
    if application.requires is not None and not reading.reaches(itself, cluster):
        message = _failing(application.requires, cluster, reading)
        yield Obstacle(ObstacleKind.REQUIRES, message, (itself,))
    runs = reading.view.columns.reconciler.many([cluster])[0]
    if application.reconcilers and runs not in application.reconcilers:
        allowed = " or ".join(application.reconcilers)
        message = f"it runs under {allowed}, and the cluster has {runs}"
        yield Obstacle(ObstacleKind.RECONCILER, message, (itself, Ref(Kind.CLUSTER, cluster)))


def _failing(requires: Selector, cluster: ClusterNumber, reading: Reading) -> str:
    """Which clauses of a requirement do not hold."""
    if not reading.readable(requires):
        return "the cluster has not got what it requires"
    found = explain(requires, cluster, reading.view, readable=reading.readable)
    failing = [each for each in found.clauses if not each.holds] or [found.reason]
    lines = "; ".join(map(_clause, failing[:CLAUSES_MAX]))
    return f"it requires {lines}{'; ...' if failing[CLAUSES_MAX:] else ''}"


def _clause(clause: Clause) -> str:
    return f"{clause.text} ({clause.fact})" if clause.fact else clause.text


def _blocked(
    definition: Definition, cluster: ClusterNumber, reading: Reading
) -> Iterator[Obstacle]:
    placement = reading.state.placements[definition.application.name]
    found = {reason for reason, clusters in placement.blocked.items() if cluster in clusters}
    if found & {Reason.SCHEMA, Reason.CONFLICT}:
        names = configuration_on(definition, cluster, reading)
        problems = (*placement.problems.get(names, ()), *_torn(definition, cluster, reading))
        # each once: how many layers one does not see is not told either
        yield from dict.fromkeys(problem_told(each, reading) for each in problems)
    if Reason.LATE_BOUND in found:
        yield from _unbound(definition, cluster, reading)
    if Reason.CAPACITY in found:
        yield Obstacle(
            ObstacleKind.CAPACITY, _shortage(cluster, reading), (Ref(Kind.CLUSTER, cluster),)
        )
    if Reason.DEPENDENCY in found:
        yield from _alone(definition, cluster, reading)


def _torn(definition: Definition, cluster: ClusterNumber, reading: Reading) -> Iterator[Problem]:
    """Late-bound keys to which layers that nothing orders give different values."""
    stack = definition.stack
    for late in definition.application.late_bound:
        here = [
            layer
            for layer in stack.late.get(late.key, ())
            if reading.reaches(Ref(Kind.LAYER, layer.name), cluster)
        ]
        for one, other in combinations(here, 2):
            if not stack.order.decides(one.name, other.name) and _differ(one, other, late):
                pair = f"{quoted(one.name)} and {quoted(other.name)}"
                message = (
                    f"layers {pair} give {late.key} different values, and nothing says which is "
                    "stronger"
                )
                yield Problem(Reason.CONFLICT, message, layers=(one.name, other.name))


def _differ(one: Layer, other: Layer, late: LateBound) -> bool:
    return repr(given(one, late)) != repr(given(other, late))


def _unbound(
    definition: Definition, cluster: ClusterNumber, reading: Reading
) -> Iterator[Obstacle]:
    sources = {late.key: late for late in definition.application.late_bound}
    for value in late_told(definition, cluster, reading):
        if value.value is not None:
            continue
        late = sources[value.key]
        if late.source and not value.source:
            why = "it takes a label you do not see"
        elif missing := _missing_labels(late, cluster, reading.view):
            why = f"the cluster has no label {', '.join(missing)}"
        else:
            why = "it has no source"
        message = f"{value.key} has no value: no layer sets it here, and {why}"
        yield Obstacle(ObstacleKind.LATE_BOUND, message, (Ref(Kind.CLUSTER, cluster),))


def _missing_labels(late: LateBound, cluster: ClusterNumber, view: FleetView) -> list[str]:
    return [key for key in labels_in(late) if view.label(cluster, key) is None]


def _shortage(cluster: ClusterNumber, reading: Reading) -> str:
    """What is asked of a cluster beside what it has; amounts are for those who see all of it."""
    if not reading.covers_all:
        return "more is asked of the cluster than it has"
    has = reading.view.columns.capacity.many([cluster])[0]
    asked = reading.state.asked_of(cluster)
    over = [
        f"{amount_of(asked, each):,} of {amount_of(has, each):,} {_UNITS[each]}"
        for each in RESOURCES
        if cluster in reading.state.machines.stated[each]
        and amount_of(asked, each) > amount_of(has, each)
    ]
    return f"more is asked of the cluster than it has: {', '.join(over)}"


def _alone(definition: Definition, cluster: ClusterNumber, reading: Reading) -> Iterator[Obstacle]:
    for name in definition.application.depends_on:
        status = reading.status(name, cluster)
        if status is Status.EFFECTIVE:
            continue
        ref = Ref(Kind.APPLICATION, name)
        if reading.shows(ref):
            yield Obstacle(ObstacleKind.DEPENDENCY, f"it needs {name}, which is {status}", (ref,))
        else:
            yield Obstacle(ObstacleKind.DEPENDENCY, "it needs something that is not there")
