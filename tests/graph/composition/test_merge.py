"""The merge rules, one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graph.composition.merge import differing, leaves, merge, paths, same

Values = dict[str, Any]


@pytest.mark.parametrize(
    ("weak", "strong", "merged"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"m": {"a": 1, "b": 1}}, {"m": {"b": 2}}, {"m": {"a": 1, "b": 2}}),
        ({"m": {"a": 1}}, {"m": {}}, {"m": {"a": 1}}),
        ({"m": {"a": 1}}, {"m": 5}, {"m": 5}),
        ({"m": 5}, {"m": {"a": 1}}, {"m": {"a": 1}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": [{"x": 1}]}, {"a": [{"y": 1}]}, {"a": [{"y": 1}]}),
    ],
)
def test_maps_merge_and_everything_else_replaces(
    weak: Values, strong: Values, merged: Values
) -> None:
    assert merge(weak, strong) == merged


def test_null_removes_a_key_wherever_it_is() -> None:
    weak = {"a": 1, "m": {"a": 1, "b": {"c": 1}}}
    assert merge(weak, {"a": None, "m": {"b": None}}) == {"m": {"a": 1}}


def test_a_map_emptied_by_null_stays_a_map() -> None:
    assert merge({"m": {"a": 1}}, {"m": {"a": None}}) == {"m": {}}


def test_null_leaves_no_trace_where_there_was_nothing_to_remove() -> None:
    assert merge({}, {"a": None, "m": {"b": None, "c": 1}}) == {"m": {"c": 1}}


def test_null_inside_a_list_that_replaces_is_a_value() -> None:
    assert merge({}, {"a": [None, {"b": None}]}) == {"a": [None, {"b": None}]}


def test_lists_of_named_items_merge_by_name_and_keep_their_order() -> None:
    weak = {"env": [{"name": "b", "value": "1"}, {"name": "a", "value": "2"}]}
    strong = {"env": [{"name": "c"}, {"name": "b", "value": None, "from": "secret"}]}
    assert merge(weak, strong) == {
        "env": [{"name": "b", "from": "secret"}, {"name": "a", "value": "2"}, {"name": "c"}]
    }


@pytest.mark.parametrize(
    "strong",
    [
        [],
        [{"name": "a"}, {"no": "name"}],
        [{"name": "a"}, {"name": "a"}],
        [{"name": 1}],
        [{"name": "a"}, 1],
    ],
    ids=["empty", "one nameless", "one name twice", "a name that is no text", "one no map"],
)
def test_a_list_whose_items_are_not_all_named_apart_replaces(strong: list[Any]) -> None:
    assert merge({"a": [{"name": "z"}]}, {"a": strong}) == {"a": strong}


def test_named_items_over_another_kind_of_list_replace_it() -> None:
    assert merge({"a": [1, 2]}, {"a": [{"name": "x", "y": None}]}) == {"a": [{"name": "x"}]}


def test_merging_changes_neither_side() -> None:
    weak = {"m": {"a": {"b": 1}}, "env": [{"name": "x", "v": {"k": 1}}]}
    strong = {"m": {"a": {"c": 2}}, "env": [{"name": "x", "v": {"k": 2}}, {"name": "y"}]}
    before = json.dumps([weak, strong])
    merge(weak, strong)
    assert json.dumps([weak, strong]) == before


def test_leaves_are_what_is_not_taken_apart() -> None:
    values = {"m": {"a": 1, "e": {}}, "l": [1], "none": [], "env": [{"name": "x", "v": 2}]}
    assert dict(leaves(values)) == {
        ("m", "a"): 1,
        ("m", "e"): {},
        ("l",): [1],
        ("none",): [],
        ("env", "x", "name"): "x",
        ("env", "x", "v"): 2,
    }


def test_paths_are_those_of_leaves_and_of_what_holds_them() -> None:
    found = paths({"m": {"a": 1}, "env": [{"name": "x"}]})
    assert sorted(found) == [("env",), ("env", "x"), ("env", "x", "name"), ("m",), ("m", "a")]


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [
        ({"a": 1}, {"b": 2}, []),
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [("a",)]),
        ({"a": 1}, {"a": True}, [("a",)]),
        ({"a": 1}, {"a": 1.0}, [("a",)]),
        ({"m": {"a": 1}}, {"m": {"b": 1}}, []),
        ({"m": {"a": 1, "b": 1}}, {"m": {"b": 2, "a": 2}}, [("m", "a"), ("m", "b")]),
        ({"m": {"a": 1}}, {"m": {}}, []),
        ({"m": {"a": 1}}, {"m": 1}, [("m",)]),
        ({"m": {"a": 1}}, {"m": None}, [("m",)]),
        ({"m": None}, {"m": None}, []),
        ({"a": [1, {"b": 1}]}, {"a": [1, {"b": 1}]}, []),
        ({"a": [1, {"b": 1}]}, {"a": [1, {"b": True}]}, [("a",)]),
        ({"e": [{"name": "x", "v": 1}]}, {"e": [{"name": "y", "v": 2}]}, []),
        ({"e": [{"name": "x", "v": 1}]}, {"e": [{"name": "x", "v": 2}]}, [("e", "x", "v")]),
        ({"e": [{"name": "x"}]}, {"e": []}, [("e",)]),
    ],
)
def test_maps_differ_where_both_give_a_leaf_another_value(
    one: Values, other: Values, where: list[tuple[str, ...]]
) -> None:
    assert list(differing(one, other)) == where
    assert list(differing(other, one)) == where


def test_values_are_the_same_when_they_are_written_alike() -> None:
    assert same({"a": [1, None]}, {"a": [1, None]})
    assert not same({"a": [1]}, {"a": [1, 1]})
    assert not same({"a": 1}, {"b": 1})
    assert not same([0], [False])
