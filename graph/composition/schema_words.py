"""The words of JSON Schema that are understood, and what each must be followed by.

A word that is not understood is refused and not skipped: a rule somebody wrote down and nobody
checks is worse than none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from typing import cast

from graph.composition.problem import Path
from graph.model.errors import Invalid
from graph.model.names import did_you_mean, nearest, quoted, shortened
from graph.model.value_path import written_path
from graph.model.values import Value

Schema = Mapping[str, Value]

TYPES: dict[str, frozenset[type]] = {
    "array": frozenset({list}),
    "boolean": frozenset({bool}),
    "integer": frozenset({int}),
    "null": frozenset({type(None)}),
    "number": frozenset({int, float}),
    "object": frozenset({dict}),
    "string": frozenset({str}),
}
"""The types of JSON as Python has them; 1.0 is an integer too."""


def check_words(schema: Schema) -> None:
    """Refuse what is not understood, with where it is; and a schema no map can satisfy."""
    _check(dict(schema), ())
    if "object" not in type_words(schema):
        raise Invalid(
            "the schema asks for values that are no map",
            hint='write "type": "object" at the top, or leave it out there',
        )


def type_words(schema: Schema) -> tuple[str, ...]:
    """The types a schema allows."""
    said = schema.get("type", list(TYPES))
    return (said,) if isinstance(said, str) else tuple(cast("list[str]", said))


def comparable(value: Value) -> Hashable:
    """A stand-in that is equal for values JSON Schema has equal: 1 and 1.0, but not true and 1."""
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, list):
        return tuple(map(comparable, value))
    if isinstance(value, dict):
        return frozenset((key, comparable(each)) for key, each in value.items())
    return value


def shown(value: Value) -> str:
    """A value as a message shows it."""
    return shortened(json.dumps(value, ensure_ascii=True))


def _check(schema: Value, path: Path) -> None:
    if not isinstance(schema, dict):
        raise Invalid(f"{_where(path)} is no map of words", hint='write it as {"type": "string"}')
    for word, said in schema.items():
        if word not in _EXPECTED:
            raise Invalid(f"{_where((*path, word))} is not understood", hint=_hint(word))
        expected, holds = _EXPECTED[word]
        if not holds(said):
            raise Invalid(
                f"{_where((*path, word))} is {shown(said)}", hint=f"{word} takes {expected}"
            )
    _check_below(schema, path)


def _check_below(schema: Schema, path: Path) -> None:
    for key, each in cast("dict[str, Value]", schema.get("properties", {})).items():
        _check(each, (*path, "properties", key))
    for word in ("items", "additionalProperties"):
        if not isinstance(below := schema.get(word, True), bool):
            _check(below, (*path, word))


def _where(path: Path) -> str:
    return f"{quoted(written_path(path))} in the schema" if path else "the schema"


def _hint(word: str) -> str:
    if word == "pattern":
        return "text is not matched by expressions, since one can stall everybody; list it in enum"
    known = ", ".join(_EXPECTED)
    return " ".join(filter(None, (did_you_mean(nearest(word, _EXPECTED)), f"understood: {known}")))


def _anything(_: Value) -> bool:
    return True


def _is_text(said: Value) -> bool:
    return isinstance(said, str)


def _is_number(said: Value) -> bool:
    return type(said) in TYPES["number"]


def _is_count(said: Value) -> bool:
    return type(said) is int and said >= 0


def _is_map(said: Value) -> bool:
    return isinstance(said, dict)


def _is_some(said: Value) -> bool:
    return isinstance(said, list) and bool(said)


def _are_keys(said: Value) -> bool:
    return isinstance(said, list) and all(isinstance(key, str) for key in said)


def _is_type(said: Value) -> bool:
    if isinstance(said, list):
        return bool(said) and all(isinstance(each, str) and each in TYPES for each in said)
    return isinstance(said, str) and said in TYPES


def _is_extra(said: Value) -> bool:
    return isinstance(said, bool | dict)


_COUNT = ("a whole number, 0 or more", _is_count)
_NUMBER = ("a number", _is_number)
_TEXT = ("a text", _is_text)

_EXPECTED: dict[str, tuple[str, Callable[[Value], bool]]] = {
    "type": (f"one or a list of {', '.join(TYPES)}", _is_type),
    "properties": ("a map of schemas by key", _is_map),
    "required": ("a list of keys", _are_keys),
    "additionalProperties": ("true, false or a schema", _is_extra),
    "items": ("a schema", _is_map),
    "enum": ("a list of one value or more", _is_some),
    "const": ("any value", _anything),
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "minLength": _COUNT,
    "maxLength": _COUNT,
    "minItems": _COUNT,
    "maxItems": _COUNT,
    "title": _TEXT,
    "description": _TEXT,
    "default": ("any value", _anything),
}
