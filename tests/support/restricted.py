"""What may be seen through a scope, worked out the slow way: a twin of nothing but that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from graph.model.change import Entity
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, SavedSelector
from graph.model.names import GroupNumber
from graph.model.selector import Except, Matching, Not, Only, Selector, Under, parts
from twin import Twin, same_value, twin_select


def restricted(twin: Twin, scope: Selector) -> Twin:
    """``twin`` without what ``scope`` hides, at the same place in history."""
    visible = twin_select(scope, twin) & twin.in_fleet()
    groups = {each.number for each in twin.groups() if _is_there(each, twin, scope, visible)}
    shown = (_shown(each, twin, visible, groups) for each in twin.entities())
    seen = Twin.of(each for each in shown if each is not None)
    seen.numbers, seen.cursor = twin.numbers, twin.cursor
    return seen


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
        case SavedSelector(selector=selector):
            return entity if twin_select(selector, twin) & visible else None
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
