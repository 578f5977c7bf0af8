"""Keys bound late: taken out of layers, filled in per cluster."""

from __future__ import annotations

import pytest

from graph.composition.late import fill, split
from graph.model.inventory import LabelValue
from graph.model.referring import labels_in
from graph.model.values import Values
from graph.model.workload import LateBound

LABELS: dict[str, LabelValue] = {
    "store": 1042,
    "share": 1.5,
    "open": True,
    "shut": False,
    "city": "são {cluster}",
}


@pytest.mark.parametrize(
    ("source", "filled"),
    [
        ("{cluster}", "austin-1"),
        ("pos-{store}.example.com", "pos-1042.example.com"),
        ("{share} {open} {shut}", "1.5 true false"),
        ("{store}/{store}", "1042/1042"),
        ("plain", "plain"),
        ("{Not A Key} {}", "{Not A Key} {}"),
    ],
)
def test_a_source_is_filled_with_the_clusters_name_and_labels(source: str, filled: str) -> None:
    assert fill(LateBound("host", source), "austin-1", LABELS.get) == filled


def test_what_a_label_says_is_not_filled_in_again() -> None:
    assert fill(LateBound("host", "{city}"), "austin-1", LABELS.get) == "são {cluster}"


def test_there_is_no_value_when_a_label_is_missing_or_there_is_no_source() -> None:
    assert fill(LateBound("host", "{store}-{gone}"), "austin-1", LABELS.get) is None
    assert fill(LateBound("host"), "austin-1", LABELS.get) is None


def test_the_labels_a_source_is_filled_from_are_those_it_refers_to() -> None:
    late = LateBound("host", "{cluster}-{store}-{example.com/X_y}-{X}-{ }")
    asked: list[str] = []

    def label(key: str) -> LabelValue:
        asked.append(key)
        return "v"

    assert fill(late, "c", label) == "c-v-v-v-{ }"
    assert sorted(asked) == sorted(labels_in(late))


def test_late_bound_keys_are_split_off_by_path() -> None:
    values = Values.of({"host": "a", "image": {"tag": "v1", "name": "pos"}, "size": 1})
    rest, bound = split(values, ["host", "image.tag", "absent", "size.below"])
    assert rest == {"image": {"name": "pos"}, "size": 1}
    assert bound == {"host": "a", "image.tag": "v1"}
    assert values == Values.of({"host": "a", "image": {"tag": "v1", "name": "pos"}, "size": 1})


def test_a_map_that_held_only_late_bound_keys_goes_with_them() -> None:
    rest, bound = split(Values.of({"a": {"b": {"c": 1}}, "empty": {}}), ["a.b.c"])
    assert rest == {"empty": {}}
    assert bound == {"a.b.c": 1}


def test_null_for_a_late_bound_key_is_split_off_like_a_value() -> None:
    assert split(Values.of({"host": None}), ["host"]) == ({}, {"host": None})
