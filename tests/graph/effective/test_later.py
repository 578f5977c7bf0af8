"""Mappings that are put together when somebody reads them."""

from __future__ import annotations

import pytest

from graph.effective.later import Beside, Later, settled


def test_a_mapping_is_made_when_it_is_read_and_once():
    made: list[int] = []

    def make() -> dict[str, int]:
        made.append(1)
        return {"a": 1, "b": 2}

    later = Later(make)
    assert made == []
    assert later["a"] == 1
    assert (later.get("b"), later.get("c"), later.get("c", 7)) == (2, None, 7)
    assert (list(later), len(later), "a" in later, "c" in later) == (["a", "b"], 2, True, False)
    assert (set(later.keys()), list(later.values())) == ({"a", "b"}, [1, 2])
    assert (dict(later.items()), later == {"a": 1, "b": 2}) == ({"a": 1, "b": 2}, True)
    assert made == [1]


def test_what_is_put_off_is_never_put_off_twice():
    inner = Later(lambda: {"a": 1})
    outer = Later(lambda: inner)
    assert isinstance(settled(outer), dict)
    assert settled({"b": 2}) == {"b": 2}


def test_a_failure_to_make_it_is_told_again():
    def fail() -> dict[str, int]:
        raise ValueError("no")

    later = Later(fail)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            len(later)


def test_what_is_beside_another_stands_in_front_of_it():
    both = Beside({"a": 1}, {"a": 0, "b": 2})
    assert dict(both) == {"a": 1, "b": 2}
    assert (len(both), both.get("c")) == (2, None)
    with pytest.raises(KeyError):
        both["c"]
