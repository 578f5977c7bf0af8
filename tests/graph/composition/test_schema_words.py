"""Schemas that are refused, and what the refusal says."""

from __future__ import annotations

import pytest

from graph.composition.schema import check_schema
from graph.model.errors import Invalid
from graph.model.values import Values

EVERY_WORD: dict[str, object] = {
    "title": "Point of sale",
    "description": "What a store may set",
    "type": "object",
    "required": ["lanes"],
    "properties": {
        "lanes": {"type": "integer", "minimum": 1, "maximum": 40, "default": 2},
        "mode": {"enum": ["a", 1, None]},
        "fixed": {"const": {"a": 1}},
        "text": {"type": ["string", "null"], "minLength": 1, "maxLength": 9},
        "list": {"type": "array", "items": {"type": "number"}, "minItems": 0, "maxItems": 3},
    },
    "additionalProperties": {"type": "boolean"},
}


def test_a_schema_of_every_word_understood_is_taken() -> None:
    check_schema(Values.of(EVERY_WORD))
    check_schema(Values.of({}))


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "text"}, '"type" in the schema is "text"'),
        ({"type": []}, '"type" in the schema is []'),
        ({"type": ["object", "int"]}, '"type" in the schema is ["object", "int"]'),
        ({"properties": ["a"]}, '"properties" in the schema is ["a"]'),
        ({"properties": {"a": True}}, '"properties.a" in the schema is no map of words'),
        ({"properties": {"a": {"minimum": "1"}}}, '"properties.a.minimum" in the schema is "1"'),
        ({"properties": {"a": {"maximum": True}}}, '"properties.a.maximum" in the schema is true'),
        ({"required": "a"}, '"required" in the schema is "a"'),
        ({"required": [1]}, '"required" in the schema is [1]'),
        ({"items": [{}]}, '"items" in the schema is [{}]'),
        ({"items": {"maxItems": -1}}, '"items.maxItems" in the schema is -1'),
        ({"minLength": 1.5}, '"minLength" in the schema is 1.5'),
        ({"enum": []}, '"enum" in the schema is []'),
        ({"additionalProperties": "no"}, '"additionalProperties" in the schema is "no"'),
        (
            {"additionalProperties": {"$ref": "#"}},
            '"additionalProperties.$ref" in the schema is not understood',
        ),
        ({"title": 1}, '"title" in the schema is 1'),
        ({"type": "array"}, "the schema asks for values that are no map"),
    ],
)
def test_a_word_misused_is_refused_with_where_it_is(
    schema: dict[str, object], message: str
) -> None:
    with pytest.raises(Invalid) as refused:
        check_schema(Values.of(schema))
    assert refused.value.message == message
    assert refused.value.hint


def test_a_word_not_understood_is_refused_with_those_that_are() -> None:
    with pytest.raises(Invalid) as refused:
        check_schema(Values.of({"properties": {"a": {"minimun": 1}}}))
    assert refused.value.message == '"properties.a.minimun" in the schema is not understood'
    assert refused.value.hint.startswith("did you mean minimum")
    assert "additionalProperties" in refused.value.hint


def test_a_pattern_is_refused_with_the_reason() -> None:
    with pytest.raises(Invalid) as refused:
        check_schema(Values.of({"properties": {"a": {"pattern": "(a+)+$"}}}))
    assert "stall everybody" in refused.value.hint
