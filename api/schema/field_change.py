"""What of an object changed, field by field, with values as they travel.

Groups are named by where they are in the view a change is read with, and selectors by their text.
What that view does not show, because it is gone or hidden, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import strawberry

from api.schema.names import Json
from api.schema.plain_value import camel, plain
from graph.model.change import Change, Entity
from graph.model.inventory import Cluster, Group, SavedSelector
from graph.model.names import GroupNumber
from graph.model.selector import Selector
from graph.model.view import FleetView, path_of
from graph.model.workload import Application, Assignment, Choice, Namespace, Prohibition
from graph.scoped import readable
from graph.targeting.syntax import to_text

_UNSAID = ("number", "changed", "labels", "choice")


@strawberry.type(description="One field of an object, before and after.")
class FieldChange:
    """A field that differs."""

    name: str = strawberry.field(
        description="The field as the object's type has it; `label size` for the label size."
    )
    before: Json | None = strawberry.field(description="What it was; null: nothing.")
    after: Json | None = strawberry.field(description="What it became; null: nothing.")


def field_changes(change: Change, view: FleetView) -> list[FieldChange]:
    """The fields that differ: those of the object's type first, then its labels."""
    was, now = _state(change.before, view), _state(change.after, view)
    names = sorted(dict.fromkeys([*was, *now]), key=lambda name: name.startswith("label "))
    return [
        FieldChange(name=name, before=_json(was.get(name)), after=_json(now.get(name)))
        for name in names
        if _differ(was.get(name), now.get(name))
    ]


def group_path(group: Group, view: FleetView) -> str | None:
    """Where a group is; where it was, if it is gone from under a group that is there."""
    if view.group(group.number) is not None:
        return path_of(view, group.number)
    if group.parent is None:
        return f"/{group.name}"
    above = _path(group.parent, view)
    return None if above is None else f"{above}/{group.name}"


def _state(entity: Entity | None, view: FleetView) -> dict[str, object]:
    if entity is None:
        return {}
    found = dict(_fields(entity, view))
    match entity:
        case Cluster() | Namespace() | Application():
            labels = entity.labels
        case Assignment() | Prohibition():
            found |= dict(_fields(entity.choice, view))
            labels = entity.choice.labels
        case _:
            return found
    return found | {f"label {key}": value for key, value in sorted(labels.items())}


def _fields(entity: Any, view: FleetView) -> Iterator[tuple[str, object]]:
    """The fields of a frozen value as they travel, but for those told otherwise."""
    for field in fields(entity):
        if field.name not in _UNSAID:
            value = _seen(field.name, getattr(entity, field.name), view)
            yield _named(entity, field.name), plain(value)


def _named(entity: object, name: str) -> str:
    if name == "memberships":
        return "groups"
    if name == "selector" and isinstance(entity, SavedSelector):
        return "text"
    return "named" if name == "applications" and isinstance(entity, Choice) else camel(name)


def _seen(name: str, value: Any, view: FleetView) -> Any:
    """A field as far as ``view`` shows what it names."""
    read = _NUMBERED.get(name)
    return value if value is None or read is None else read(value, view)


def _path(number: GroupNumber, view: FleetView) -> str | None:
    return None if view.group(number) is None else path_of(view, number)


def _paths(numbers: tuple[GroupNumber, ...], view: FleetView) -> tuple[str, ...]:
    found = (_path(number, view) for number in numbers)
    return tuple(sorted(path for path in found if path is not None))


def _text(selector: Selector, view: FleetView) -> str | None:
    try:
        return to_text(selector, view) if readable(selector, view) else None
    except AssertionError:  # it names a group that is no more: an old state may
        return None


def _json(value: object) -> Json | None:
    return None if value is None else Json(value)


def _differ(was: object, now: object) -> bool:
    return repr(was) != repr(now)  # 1, 1.0 and true are equal to Python, wherever they are inside


_NUMBERED: Mapping[str, Callable[[Any, FleetView], Any]] = {
    "parent": _path,
    "memberships": _paths,
    "selector": _text,
    "scope": _text,
    "requires": _text,
}
"""Fields that name objects by number."""
