"""The structured form: the same tree, and refusals that lead to the place."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from changes import random_fleet, random_selector
from graph.model.errors import NotFound, SelectorInvalid, SelectorNotFound, Span, TrellisError
from graph.model.selector import InNamespace, Not
from graph.targeting.normal import CLAUSES_MAX, DEPTH_MAX, LIST_LENGTH_MAX, normal
from graph.targeting.parser import parse
from graph.targeting.structured import from_structured, to_structured
from graph.targeting.syntax import to_text
from twin import Twin

LANES = {"key": "lanes", "comparison": ">=", "value": 2}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"everything": True}, "all"),
        ({"group": "/geo/us"}, "/geo/us"),
        ({"group": "/geo/*/west"}, "/geo/*/west"),
        ({"only": "/geo/us"}, "only /geo/us"),
        ({"only": "/geo/*"}, "only /geo/*"),
        ({"label": LANES}, "lanes >= 2"),
        ({"label": {"key": "size", "in": ["large", "small"]}}, "size in (large, small)"),
        ({"label": {"key": "lanes", "has": True}}, "has lanes"),
        ({"cluster": "ny-1"}, "cluster ny-1"),
        ({"not": {"group": "/geo"}}, "not /geo"),
        ({"and": [{"group": "/geo"}, {"label": LANES}]}, "/geo and lanes >= 2"),
        ({"or": [{"group": "/geo"}, {"label": LANES}]}, "/geo or lanes >= 2"),
        ({"and": [{"group": "/geo"}]}, "/geo"),
        (
            {"except": {"from": {"group": "/geo"}, "without": {"cluster": "2"}}},
            "/geo except cluster 2",
        ),
        ({"text": "/geo and lanes >= 2"}, "/geo and lanes >= 2"),
        (
            {"and": [{"text": "/geo and has size"}, {"label": LANES}]},
            "/geo and has size and lanes >= 2",
        ),
        ({"group": "/geo", "only": None}, "/geo"),
    ],
)
def test_text_and_the_structured_form_are_the_same_tree(
    data: dict[str, Any], text: str, twin: Twin
) -> None:
    assert from_structured(data, twin) == parse(text, twin)


@pytest.mark.parametrize("seed", range(40))
def test_any_tree_is_read_back_from_its_structured_form(seed: int) -> None:
    rng = Random(seed)
    twin = Twin.of(random_fleet(rng))
    for _ in range(25):
        tree = normal(random_selector(rng, twin, depth=rng.randint(0, 5)))
        data = to_structured(tree, twin)
        assert from_structured(data, twin) == tree
        assert from_structured({"text": to_text(tree, twin)}, twin) == tree


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({}, ()),
        ({"group": "/geo", "only": "/geo"}, ()),
        ({"groups": "/geo"}, ()),
        ({"and": []}, ("and",)),
        ({"and": {"group": "/geo"}}, ("and",)),
        ({"and": [{"group": "/geo"}, "all"]}, ("and", 1)),
        ({"and": [{"group": "/geo"}, {"or": [{"only": 3}]}]}, ("and", 1, "or", 0, "only")),
        ({"not": {"not": {"cluster": "nobody"}}}, ("not", "not", "cluster")),
        ({"except": {"from": {"group": "/geo"}}}, ("except",)),
        (
            {"except": {"from": {"group": "/geo"}, "without": {"group": "/gio"}}},
            ("except", "without", "group"),
        ),
        ({"everything": False}, ("everything",)),
        ({"group": "geo"}, ("group",)),
        ({"group": "/geo/"}, ("group",)),
        ({"group": "/m/type/corp"}, ("group",)),
        ({"label": "lanes"}, ("label",)),
        ({"label": {"key": "lanes"}}, ("label",)),
        ({"label": {"key": "lanes", "has": False}}, ("label",)),
        ({"label": {"key": "lanes", "has": True, "in": [1]}}, ("label",)),
        ({"label": {"key": "lane", "has": True}}, ("label", "key")),
        ({"label": {"has": True}}, ("label", "key")),
        ({"label": {**LANES, "comparison": "=="}}, ("label", "comparison")),
        (
            {"label": {"key": "size", "comparison": "<", "value": "x"}},
            ("label", "comparison"),
        ),
        ({"label": {**LANES, "value": "2"}}, ("label", "value")),
        ({"label": {**LANES, "value": True}}, ("label", "value")),
        ({"label": {**LANES, "value": [2]}}, ("label", "value")),
        ({"label": {**LANES, "value": float("inf")}}, ("label", "value")),
        ({"label": {"key": "store", "comparison": "=", "value": 2301}}, ("label", "value")),
        ({"label": {"key": "size", "comparison": "=", "value": "a\0"}}, ("label", "value")),
        ({"label": {"key": "lanes", "in": []}}, ("label", "in")),
        ({"label": {"key": "lanes", "in": [1, "two"]}}, ("label", "in", 1)),
        ({"saved": "nobody"}, ("saved",)),
        ({"namespace": "grill"}, ("namespace",)),
        ({"or": [{"text": "/gio"}]}, ("or", 0, "text")),
    ],
)
def test_a_refusal_leads_to_the_place_in_the_input(
    data: dict[str, Any], path: tuple[str | int, ...], twin: Twin
) -> None:
    with pytest.raises(TrellisError) as caught:
        from_structured(data, twin)
    assert caught.value.path == path
    assert caught.value.hint


def test_a_refused_path_has_a_column_of_its_own(twin: Twin) -> None:
    with pytest.raises(SelectorNotFound) as caught:
        from_structured({"and": [{"group": "/geo/uss"}]}, twin)
    assert caught.value.span == Span(column=6, length=3)
    assert caught.value.text == "/geo/uss"


def test_text_inside_keeps_its_column(twin: Twin) -> None:
    with pytest.raises(SelectorInvalid) as caught:
        from_structured({"not": {"text": "size = large AND all"}}, twin)
    assert caught.value.span == Span(column=14, length=3)


def test_a_namespace_is_given_by_its_name(twin: Twin, assign: Callable[..., None]) -> None:
    with pytest.raises(NotFound, match="no namespace called"):
        from_structured({"namespace": "grill"}, twin)
    assign("grill")
    data = {"not": {"namespace": "grill"}}
    assert from_structured(data, twin) == Not(InNamespace("grill"))
    assert to_structured(Not(InNamespace("grill")), twin) == data


def nested(depth: int) -> dict[str, Any]:
    data: dict[str, Any] = {"everything": True}
    for _ in range(depth):
        data = {"not": data}
    return data


WIDE = {"or": [{"and": [{"everything": True}] * 1_000}] * 1_000}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (nested(DEPTH_MAX + 1), "64 deep"),
        (nested(900), "64 deep"),
        ({"and": [nested(DEPTH_MAX), nested(DEPTH_MAX)]}, "64 deep"),
        ({"not": {"text": "not (" * 63 + "not all" + ")" * 63}}, "64 deep"),
        ({"or": [{"everything": True}] * (CLAUSES_MAX + 1)}, "1,000 clauses"),
        (WIDE, "1,000 clauses"),
        ({"or": [{"text": "has size or has lanes"}] * 501}, "1,000 clauses"),
        ({"label": {"key": "lanes", "in": [1] * (LIST_LENGTH_MAX + 1)}}, "too many values"),
        ({"text": "x" * 2**20}, "characters"),
    ],
)
def test_the_bounds_are_those_of_text(data: dict[str, Any], says: str, twin: Twin) -> None:
    start = time.process_time()
    with pytest.raises(TrellisError, match=says):
        from_structured(data, twin)
    assert time.process_time() - start < 1


def test_what_is_just_within_the_bounds_is_read(twin: Twin) -> None:
    from_structured(nested(DEPTH_MAX), twin)
    many = [{"label": {"key": "lanes", "comparison": "=", "value": n}} for n in range(CLAUSES_MAX)]
    from_structured({"or": many}, twin)
