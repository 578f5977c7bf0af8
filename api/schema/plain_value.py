"""Values of the core as plain JSON, each shaped as the input that would write it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, cast

from graph.model.hours import Interval, OpeningHours
from graph.model.inventory import Capacity
from graph.model.values import Values
from graph.model.workload import (
    Base,
    Binding,
    Component,
    FieldTarget,
    LateBound,
    SecretReference,
    Template,
)


def camel(name: str) -> str:
    """``time_zone`` as it travels: ``timeZone``."""
    first, *rest = name.split("_")
    return first + "".join(each.capitalize() for each in rest)


def plain(value: Any) -> object:
    """A field as it travels; what is empty is nothing."""
    is_empty = value in (None, "", ()) or (isinstance(value, Values) and not value)
    return None if is_empty else _plain(value)


def _plain(value: Any) -> object:
    match value:
        case Enum():
            return value.name
        case tuple():
            return [_plain(each) for each in cast("tuple[object, ...]", value)]
        case Values() | OpeningHours() | Base() | Template() | SecretReference():
            return _map(value)
        case Capacity() | Interval() | Binding() | Component() | FieldTarget() | LateBound():
            return _record(value)
        case _:
            return cast("object", value)


def _map(value: Values | OpeningHours | Base | Template | SecretReference) -> dict[str, object]:
    match value:
        case Values():
            return dict(value.data)
        case OpeningHours():
            weekly, exceptions = _days(value.weekly), _days(value.exceptions)
            return {"weekly": weekly, "exceptions": exceptions}
        case Base():
            return {"base": _record(value)}
        case SecretReference():
            keys = sorted(value.keys.items())
            return _record(value) | {"keys": [{"key": key, "place": at} for key, at in keys]}
        case Template():
            files = sorted(value.files.items())
            return {"template": {"files": [{"name": name, "text": text} for name, text in files]}}


def _record(value: Any) -> dict[str, object]:
    """A frozen value, field by field."""
    return {camel(each.name): _plain(getattr(value, each.name)) for each in fields(value)}


def _days(days: Mapping[str, tuple[Interval, ...]]) -> list[dict[str, object]]:
    return [{"day": day, "intervals": _plain(held)} for day, held in days.items()]
