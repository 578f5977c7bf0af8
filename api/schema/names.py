"""Scalars: names, places and moments as they travel.

Each has one Python type, so that a resolver's annotation says which scalar it is, and reads its
input strictly: what it lets through the core can take.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from math import isfinite
from typing import Any, NewType, cast

import strawberry
from strawberry.types.scalar import ScalarDefinition

from graph.model.change import Cursor as CoreCursor
from graph.model.errors import Invalid
from graph.model.inventory import LabelValue as CoreLabelValue
from graph.model.names import Revision as CoreRevision
from graph.model.names import quoted

TEXT_LENGTH_MAX = 4_096
"""Characters in a name, path or value; the core has tighter rules for each."""

Name = NewType("Name", str)
GroupPath = NewType("GroupPath", str)
Revision = NewType("Revision", int)
Cursor = NewType("Cursor", str)
Instant = NewType("Instant", datetime)
Seconds = NewType("Seconds", float)
LabelValue = NewType("LabelValue", object)
Json = NewType("Json", object)


class RevisionOrTime:
    """A revision or a moment; how a caller names an earlier state of the fleet."""

    def __init__(self, value: CoreRevision | datetime) -> None:
        self.value = value


def label_value(value: LabelValue) -> CoreLabelValue:
    """A label's value as the core knows it; the scalar has let nothing else in."""
    assert isinstance(value, str | int | float), "the scalar reads nothing else"
    return value


def _text(value: object, noun: str) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{_shown(value)} is no {noun}", hint="send text")
    if len(value) > TEXT_LENGTH_MAX:
        raise Invalid(f"a {noun} of {len(value):,} characters", hint=f"at most {TEXT_LENGTH_MAX:,}")
    return value


def _revision(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise Invalid(f"{_shown(value)} is no revision", hint="send a whole number, 0 or more")
    return value


def _cursor(value: object) -> str:
    return str(CoreCursor.parse(_text(value, "cursor")))


def _instant(value: object) -> datetime:
    text = _text(value, "time")
    try:
        moment = datetime.fromisoformat(text)
        zoned = moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        zoned = None
    if zoned is None:
        raise Invalid(f"{quoted(text)} is no time with a zone", hint="write 2026-11-01T00:00:00Z")
    return zoned


def _revision_or_time(value: object) -> RevisionOrTime:
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        return RevisionOrTime(_instant(value))
    number = int(value) if isinstance(value, str) and len(value) < 20 else value
    return RevisionOrTime(CoreRevision(_revision(number)))


def _label_value(value: object) -> CoreLabelValue:
    if isinstance(value, str):
        return _text(value, "value")
    if isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    raise Invalid(f"{_shown(value)} is no label value", hint="send text, a number or true / false")


def _json(value: object) -> object:
    """Any JSON that can be sent back as well: what is written in a document may say more."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += cast("dict[str, object]", each).values()
        elif isinstance(each, list):
            waiting += cast("list[object]", each)
        elif isinstance(each, int) and not -(2**63) <= each < 2**64:
            raise Invalid(f"{_shown(each)} has too many digits", hint="send it as text")
        elif isinstance(each, float) and not isfinite(each):
            raise Invalid(f"{_shown(each)} is no number", hint="send a finite one, or text")
        elif isinstance(each, float) and abs(each) >= 2**63:  # an integer may have been cut to it
            raise Invalid(f"{_shown(each)} has too many digits", hint="send it as text")
    return value


def _shown(value: object) -> str:
    if isinstance(value, list | dict):  # however large it is
        return "a list" if isinstance(value, list) else "an object"
    return quoted(str(value)[:40])


def _moment(value: Any) -> str:
    text: str = value.isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _scalar(name: str, description: str, **how: Any) -> ScalarDefinition:
    found: ScalarDefinition = strawberry.scalar(name=name, description=description, **how)
    return found


SCALARS: Mapping[object, ScalarDefinition] = {
    Name: _scalar(
        "Name",
        "A name: lower-case letters, digits and hyphens, at most 63 characters. Label keys, fleet"
        " settings and layers have the names that Kubernetes takes: need_gpu, example.com/size,"
        " HTTP_PROXY, imdb-1.0.1.",
        parse_value=partial(_text, noun="name"),
    ),
    GroupPath: _scalar(
        "GroupPath",
        "The place of a group, from its hierarchy down: /geo/us/central/tx.",
        parse_value=partial(_text, noun="path"),
    ),
    Revision: _scalar(
        "Revision", "A position in the change log; a whole number.", parse_value=_revision
    ),
    Cursor: _scalar(
        "Cursor",
        "A place in this fleet's history: a revision and the digest of what led to it. Opaque.",
        parse_value=_cursor,
    ),
    Instant: _scalar(
        "Instant", "A moment, as 2026-11-01T00:00:00Z.", serialize=_moment, parse_value=_instant
    ),
    Seconds: _scalar("Seconds", "A duration in seconds."),
    LabelValue: _scalar(
        "LabelValue",
        "The value of a label: text, a number, or true / false.",
        parse_value=_label_value,
    ),
    Json: _scalar("JSON", "Any JSON value.", parse_value=_json),
    RevisionOrTime: _scalar(
        "RevisionOrTime",
        "An earlier state: a revision, or a moment as 2026-11-01T00:00:00Z.",
        parse_value=_revision_or_time,
    ),
}
