"""Why an application is on a cluster, or why not.

The answer names every object it rests on, so that whoever knows the history can add since when, by
whom and why. The clauses of selectors are explained one selector at a time, when asked: an
application may have many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from graph.effective.configuration import configuration_on
from graph.effective.definition import Definition
from graph.effective.obstacle import Obstacle, needed, obstacles
from graph.effective.reading import Reading, Status
from graph.model.inventory import Group
from graph.model.names import ClusterNumber, quoted
from graph.model.ref import Kind, Ref
from graph.model.referring import selector_of
from graph.model.selector import mentions
from graph.model.view import FleetView, entity_of, lineage
from graph.targeting.explain import Explanation
from graph.targeting.explain import explain as explain_selector


@dataclass(frozen=True, slots=True)
class Choosing:
    """An assignment, a prohibition or a requirement, and whether it chooses the cluster."""

    ref: Ref
    holds: bool
    through: str = ""
    """The application it takes, where that is not the one asked about but what it depends on."""


@dataclass(frozen=True, slots=True)
class Needed:
    """Something the application depends on, and how that stands there."""

    application: str
    status: Status


@dataclass(frozen=True, slots=True)
class Why:
    """The answer for one application and one cluster."""

    application: str
    cluster: ClusterNumber
    status: Status
    summary: str
    assignments: tuple[Choosing, ...]
    """Those that take the application; those that choose the cluster first."""
    requires: Choosing | None
    reconciler_fits: bool
    prohibitions: tuple[Choosing, ...]
    """Those that take the application, or something it depends on."""
    dependencies: tuple[Needed, ...]
    obstacles: tuple[Obstacle, ...]
    newest: Ref
    """Of all it rests on, what changed last."""


def why(definition: Definition, cluster: ClusterNumber, reading: Reading) -> Why:
    """Why an application is or is not on a cluster; both may be seen."""
    name = definition.application.name
    status = reading.status(name, cluster)
    assignments = tuple(_choosing(definition.assignments, cluster, reading))
    prohibitions = tuple(_prohibitions(definition, cluster, reading))
    found = tuple(obstacles(definition, cluster, reading))
    itself = Ref(Kind.APPLICATION, name)
    required = definition.application.requires is not None
    return Why(
        application=name,
        cluster=cluster,
        status=status,
        summary=_summary(status, assignments, found),
        assignments=assignments,
        requires=Choosing(itself, reading.reaches(itself, cluster)) if required else None,
        reconciler_fits=_fits(definition, cluster, reading),
        prohibitions=prohibitions,
        dependencies=tuple(_dependencies(definition, cluster, reading)),
        obstacles=found,
        newest=_newest(_rests_on(definition, cluster, reading, found), cluster, reading.view),
    )


def clauses(choosing: Choosing, cluster: ClusterNumber, reading: Reading) -> Explanation | None:
    """Clause by clause, why one of them chooses the cluster; None if it names what is hidden."""
    entity = entity_of(reading.view, choosing.ref)
    selector = None if entity is None else selector_of(entity)
    if selector is None or not reading.readable(selector):
        return None
    return explain_selector(selector, cluster, reading.view, readable=reading.readable)


def _choosing(
    refs: Iterable[Ref], cluster: ClusterNumber, reading: Reading, through: str = ""
) -> Iterator[Choosing]:
    found = [Choosing(ref, reading.reaches(ref, cluster), through) for ref in reading.shown(refs)]
    return iter(sorted(found, key=lambda each: (not each.holds, str(each.ref.key))))


def _prohibitions(
    definition: Definition, cluster: ClusterNumber, reading: Reading
) -> Iterator[Choosing]:
    for each, way in needed(definition, reading):
        if reading.definition(each.application.name) is not None:
            yield from _choosing(each.prohibitions, cluster, reading, way[-1] if way else "")


def _dependencies(
    definition: Definition, cluster: ClusterNumber, reading: Reading
) -> Iterator[Needed]:
    for name in sorted(definition.application.depends_on):
        if reading.definition(name) is not None:
            yield Needed(name, reading.status(name, cluster))


def _fits(definition: Definition, cluster: ClusterNumber, reading: Reading) -> bool:
    reconcilers = definition.application.reconcilers
    return not reconcilers or cluster in reading.state.machines.under(reconcilers)


def _summary(status: Status, assignments: Iterable[Choosing], found: Iterable[Obstacle]) -> str:
    """The answer in one line."""
    names = [quoted(str(each.ref.key)) for each in assignments if each.holds]
    match status:
        case Status.EFFECTIVE:
            more = f" and {len(names) - 1:,} more" if names[1:] else ""
            return f"yes: assignment {names[0]} chooses it{more}" if names else "yes"
        case Status.UNASSIGNED:
            return f"no: {_unchosen(len(list(assignments)))}"
        case _:
            messages = [each.message for each in found]
            more = f" (and {len(messages) - 1:,} more)" if messages[1:] else ""
            return f"no, {status}: {messages[0]}{more}" if messages else f"no, {status}"


def _unchosen(assignments: int) -> str:
    """That none of the assignments of an application chooses a cluster."""
    match assignments:
        case 0:
            return "nothing assigns it there"
        case 1:
            return "its one assignment does not choose it"
        case _:
            return f"none of its {assignments:,} assignments chooses it"


def _rests_on(
    definition: Definition, cluster: ClusterNumber, reading: Reading, found: Iterable[Obstacle]
) -> Iterator[Ref]:
    """Every object the answer is read from."""
    yield Ref(Kind.APPLICATION, definition.application.name)
    yield Ref(Kind.CLUSTER, cluster)
    chosen = [ref for ref in definition.assignments if reading.reaches(ref, cluster)]
    yield from chosen or definition.assignments
    for obstacle in found:
        yield from obstacle.about
    if reading.status(definition.application.name, cluster) in (Status.EFFECTIVE, Status.BLOCKED):
        names = configuration_on(definition, cluster, reading)
        yield from (Ref(Kind.LAYER, name) for name in names)


def _newest(refs: Iterable[Ref], cluster: ClusterNumber, view: FleetView) -> Ref:
    """Of ``refs`` and what their selectors rest on, what changed last; of several the first."""
    best, revision = Ref(Kind.CLUSTER, cluster), -1
    waiting, known = list(refs), set[Ref]()
    while waiting:
        ref = waiting.pop(0)
        entity = None if ref in known else entity_of(view, ref)
        known.add(ref)
        if entity is None:
            continue
        if entity.changed > revision:
            best, revision = ref, entity.changed
        selector = selector_of(entity) if ref.kind in _CHOOSING else None
        if selector is not None:
            waiting += sorted(mentions(selector), key=str)
        elif isinstance(entity, Group):
            waiting += _above(cluster, entity.hierarchy, view)
    return best


_CHOOSING = frozenset({Kind.ASSIGNMENT, Kind.PROHIBITION, Kind.SAVED_SELECTOR})
"""The answer rests on what their selectors name."""


def _above(cluster: ClusterNumber, hierarchy: str, view: FleetView) -> Iterator[Ref]:
    """The groups of a hierarchy that a cluster is in: it comes and goes with each of them."""
    for number in view.memberships(cluster):
        for group in lineage(view, number):
            if group.hierarchy == hierarchy:
                yield Ref(Kind.GROUP, group.number)
