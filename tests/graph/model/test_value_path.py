"""Paths of values: keys with dots between, and a dot inside a key escaped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.errors import Invalid
from graph.model.value_path import check_value_path, overlap, value_path, written_path
from kubernetes_names import value_keys


@given(st.lists(value_keys, min_size=1, max_size=4))
def test_any_key_of_a_config_map_can_be_named_and_means_one_value(keys: list[str]) -> None:
    written = check_value_path(written_path(keys))
    assert value_path(written) == tuple(keys)


@pytest.mark.parametrize(
    "written", ["a", "image.tag", "A_b-c.0.d", "x" * 253, r"app\.properties.level", r"\.hidden"]
)
def test_a_path_is_taken_as_it_is(written: str) -> None:
    assert check_value_path(written) == written


@pytest.mark.parametrize(
    "written",
    [
        *("", ".", "a.", ".a", "a..b", "a/b", "a[0]", " ", "a b", "a\n", "ä", "{{x}}", "a\x00"),
        *("a\\b", "a\\\\.b", "a\\", r"\.", r"\.\.x", "x" * 254, ".".join(["x" * 100] * 20)),
    ],
)
def test_what_names_no_value_is_refused_with_the_rule(written: str) -> None:
    with pytest.raises(Invalid, match="is not the key of a value") as refusal:
        check_value_path(written)
    assert r"a dot inside a key is written \." in refusal.value.hint


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("a", "a", True),
        ("a", "a.b", True),
        ("a.b", "a.b.c", True),
        ("a", "ab", False),
        ("a.b", "a.c", False),
        (r"a\.b", "a", False),
        (r"a\.b", "a.b", False),
        (r"a\.b", r"a\.b.c", True),
    ],
)
def test_paths_overlap_when_one_lies_inside_the_other(one: str, other: str, found: bool) -> None:
    assert overlap(one, other) is found
    assert overlap(other, one) is found
