"""What may be seen through a scope, worked out the slow way: a twin of nothing but that.

Of the workload first everything goes that a coverage leaves out, then what does not reach what is
visible, and at last the names of what is gone from whatever is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from graph.model.access import Coverage
from graph.model.change import Entity, ref_of
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, SavedSelector
from graph.model.names import GroupNumber
from graph.model.selector import Except, Matching, Not, Only, Selector, Under, parts
from graph.model.workload import (
    Application,
    Assignment,
    Choice,
    LateBound,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)
from graph.targeting.sight import CoveredBesides
from twin import Twin, same_value, twin_select


def restricted(twin: Twin, scope: Selector, covered: Coverage | None = None) -> Twin:
    """``twin`` without what ``scope`` and ``covered`` hide, at the same place in history."""
    visible = twin_select(scope, twin) & twin.in_fleet()
    groups = {each.number for each in twin.groups() if _is_there(each, twin, scope, visible)}
    whole = twin if covered is None else Twin.of(_covered(twin, covered))
    shown = [_shown(each, whole, visible, groups) for each in whole.entities()]
    there = Twin.of(each for each in shown if each is not None)
    if covered is None:
        there = Twin.of(_reached(there, whole))
    seen = Twin.of(map(_trimmer(there), there.entities()))
    seen.numbers, seen.cursor = twin.numbers, twin.cursor
    return seen


def _covered(twin: Twin, covered: Coverage) -> Iterator[Entity]:
    """Everything but the workload that ``covered`` leaves out."""
    besides = restricted(twin, covered.wholly) if isinstance(covered, CoveredBesides) else Twin()
    applications = [
        each
        for each in twin.workload.applications.values()
        if each.name in {*covered.applications, *besides.workload.applications}
        or each.namespace in covered.namespaces
    ]
    names = {each.name for each in applications}
    namespaces = {*covered.namespaces, *(each.namespace for each in applications)}
    namespaces |= set(besides.workload.namespaces)
    seen = set(map(ref_of, besides.entities()))
    for entity in twin.entities():
        match entity:
            case _ if ref_of(entity) in seen:
                kept = True
            case Application(name=name) | Layer(application=name):
                kept = name in names
            case Namespace(name=name):
                kept = name in namespaces
            case Assignment(choice=choice) | Prohibition(choice=choice):
                if choice.applications:
                    kept = not names.isdisjoint(choice.applications)
                else:
                    taken = any(map(choice.takes, applications))
                    kept = taken or choice.namespace in covered.namespaces
            case Policy(namespaces=(_, *_) as governed):
                kept = not namespaces.isdisjoint(governed)
            case _:
                kept = True
        if kept:
            yield entity


def _reached(there: Twin, whole: Twin) -> Iterator[Entity]:
    """``there`` without the applications and namespaces that no assignment brings into sight."""
    assigned = list(there.workload.assignments.values())
    namespaces = {each.choice.namespace for each in assigned}
    taken = {
        each.name
        for each in whole.workload.applications.values()
        if any(assignment.choice.takes(each) for assignment in assigned)
    }
    for entity in there.entities():
        match entity:
            case Namespace(name=name):
                kept = name in namespaces
            case Application(name=name):
                kept = name in taken
            case Layer(application=name):
                kept = not name or name in taken
            case Prohibition(choice=choice):
                kept = _is_about(choice, taken, namespaces, whole)
            case Policy(namespaces=(_, *_) as governed):
                kept = not namespaces.isdisjoint(governed)
            case _:
                kept = True
        if kept:
            yield entity


def _is_about(choice: Choice, taken: set[str], namespaces: set[str], whole: Twin) -> bool:
    if choice.applications:
        return not taken.isdisjoint(choice.applications)
    if choice.namespace:
        return choice.namespace in namespaces
    applications = whole.workload.applications
    return any(choice.takes(applications[name]) for name in taken)


def _trimmer(there: Twin) -> Callable[[Entity], Entity]:
    """Takes the names of what is not there out of what is."""
    workload = there.workload

    def known(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in workload.applications)

    def blank(late: LateBound) -> LateBound:
        keys = re.findall(r"{(.+?)}", late.source)
        hidden = any(key != "cluster" and there.label_key(key) is None for key in keys)
        return replace(late, source="") if hidden else late

    def trimmed(entity: Entity) -> Entity:
        match entity:
            case Application():
                late_bound = tuple(map(blank, entity.late_bound))
                return replace(entity, depends_on=known(entity.depends_on), late_bound=late_bound)
            case Assignment() | Prohibition() if entity.choice.applications:
                left = known(entity.choice.applications)
                return replace(entity, choice=replace(entity.choice, applications=left))
            case Policy():
                left = tuple(each for each in entity.namespaces if each in workload.namespaces)
                return replace(entity, namespaces=left)
            case _:
                return entity

    return trimmed


def _shown(
    entity: Entity, twin: Twin, visible: set[int], groups: set[GroupNumber]
) -> Entity | None:
    match entity:
        case Cluster(number=number):
            return entity if number in visible else None
        case Group(number=number):
            return entity if number in groups else None
        case Hierarchy(name=name):
            return entity if twin.root(name) in groups else None
        case LabelKey(name=name, allowed=allowed):
            seen = [each for each in twin.clusters() if each.number in visible]
            held = [each.labels[name] for each in seen if name in each.labels]
            known = tuple(each for each in allowed if any(same_value(one, each) for one in held))
            return replace(entity, allowed=known) if held else None
        case SavedSelector() | Assignment() | Prohibition() | Layer():
            return entity if twin_select(entity.selector, twin) & visible else None
        case Policy():
            reaches = entity.selector is not None and twin_select(entity.selector, twin) & visible
            return entity if entity.namespaces or reaches else None
        case Namespace() | Application():
            return entity
        case _:
            return None


def _is_there(group: Group, twin: Twin, scope: Selector, visible: set[int]) -> bool:
    below = twin.at_or_under(group.number)
    if twin.in_any(below) & visible:
        return True
    named = list(_named(scope, twin, wanted=True))
    left_out = {each for each, wanted in named if not wanted}
    if any(each in below - left_out for each, wanted in named if wanted and each != group.number):
        return True
    for above in _upwards(group, twin):
        said = {wanted for each, wanted in named if each == above.number}
        if said:
            return False not in said
    return False


def _named(scope: Selector, twin: Twin, *, wanted: bool) -> Iterator[tuple[GroupNumber, bool]]:
    """The groups ``scope`` names, each with whether to take it in or to leave it out."""
    match scope:
        case Under(group) | Only(group):
            yield group, wanted
        case Matching(base, rest):
            for group in twin.groups():
                if _matches(group, base, rest, twin):
                    yield group.number, wanted
        case Not(operand):
            yield from _named(operand, twin, wanted=not wanted)
        case Except(left, right):
            yield from _named(left, twin, wanted=wanted)
            yield from _named(right, twin, wanted=not wanted)
        case _:
            for part in parts(scope):
                yield from _named(part, twin, wanted=wanted)


def _matches(group: Group, base: GroupNumber, rest: tuple[str, ...], twin: Twin) -> bool:
    line = list(_upwards(group, twin))
    if len(line) <= len(rest) or line[len(rest)].number != base:
        return False
    return all(want in ("*", each.name) for want, each in zip(reversed(rest), line, strict=False))


def _upwards(group: Group | None, twin: Twin) -> Iterator[Group]:
    while group is not None:
        yield group
        group = None if group.parent is None else twin.group(group.parent)
