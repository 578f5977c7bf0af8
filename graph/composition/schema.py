"""What an application's values must satisfy: a subset of JSON Schema, compiled once.

The subset is what can be judged in time linear in the values, whoever wrote schema and values.
That leaves ``pattern`` out: one hostile expression can stall everybody. ``true`` is not 1, and
1.0 is an integer, as JSON Schema says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from graph.composition.judge import Judge, Violation, judge_of
from graph.composition.schema_words import Schema, check_words
from graph.model.errors import Invalid
from graph.model.names import quoted
from graph.model.value_path import value_path, written_path
from graph.model.values import Value, Values
from graph.model.workload import FLEET_KEY

SCHEMAS_MAX = 512
"""Schemas that are kept compiled for the next layer that is set."""
_TOLD_MAX = 3


@dataclass(frozen=True, slots=True)
class Checker:
    """A compiled schema."""

    judge: Judge

    def violations(self, values: Mapping[str, Value]) -> list[Violation]:
        """What is wrong with ``values``; none when they satisfy the schema."""
        found: list[Violation] = []
        self.judge(cast("dict[str, Value]", values), (), found)
        return found


def check_schema(schema: Values) -> None:
    """Refuse a schema that says something not understood, or asks for no map at the top."""
    check_words(schema.data)


def compile_schema(schema: Values, late: Collection[str] = ()) -> Checker:
    """The checker of composed values, for a schema that ``check_schema`` let pass.

    Late-bound keys are not missed in them, and fleet settings are nobody's unknown key.
    """
    properties = cast("dict[str, Value]", schema.data.get("properties", {}))
    root: dict[str, Value] = {**schema.data, "properties": {FLEET_KEY: {}, **properties}}
    for key in late:
        _not_missed(root, value_path(key))
    return Checker(judge_of(root, part=False))


def check_part(schema: Values, values: Values, application: str, layer: str = "") -> None:
    """Refuse values that could not be part of any that satisfy ``schema``.

    ``layer`` is empty for the application's own. What is missing may come from another layer; null
    removes a key and is no value; fleet settings are set elsewhere.
    """
    own = {key: value for key, value in values.data.items() if key != FLEET_KEY}
    found = _compiled_part(schema).violations(own)
    if found:
        noun = f"layer {quoted(layer)} of" if layer else "the values of"
        more = "; and more" if found[_TOLD_MAX:] else ""
        raise Invalid(
            f"{noun} application {quoted(application)}: "
            + "; ".join(map(told, found[:_TOLD_MAX]))
            + more,
            hint="give values the application's schema allows, or change the schema first",
        )


@lru_cache(maxsize=SCHEMAS_MAX)
def _compiled_part(schema: Values) -> Checker:
    return Checker(judge_of(schema.data, part=True))


def told(violation: Violation) -> str:
    """A violation as a sentence about its key."""
    return f"{written_path(violation.path) or 'the whole'} {violation.message}"


def _not_missed(schema: dict[str, Value], path: Sequence[str]) -> None:
    """Take the key at ``path`` out of what is required, in copies of what is on the way."""
    first, *below = path
    if not below:
        required = cast("list[Value]", schema.get("required", []))
        schema["required"] = [key for key in required if key != first]
        return
    properties = cast("dict[str, Schema]", schema.get("properties", {}))
    if first in properties:
        inner = dict(properties[first])
        schema["properties"] = {**cast("dict[str, Value]", properties), first: inner}
        _not_missed(inner, below)
