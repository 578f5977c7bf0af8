"""Sizes: the numbers of a value that a cost depends on, and no others."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import parse_const_value, parse_value

from api.execution.sizes import BATCH_MAX, COMMAND, LISTED, TOO_LARGE, Size, Sizes, size_of
from api.settings import ApiSettings
from graph.model.command import COMMANDS_MAX

SAME = [
    ("7", 7, Size(7, 1, 0)),
    ("-7", -7, Size(0, 1, 0)),
    ('"7"', "7", Size(0, 1, 0)),
    ('"cluster:7@1"', "cluster:7@1", Size(0, 1, 0, earlier=True)),
    ('["a", "b@1"]', ["a", "b@1"], Size(0, 2, 2 * LISTED, earlier=True)),
    ("null", None, Size(0, 1, 0)),
    ("[]", [], Size(0, 0, 0)),
    ("[1, 2]", [1, 2], Size(0, 2, 2 * LISTED)),
    ("[[1, 2], [3]]", [[1, 2], [3]], Size(0, 2, 5 * LISTED)),
    (
        "{or: [{text: 1}, {and: [2, 3]}]}",
        {"or": [{"text": 1}, {"and": [2, 3]}]},
        Size(0, 1, 4 * LISTED),
    ),
    (
        "{commands: [{a: [1]}, {b: 2}]}",
        {"commands": [{"a": [1]}, {"b": 2}]},
        Size(0, 1, 2 * COMMAND + LISTED),
    ),
]


@pytest.mark.parametrize(("written", "sent", "size"), SAME)
def test_a_value_has_one_size_whether_it_is_written_or_sent(written, sent, size):
    assert Sizes({}, {}).of(parse_value(written)) == size_of(sent)
    assert size_of(sent) == size


@pytest.mark.parametrize("large", [10**21, 1e300, float("inf"), 10**400])
def test_a_number_larger_than_any_page_counts_as_too_large(large):
    assert size_of(large).number == TOO_LARGE
    assert Sizes({}, {}).of(parse_value("9" * 5_000)) == Size(TOO_LARGE, 1, 0)


@pytest.mark.parametrize(("given", "number"), [(2.0, 2), (2.9, 2), (True, 1), (-1e300, 0)])
def test_what_counts_as_a_number_counts_as_a_whole_one(given, number):
    assert size_of(given) == Size(number, 1, 0)


def test_a_variable_has_the_size_it_is_given_or_that_of_its_default_or_none():
    sizes = Sizes(
        {"a": Size(0, 4, 9)}, {"a": parse_const_value("1"), "b": parse_const_value("[1, 2]")}
    )
    assert sizes.of(parse_value("$a")) == Size(0, 4, 9)
    assert sizes.of(parse_value("$b")) == Size(0, 2, 2 * LISTED)
    assert sizes.of(parse_value("$c")) is None
    assert sizes.of(parse_value("{x: [$a, $c], commands: $a}")) == Size(
        0, 1, 2 * LISTED + 9 + 9 + 3 * 4
    )
    assert sizes.variables == {"a", "b", "c"}


def test_a_value_nested_as_deeply_as_one_likes_is_measured():
    nested: Any = []
    for _ in range(100_000):
        nested = [{"not": nested}]
    assert size_of(nested) == Size(0, 1, 100_000 * LISTED)


@pytest.mark.parametrize("each", [{"leave": {}}, {"registerCluster": {"labels": [1] * 30}}])
def test_one_batch_is_always_affordable_and_a_second_large_one_is_not(each):
    batch = size_of({"reason": "r", "commands": [each] * COMMANDS_MAX})
    assert batch == Size(0, 1, BATCH_MAX)
    assert BATCH_MAX < ApiSettings().cost_max < 2 * BATCH_MAX
    assert size_of({"commands": [each] * 10}).weight <= size_of({"commands": [each] * 11}).weight
    assert size_of([each] * COMMANDS_MAX).weight > 0
