"""A schema as functions: each looks at one value and adds what is wrong with it.

Made once per schema, so that judging values is a few calls per key. A judge made for a *part* lets
pass what other layers may still add or what null takes away.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from graph.composition.merge import items_by_name
from graph.composition.problem import Path
from graph.composition.schema_words import TYPES, Schema, comparable, shown, type_words
from graph.model.names import counted
from graph.model.values import Value

VIOLATIONS_MAX = 20
"""How many violations are told at once; the rest would only repeat them."""


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong, and where."""

    path: Path
    message: str
    """Without the path: ``must be integer, and is "two"``."""
    missing: bool = False
    """Whether a required key has no value."""


Judge = Callable[[Value, Path, list[Violation]], None]


def judge_of(schema: Schema, *, part: bool) -> Judge:
    """All the words of a schema as one function."""
    judges = list(_judges(schema, part=part))
    if len(judges) == 1:
        return judges[0]

    def judge(value: Value, path: Path, found: list[Violation]) -> None:
        for each in judges:
            each(value, path, found)

    return judge


def _judges(schema: Schema, *, part: bool) -> Iterator[Judge]:
    if "type" in schema:
        yield _of_type(type_words(schema))
    if "enum" in schema:
        yield _of_enum(cast("list[Value]", schema["enum"]), part=part)
    if "const" in schema:
        yield _of_enum([schema["const"]], part=part)
    yield from _bounds(schema, part=part)
    if "items" in schema:
        yield _of_items(cast(Schema, schema["items"]), part=part)
    if not schema.keys().isdisjoint(("properties", "required", "additionalProperties")):
        yield _of_map(schema, part=part)


def _complain(found: list[Violation], path: Path, message: str, *, missing: bool = False) -> None:
    if len(found) < VIOLATIONS_MAX:
        found.append(Violation(path, message, missing))


def _of_type(words: tuple[str, ...]) -> Judge:
    types = frozenset[type]().union(*(TYPES[word] for word in words))
    whole = "integer" in words and float not in types

    def judge(value: Value, path: Path, found: list[Violation]) -> None:
        if type(value) in types:
            return
        if whole and isinstance(value, float) and value.is_integer():
            return
        _complain(found, path, f"must be {' or '.join(words)}, and is {shown(value)}")

    return judge


def _of_enum(allowed: list[Value], *, part: bool) -> Judge:
    known: frozenset[Hashable] = frozenset(map(comparable, allowed))

    def judge(value: Value, path: Path, found: list[Violation]) -> None:
        if part and _grows(value):
            return
        if comparable(value) not in known:
            one_of = " or ".join(map(shown, allowed[:8])) + (" or ..." if allowed[8:] else "")
            _complain(found, path, f"must be {one_of}, and is {shown(value)}")

    return judge


def _grows(value: Value) -> bool:
    """Whether other layers may add to a value."""
    return isinstance(value, dict) or (isinstance(value, list) and items_by_name(value) is not None)


def _bounds(schema: Schema, *, part: bool) -> Iterator[Judge]:
    for word, said in schema.items():
        match word:
            case "minimum" | "maximum":
                yield _of_number(cast(float, said), least=word == "minimum")
            case "minLength" | "maxLength":
                yield _of_length(cast(int, said), least=word == "minLength")
            case "minItems" | "maxItems":
                yield _of_count(cast(int, said), least=word == "minItems", part=part)
            case _:
                pass


def _of_number(bound: float, *, least: bool) -> Judge:
    numbers = TYPES["number"]
    limit = f"must be {'at least' if least else 'at most'} {bound}"

    def judge(value: Value, path: Path, found: list[Violation]) -> None:
        if type(value) not in numbers:
            return
        number = cast(float, value)
        if number < bound if least else number > bound:
            _complain(found, path, f"{limit}, and is {shown(value)}")

    return judge


def _of_length(bound: int, *, least: bool) -> Judge:
    limit = f"must have {'at least' if least else 'at most'} {counted(bound, 'character')}"

    def judge(value: Value, path: Path, found: list[Violation]) -> None:
        if isinstance(value, str) and (len(value) < bound if least else len(value) > bound):
            _complain(found, path, f"{limit}, and has {len(value):,}")

    return judge


def _of_count(bound: int, *, least: bool, part: bool) -> Judge:
    limit = f"must have {'at least' if least else 'at most'} {counted(bound, 'item')}"

    def judge(value: Value, path: Path, found: list[Violation]) -> None:
        if not isinstance(value, list) or (part and least and _grows(value)):
            return
        if len(value) < bound if least else len(value) > bound:
            _complain(found, path, f"{limit}, and has {len(value):,}")

    return judge


def _of_items(schema: Schema, *, part: bool) -> Judge:
    whole = judge_of(schema, part=False)
    named = judge_of(schema, part=True) if part else whole

    def judge(value: Value, path: Path, found: list[Violation]) -> None:
        if not isinstance(value, list):
            return
        items = items_by_name(value)
        if items is not None:
            for name, item in items.items():
                named(item, (*path, name), found)
            return
        for at, each in enumerate(value):
            whole(each, (*path, str(at)), found)

    return judge


def _of_map(schema: Schema, *, part: bool) -> Judge:
    properties = cast(Mapping[str, Schema], schema.get("properties", {}))
    known = {key: judge_of(below, part=part) for key, below in properties.items()}
    required = () if part else tuple(cast("list[str]", schema.get("required", [])))
    extra = _of_extra(schema.get("additionalProperties", True), tuple(known), part=part)

    def judge(value: Value, path: Path, found: list[Violation]) -> None:
        if not isinstance(value, dict):
            return
        for key in required:
            if key not in value:
                _complain(found, (*path, key), "is required and missing", missing=True)
        for key, each in value.items():
            if each is not None or not part:
                known.get(key, extra)(each, (*path, key), found)

    return judge


def _of_extra(allowed: Value, known: tuple[str, ...], *, part: bool) -> Judge:
    """What judges keys that the schema does not name."""
    if isinstance(allowed, dict):
        return judge_of(allowed, part=part)
    if allowed:
        return _nothing_wrong
    keys = ", ".join(sorted(known)[:12]) + (", ..." if known[12:] else "")

    def judge(_: Value, path: Path, found: list[Violation]) -> None:
        _complain(found, path, f"is not a key the schema knows; it knows {keys or 'none'}")

    return judge


def _nothing_wrong(_: Value, path: Path, found: list[Violation]) -> None:
    """The judge of what may be anything."""
