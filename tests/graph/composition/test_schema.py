"""Values against a schema: whole ones, and the part one layer gives."""

from __future__ import annotations

from random import Random
from typing import Any

import jsonschema
import pytest

from graph.composition.judge import VIOLATIONS_MAX
from graph.composition.schema import check_part, check_schema, compile_schema, told
from graph.model.errors import Invalid
from graph.model.values import Values

SCHEMA = Values.of(
    {
        "type": "object",
        "required": ["lanes", "image"],
        "additionalProperties": False,
        "properties": {
            "lanes": {"type": "integer", "minimum": 1, "maximum": 40},
            "mode": {"enum": ["fast", "safe", 1]},
            "on": {"type": "boolean"},
            "pair": {"const": {"a": 1, "b": 2}},
            "title": {"type": "string", "minLength": 2, "maxLength": 5},
            "image": {
                "type": "object",
                "required": ["name", "tag"],
                "properties": {"name": {"type": "string"}, "tag": {"type": "string"}},
            },
            "ports": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
            "env": {
                "type": "array",
                "minItems": 2,
                "items": {"required": ["value"], "properties": {"value": {"type": "string"}}},
            },
        },
    }
)
IMAGE = {"name": "pos", "tag": "v1"}
GOOD: dict[str, Any] = {"lanes": 2, "image": IMAGE}


def sentences(values: dict[str, Any], late: tuple[str, ...] = ()) -> list[str]:
    return [told(each) for each in compile_schema(SCHEMA, late).violations(values)]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"lanes": "two"}, 'lanes must be integer, and is "two"'),
        ({"lanes": 1.5}, "lanes must be integer, and is 1.5"),
        ({"lanes": True}, "lanes must be integer, and is true"),
        ({"lanes": 0}, "lanes must be at least 1, and is 0"),
        ({"lanes": 41}, "lanes must be at most 40, and is 41"),
        ({"mode": "slow"}, 'mode must be "fast" or "safe" or 1, and is "slow"'),
        ({"mode": True}, 'mode must be "fast" or "safe" or 1, and is true'),
        ({"on": 1}, "on must be boolean, and is 1"),
        ({"title": "x"}, "title must have at least 2 characters, and has 1"),
        ({"title": "xxxxxx"}, "title must have at most 5 characters, and has 6"),
        ({"image": {"name": "pos"}}, "image.tag is required and missing"),
        ({"image": {**IMAGE, "tag": 1}}, "image.tag must be string, and is 1"),
        ({"ports": []}, "ports must have at least 1 item, and has 0"),
        ({"ports": [1, 2, 3]}, "ports must have at most 2 items, and has 3"),
        ({"ports": [1, "2"]}, 'ports.1 must be integer, and is "2"'),
        ({"env": [{"name": "x", "value": 1}, {"name": "y", "value": "1"}]}, "env.x.value"),
        ({"lane": 1}, "lane is not a key the schema knows; it knows env, fleet, image, lanes,"),
    ],
)
def test_what_is_wrong_is_told_with_the_key(more: dict[str, Any], sentence: str) -> None:
    found = sentences({**GOOD, **more})
    assert len(found) == 1
    assert found[0].startswith(sentence)


def test_good_values_have_nothing_wrong_and_a_whole_float_is_an_integer() -> None:
    assert sentences(GOOD) == []
    assert sentences({**GOOD, "lanes": 2.0, "mode": 1.0}) == []


def test_a_missing_key_is_told_unless_it_is_bound_late() -> None:
    assert sentences({}) == ["lanes is required and missing", "image is required and missing"]
    assert sentences({"image": IMAGE}, ("lanes",)) == []
    assert sentences({"lanes": 1, "image": {"name": "pos"}}, ("image.tag",)) == []
    assert sentences({"lanes": 1, "image": {"tag": "v1"}}, ("image.tag",)) == [
        "image.name is required and missing"
    ]
    assert sentences({"image": IMAGE}, ("not.in.schema",)) == ["lanes is required and missing"]


def test_what_is_bound_late_in_one_application_is_still_required_in_others() -> None:
    text = SCHEMA.text
    compile_schema(SCHEMA, ("lanes", "image.tag"))
    assert Values.of(SCHEMA.data) == Values.read(text)
    assert len(sentences({})) == 2


def test_fleet_settings_are_no_unknown_key_and_are_judged_when_the_schema_names_them() -> None:
    assert sentences({**GOOD, "fleet": {"proxy": 1}}) == []
    proxied = Values.of({"properties": {"fleet": {"required": ["proxy"]}}})
    found = compile_schema(proxied).violations({"fleet": {}})
    assert [each.path for each in found] == [("fleet", "proxy")]


def test_no_more_is_told_than_anybody_reads() -> None:
    schema = Values.of({"additionalProperties": {"type": "string"}})
    values = {f"k{number}": number for number in range(1_000)}
    assert len(compile_schema(schema).violations(values)) == VIOLATIONS_MAX


