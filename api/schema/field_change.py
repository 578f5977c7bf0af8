"""What of an object changed, field by field, with values as they travel.

Groups are named by where they are in the view a change is read with, and selectors by their text.
What that view does not show, because it is gone or hidden, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from enum import Enum
from typing import Any, cast

import strawberry

from api.schema.names import Json
from graph.model.change import Change, Entity
from graph.model.hours import OpeningHours
from graph.model.inventory import Capacity, Cluster, Group
from graph.model.names import GroupNumber
from graph.model.selector import Selector
from graph.model.view import FleetView, path_of
from graph.scoped import readable
from graph.targeting.syntax import to_text

_UNSAID = ("number", "changed", "labels")
_NAMES = {
    "memberships": "groups",
    "selector": "text",
    "time_zone": "timeZone",
    "opening_hours": "openingHours",
}


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
    if isinstance(entity, Cluster):
        found |= {f"label {key}": value for key, value in sorted(entity.labels.items())}
    return found


def _fields(entity: Entity, view: FleetView) -> Iterator[tuple[str, object]]:
    for field in fields(entity):
        if field.name in _UNSAID:
            continue
        value = getattr(entity, field.name)
        if field.name == "parent":
            value = None if value is None else _path(value, view)
        elif field.name in ("selector", "scope"):
            value = _text(value, view)
        elif field.name == "memberships":
            value = _paths(value, view)
        yield _NAMES.get(field.name, field.name), _plain(value)


def _plain(value: Any) -> object:
    """A value as it travels; what is empty is nothing."""
    match value:
        case None | "" | () | []:
            return None
        case Enum():
            return value.name
        case Capacity():
            return {
                "cpuMillicores": value.cpu_millicores,
                "memoryMib": value.memory_mib,
                "storageMib": value.storage_mib,
            }
        case OpeningHours():
            return {"weekly": _days(value.weekly), "exceptions": _days(value.exceptions)}
        case tuple():
            return list(cast("tuple[object, ...]", value))
        case _:
            return cast("object", value)


def _days(days: Mapping[str, tuple[Any, ...]]) -> list[dict[str, object]]:
    return [
        {"day": day, "intervals": [asdict(each) for each in held]} for day, held in days.items()
    ]


def _path(number: GroupNumber, view: FleetView) -> str | None:
    return None if view.group(number) is None else path_of(view, number)


def _paths(numbers: tuple[GroupNumber, ...], view: FleetView) -> list[str]:
    found = (_path(number, view) for number in numbers)
    return sorted(path for path in found if path is not None)


def _text(selector: Selector, view: FleetView) -> str | None:
    try:
        return to_text(selector, view) if readable(selector, view) else None
    except AssertionError:  # it names a group that is no more: an old state may
        return None


def _json(value: object) -> Json | None:
    return None if value is None else Json(value)


def _differ(was: object, now: object) -> bool:
    return was != now or type(was) is not type(now)
