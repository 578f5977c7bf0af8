"""The structured form: the same tree as nested mappings, each with exactly one key.

    {"and": [...]}   {"or": [...]}   {"not": ...}   {"except": {"from": ..., "without": ...}}
    {"everything": true}   {"group": "/geo/us"}   {"only": "/geo/us/tx"}   {"cluster": "us-1"}
    {"label": {"key": "lanes", "comparison": ">=", "value": 2}}
    {"label": {"key": "size", "in": ["large", "medium"]}}   {"label": {"key": "lanes", "has": true}}
    {"saved": "pilot"}   {"namespace": "grill"}   {"text": "/geo/us and size = large"}

Paths may hold wildcards. Values are typed already, so they must have the type of their key. A
refusal's ``path`` leads to the place in the input; where that place is text, it has a column too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from graph.model.errors import Invalid, TrellisError
from graph.model.names import RESERVED_HIERARCHIES, quoted
from graph.model.selector import (
    And,
    Everything,
    Except,
    HasLabel,
    InNamespace,
    IsCluster,
    LabelIn,
    LabelIs,
    Matching,
    Not,
    Only,
    Or,
    Saved,
    Selector,
    Structured,
    Under,
    Written,
    clauses,
)
from graph.model.view import FleetView, path_of
from graph.targeting.label_clause import given_list, given_text, read_label
from graph.targeting.lookup import Lookup
from graph.targeting.normal import (
    CLAUSES_MAX,
    DEPTH_MAX,
    all_of,
    any_of,
    check_size,
    too_deep,
    too_many_clauses,
)
from graph.targeting.parser import parse
from graph.targeting.syntax import pattern


def read_selector(written: Written, view: FleetView) -> Selector:
    """The tree somebody wrote as text or in the structured form."""
    return parse(written, view) if isinstance(written, str) else from_structured(written, view)


def from_structured(data: Structured, view: FleetView) -> Selector:
    """The tree ``data`` stands for in the fleet that ``view`` shows."""
    return check_size(_read(data, _Reading(view), 0))


def to_structured(selector: Selector, view: FleetView) -> dict[str, object]:
    """``selector`` in the structured form; ``from_structured`` reads it back."""
    match selector:
        case And(operands):
            return {"and": [to_structured(each, view) for each in operands]}
        case Or(operands):
            return {"or": [to_structured(each, view) for each in operands]}
        case Not(operand):
            return {"not": to_structured(operand, view)}
        case Except(left, right):
            sides = {"from": to_structured(left, view), "without": to_structured(right, view)}
            return {"except": sides}
        case _:
            return _clause(selector, view)


def _clause(selector: Selector, view: FleetView) -> dict[str, object]:
    found: dict[str, object] = {"everything": True}
    match selector:
        case Under(group):
            found = {"group": path_of(view, group)}
        case Only(group):
            found = {"only": path_of(view, group)}
        case Matching(base, rest, only):
            found = {"only" if only else "group": pattern(base, rest, view)}
        case LabelIs(key, comparison, value):
            found = {"label": {"key": key, "comparison": str(comparison), "value": value}}
        case LabelIn(key, values):
            found = {"label": {"key": key, "in": list(values)}}
        case HasLabel(key):
            found = {"label": {"key": key, "has": True}}
        case IsCluster(cluster):
            found = {"cluster": view.cluster_name(cluster)}
        case Saved(name):
            found = {"saved": name}
        case InNamespace(name):
            found = {"namespace": name}
        case _:
            pass
    return found


@dataclass(slots=True)
class _Reading:
    """One input being read, and how many clauses it has had so far."""

    view: FleetView
    clauses: int = 0


_OPERATORS = ("and", "or", "not", "except")


def _read(data: object, reading: _Reading, depth: int) -> Selector:
    if depth > DEPTH_MAX:
        raise too_deep()
    form, inside = _one_of(data, _FORMS, "a selector")
    reading.clauses += form not in _OPERATORS
    if reading.clauses > CLAUSES_MAX:
        raise too_many_clauses()
    try:
        return _FORMS[form](inside, reading, depth)
    except TrellisError as error:
        raise error.at(form) from None


def _one_of(data: object, forms: Mapping[str, object], noun: str) -> tuple[str, object]:
    """The one key of ``data`` and what it holds."""
    known = ", ".join(forms)
    if not isinstance(data, Mapping):
        raise Invalid(f"{noun} is given by one key", hint=f"use one of {known}")
    given = [(key, each) for key, each in cast("Structured", data).items() if each is not None]
    if len(given) != 1:
        raise Invalid(
            f"{noun} is given by exactly one key, not by {len(given):,}", hint=f"use one of {known}"
        )
    if given[0][0] not in forms:
        raise Invalid(
            f"{quoted(str(given[0][0]))} is no form of {noun}", hint=f"use one of {known}"
        )
    return given[0]


def _operands(data: object, reading: _Reading, depth: int) -> list[Selector]:
    given = given_list(data, CLAUSES_MAX, too_many_clauses())
    if not given:
        raise Invalid(
            "a list of no selectors",
            hint="an empty selector selects nothing by accident; use everything: true",
        )
    found: list[Selector] = []
    for place, each in enumerate(given):
        try:
            found.append(_read(each, reading, depth + 1))
        except TrellisError as error:
            raise error.at(place) from None
    return found


def _and(data: object, reading: _Reading, depth: int) -> Selector:
    return all_of(_operands(data, reading, depth))


def _or(data: object, reading: _Reading, depth: int) -> Selector:
    return any_of(_operands(data, reading, depth))


def _not(data: object, reading: _Reading, depth: int) -> Selector:
    return Not(_read(data, reading, depth + 1))


def _except(data: object, reading: _Reading, depth: int) -> Selector:
    sides = _fields(data, ("from", "without"))
    found: list[Selector] = []
    for side in ("from", "without"):
        try:
            found.append(_read(sides[side], reading, depth + 1))
        except TrellisError as error:
            raise error.at(side) from None
    return Except(found[0], found[1])


def _everything(data: object, _reading: _Reading, _depth: int) -> Selector:
    if data is not True:
        raise Invalid("everything is only ever true", hint="leave it out, or use not")
    return Everything()


def _group(data: object, reading: _Reading, _depth: int) -> Selector:
    return _path(given_text(data), reading.view, only=False)


def _only(data: object, reading: _Reading, _depth: int) -> Selector:
    return _path(given_text(data), reading.view, only=True)


def _path(path: str, view: FleetView, *, only: bool) -> Selector:
    lookup = Lookup(view, path)
    if not path.startswith("/"):
        raise lookup.invalid(
            f"{quoted(path)} is not a group path", 0, len(path), hint="write /geo/us/tx"
        )
    segments = lookup.segments(path, 0)
    if segments[0].name in RESERVED_HIERARCHIES:
        raise lookup.invalid(
            f"{quoted(path)} is not a group path",
            0,
            len(path),
            hint="/g, /m, /c and /n are forms of selector text: use text",
        )
    return lookup.group(segments, only=only)


def _cluster(data: object, reading: _Reading, _depth: int) -> Selector:
    name = given_text(data)
    return Lookup(reading.view, name).cluster(name, 0)


def _saved(data: object, reading: _Reading, _depth: int) -> Selector:
    name = given_text(data)
    return Lookup(reading.view, name).saved(name, 0)


def _namespace(data: object, reading: _Reading, _depth: int) -> Selector:
    name = given_text(data)
    return Lookup(reading.view, name).namespace(name, 0)


def _text(data: object, reading: _Reading, _depth: int) -> Selector:
    found = parse(given_text(data), reading.view)
    reading.clauses += sum(1 for _ in clauses(found)) - 1
    return found


def _label(data: object, reading: _Reading, _depth: int) -> Selector:
    return read_label(data, reading.view)


def _fields(data: object, names: Sequence[str]) -> Structured:
    if not isinstance(data, Mapping) or set(cast("Structured", data)) != set(names):
        raise Invalid(f"exactly {' and '.join(names)} are expected here", hint="give both")
    return cast("Structured", data)


_FORMS: dict[str, Callable[[object, _Reading, int], Selector]] = {
    "text": _text,
    "and": _and,
    "or": _or,
    "not": _not,
    "except": _except,
    "everything": _everything,
    "group": _group,
    "only": _only,
    "label": _label,
    "cluster": _cluster,
    "saved": _saved,
    "namespace": _namespace,
}
