"""A change in words: what an object was and became, as a person would tell it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from graph.model.access import Grant
from graph.model.change import Change, Entity
from graph.model.inventory import Cluster, Group, SavedSelector
from graph.model.label import show
from graph.model.names import GroupNumber, quoted
from graph.model.selector import Selector
from graph.model.view import FleetView, path_of
from graph.targeting.syntax import to_text

_CREATED = {
    "Cluster": "registered",
    "SavedSelector": "saved",
    "LabelKey": "declared",
    "Grant": "granted",
}
_REMOVED = {"Cluster": "retired", "Grant": "revoked"}


def describe(change: Change, view: FleetView) -> list[str]:
    """What happened, a line each. Groups are named by where they are in ``view``."""
    match change.before, change.after:
        case None, (_ as after) if after is not None:
            return [_CREATED.get(type(after).__name__, "created"), *_first_state(after, view)]
        case ((_ as before), None) if before is not None:
            return [_REMOVED.get(type(before).__name__, "deleted")]
        case Cluster() as before, Cluster() as after:
            return [
                *_fields(before, after, view),
                *_labels(before, after),
                *_memberships(before, after, view),
            ]
        case ((_ as before), (_ as after)):
            assert before is not None and after is not None, "both sides are there"
            return list(_fields(before, after, view))


def place(number: GroupNumber, view: FleetView) -> str:
    """Where a group is, or that it is no more."""
    return (
        f"group {number:,}, since deleted" if view.group(number) is None else path_of(view, number)
    )


def _first_state(entity: Entity, view: FleetView) -> Iterator[str]:
    if isinstance(entity, Cluster):
        for number in entity.memberships:
            yield f"joined {place(number, view)}"
        for key, value in sorted(entity.labels.items()):
            yield f"{key} = {show(value)}"
    elif isinstance(entity, SavedSelector):
        yield _selector(entity.selector, view)
    elif isinstance(entity, Grant):
        to = (
            f"subject {quoted(entity.subject)}"
            if entity.subject
            else f"claim {quoted(entity.claim)}"
        )
        yield f"{entity.role} to {to} over {_selector(entity.scope, view)}"


def _fields(before: Entity, after: Entity, view: FleetView) -> Iterator[str]:
    for field in fields(after):
        was, now = getattr(before, field.name), getattr(after, field.name)
        if was == now or field.name in ("changed", "labels", "memberships"):
            continue
        if isinstance(after, Group) and field.name == "parent":
            yield f"moved from {place(was, view)} to {place(now, view)}"
        elif field.name in ("selector", "scope"):
            mark = "scope: " if field.name == "scope" else ""
            yield f"{mark}{_selector(was, view)} -> {_selector(now, view)}"
        else:
            verb = "renamed " if field.name == "name" else f"{field.name.replace('_', ' ')}: "
            yield f"{verb}{_shown(was)} -> {_shown(now)}"


def _labels(before: Cluster, after: Cluster) -> Iterator[str]:
    for key in sorted({*before.labels, *after.labels}):
        was, now = before.labels.get(key), after.labels.get(key)
        if was == now and type(was) is type(now):
            continue
        if now is None:
            yield f"{key} removed (was {_shown(was)})"
        elif was is None:
            yield f"{key} = {_shown(now)}"
        else:
            yield f"{key}: {_shown(was)} -> {_shown(now)}"


def _memberships(before: Cluster, after: Cluster, view: FleetView) -> Iterator[str]:
    was, now = set(before.memberships), set(after.memberships)
    yield from (f"left {place(number, view)}" for number in sorted(was - now))
    yield from (f"joined {place(number, view)}" for number in sorted(now - was))


def _selector(selector: Selector, view: FleetView) -> str:
    try:
        return to_text(selector, view)
    except AssertionError:  # it names a group that is no more: an old state may
        return "a selector over groups since deleted"


def _shown(value: object) -> str:
    if value is None or value == "":
        return "none"
    if isinstance(value, str):
        return quoted(str(value))
    return show(value) if isinstance(value, bool | int | float) else str(value)
