"""Clusters as they travel: their places and labels, and what is refused of them once."""

from __future__ import annotations

from typing import Any

import pytest

from asking import ask, data
from doors import TEXAN
from engines import give
from graph.model.command import SaveSelector

ROWS = "{ fleet { revision clusters(first: 5) { nodes { name %s } } } }"
EDGES = "{ fleet { revision clusters(first: 5) { edges { node { name %s } } } } }"


async def rows(engine: Any, field: str, **more: Any) -> list[Any]:
    found = await data(engine, ROWS % field, **more)
    return [each["it"] for each in found["fleet"]["clusters"]["nodes"]]


async def test_a_cluster_has_one_place_or_all_of_them(fleet):
    one = await rows(fleet, 'it: place(hierarchy: "geo")')
    assert await rows(fleet, 'it: places(hierarchy: "geo")') == [[each] for each in one]
    many = await rows(fleet, 'it: places(hierarchy: "devices")')
    assert [] in many
    assert ["/devices/camera", "/devices/grill", "/devices/grill/acme3000"] in many
    assert set(map(tuple, await rows(fleet, 'it: places(hierarchy: "empty")'))) == {()}


REFUSED = {
    'place(hierarchy: "devices")': ("INVALID", 'use places(hierarchy: "devices")'),
    'place(hierarchy: "gio")': ("NOT_FOUND", "did you mean geo"),
    'label(key: "sise")': ("NOT_FOUND", "did you mean size"),
}


@pytest.mark.parametrize("field", REFUSED)
@pytest.mark.parametrize("query", [ROWS, EDGES], ids=["nodes", "edges"])
async def test_what_cannot_be_asked_of_any_is_refused_once_for_the_list(fleet, query, field):
    answer = await ask(fleet, query % f"it: {field}")
    (error,) = answer["errors"]
    code, hint = REFUSED[field]
    assert error["extensions"]["code"] == code
    assert hint in error["extensions"]["hint"]
    found = answer["data"]["fleet"]["clusters"]
    shown = found.get("nodes") or [each["node"] for each in found["edges"]]
    assert [each["it"] for each in shown] == [None] * 5
    assert all(each["name"] for each in shown), "the other columns are answered"


@pytest.mark.parametrize("field", REFUSED)
async def test_one_cluster_alone_is_refused_it_too(fleet, field):
    answer = await ask(
        fleet, f'{{ fleet {{ cluster(name: "austin-00") {{ name it: {field} }} }} }}'
    )
    assert answer["errors"][0]["extensions"]["code"] == REFUSED[field][0]
    assert answer["data"]["fleet"]["cluster"] == {"name": "austin-00", "it": None}


async def test_places_of_no_hierarchy_are_refused_with_their_list(fleet):
    answer = await ask(fleet, ROWS % 'places(hierarchy: "gio")')
    (error,) = answer["errors"]
    assert (error["extensions"]["code"], error["extensions"]["path"]) == (
        "NOT_FOUND",
        ["hierarchy"],
    )
    assert answer["data"] == {"fleet": {"revision": 2, "clusters": None}}


@pytest.mark.parametrize("field", ['place(hierarchy: "{}")', 'label(key: "{}")'])
async def test_a_hidden_name_is_refused_as_one_that_is_not_there(fleet, field):
    hidden = "empty" if "place" in field else "open"
    told = [
        await ask(fleet, ROWS % f"it: {field.format(name)}", actor=TEXAN) for name in (hidden, "zz")
    ]
    assert str(told[0]).replace(hidden, "zz") == str(told[1])
    assert told[0]["errors"][0]["extensions"]["code"] == "NOT_FOUND"
    assert hidden not in told[1]["errors"][0]["extensions"]["hint"]


async def test_the_saved_selectors_of_a_cluster_come_a_part_at_a_time(fleet):
    await give(fleet, *(SaveSelector(f"s-{place:02}", "all") for place in range(60)))
    query = """query ($first: Int!, $after: Name) { fleet { cluster(name: "dallas-21") {
        savedSelectors(first: $first, after: $after) { name } } } }"""
    seen: list[str] = []
    while True:
        found = await data(fleet, query, first=25, after=seen[-1] if seen else None)
        part = [each["name"] for each in found["fleet"]["cluster"]["savedSelectors"]]
        seen += part
        if len(part) < 25:
            break
    assert seen == ["grills", *(f"s-{place:02}" for place in range(60)), "texas"]
    plain = await data(
        fleet, '{ fleet { cluster(name: "dallas-21") { savedSelectors { name } } } }'
    )
    assert len(plain["fleet"]["cluster"]["savedSelectors"]) == 50