@pytest.mark.parametrize(
    "part",
    [
        {},
        {"lanes": None},
        {"image": {"tag": "v2"}},
        {"image": {"name": None}},
        {"pair": {"a": 1}},
        {"env": [{"name": "x"}]},
        {"env": [{"name": "x", "value": None}]},
        {"fleet": {"anything": 1}},
    ],
)
def test_a_part_may_lack_what_others_give_and_remove_what_they_gave(part: dict[str, Any]) -> None:
    check_part(SCHEMA, Values.of(part), "pos", "tx")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"lanes": "two"}, 'layer "tx" of application "pos": lanes must be integer, and is "two"'),
        ({"image": {"tag": 5}}, 'layer "tx" of application "pos": image.tag must be string'),
        ({"image": None, "lane": 5}, 'layer "tx" of application "pos": lane is not a key'),
        ({"ports": [None]}, 'layer "tx" of application "pos": ports.0 must be integer'),
        ({"env": [{"value": "a"}, {}]}, 'layer "tx" of application "pos": env.1.value is required'),
        ({"ports": []}, 'layer "tx" of application "pos": ports must have at least 1 item'),
    ],
)
def test_a_part_that_can_never_satisfy_the_schema_is_refused(
    part: dict[str, Any], message: str
) -> None:
    with pytest.raises(Invalid) as refused:
        check_part(SCHEMA, Values.of(part), "pos", "tx")
    assert refused.value.message.startswith(message)


def test_the_applications_own_values_are_a_part_too() -> None:
    with pytest.raises(Invalid, match='the values of application "pos": lanes must be integer'):
        check_part(SCHEMA, Values.of({"lanes": "two"}), "pos")


def test_a_refused_part_tells_a_few_and_that_there_are_more() -> None:
    part = Values.of({f"k{number}": 1 for number in range(9)})
    with pytest.raises(Invalid) as refused:
        check_part(SCHEMA, part, "pos", "tx")
    assert refused.value.message.count("is not a key") == 3
    assert refused.value.message.endswith("; and more")


class Things:
    """Random schemas of the subset, and random values that often satisfy them."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def schema(self, depth: int = 3) -> dict[str, Any]:
        rng, said = self.rng, dict[str, Any]()
        if rng.random() < 0.6:
            kinds = ["integer", "number", "string", "boolean", "null", "array", "object"]
            said["type"] = rng.choice(kinds[:5] if depth == 0 else kinds)
            if rng.random() < 0.2:
                said["type"] = [said["type"], rng.choice(kinds)]
        for word in ("minimum", "maximum"):
            if rng.random() < 0.15:
                said[word] = rng.choice((0, 1, 1.5, 2))
        for word in ("minLength", "maxLength", "minItems", "maxItems"):
            if rng.random() < 0.15:
                said[word] = rng.randint(0, 2)
        if rng.random() < 0.1:
            said["enum"] = [self.value(1) for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.03:
            said["const"] = self.value(1)
        return said | self.below(depth - 1) if depth else said

    def below(self, depth: int) -> dict[str, Any]:
        rng, said = self.rng, dict[str, Any]()
        if rng.random() < 0.3:
            said["items"] = self.schema(depth)
        if rng.random() < 0.6:
            said["properties"] = {key: self.schema(depth) for key in "abc" if rng.random() < 0.6}
        if rng.random() < 0.3:
            said["required"] = [key for key in "abcd" if rng.random() < 0.3]
        if rng.random() < 0.3:
            said["additionalProperties"] = rng.choice((True, False, self.schema(depth)))
        return said

    def value(self, depth: int = 3) -> Any:
        rng = self.rng
        scalars = [0, 1, 1.0, 1.5, 2, True, False, None, "", "x", "xyz"]
        kind = rng.random() if depth else 0
        if kind < 0.5:
            return rng.choice(scalars)
        if kind < 0.65:
            return [self.value(depth - 1) for _ in range(rng.randint(0, 3))]
        return {key: self.value(depth - 1) for key in "abcd" if rng.random() < 0.5}

    def map(self) -> dict[str, Any]:
        return {key: self.value(2) for key in "abcd" if self.rng.random() < 0.5}

    def part(self, values: Any) -> Any:
        """Some of ``values``: keys left out, or removed by null."""
        if not isinstance(values, dict):
            return values
        kept = {key: self.part(each) for key, each in values.items() if self.rng.random() < 0.6}
        gone = {key: None for key in "abcd" if key not in kept and self.rng.random() < 0.2}
        return kept | gone


def test_the_subset_judges_as_the_reference_implementation_does() -> None:
    outcomes = {True: 0, False: 0}
    for seed in range(1_500):
        things = Things(Random(seed))
        schema = things.schema() | {"type": "object"}
        check_schema(Values.of(schema))
        checker = compile_schema(Values.of(schema))
        validator = jsonschema.Draft202012Validator(schema)
        for _ in range(3):
            values = things.map()
            valid = validator.is_valid(values)
            assert (checker.violations(values) == []) is valid, (schema, values)
            outcomes[valid] += 1
    assert min(outcomes.values()) > 600, outcomes


def test_a_part_of_values_that_satisfy_a_schema_is_never_refused() -> None:
    judged = 0
    for seed in range(1_500):
        things = Things(Random(seed))
        schema = Values.of(things.schema() | {"type": "object"})
        values = things.map()
        if not compile_schema(schema).violations(values):
            check_part(schema, Values.of(things.part(values)), "pos", "tx")
            judged += 1
    assert judged > 300, judged
