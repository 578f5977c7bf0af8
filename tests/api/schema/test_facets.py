"""Counts along the business: bounded, in either order, a part at a time."""

from __future__ import annotations

from math import isqrt
from typing import Any

import pytest

from api.schema.facets import CELLS_MAX
from asking import ask, data
from doors import TEXAN
from engines import give
from graph.model.command import DeclareLabel, RegisterCluster
from graph.model.inventory import LabelType

FACET = """query ($by: FacetInput!, $order: BucketOrder!, $first: Int!, $after: LabelValue) {
    fleet { facets(by: [$by]) { bucketCount
        buckets(orderBy: $order, first: $first, after: $after) { value title count share } } } }"""
BY = ({"label": "lanes"}, {"label": "size"}, {"label": "open"}, {"group": "/geo/us/tx"})


async def facet(engine: Any, by: dict[str, str], **given: Any) -> Any:
    asked = {"by": by, "order": "VALUE", "first": 100, "after": None} | given
    (found,) = (await data(engine, FACET, **asked))["fleet"]["facets"]
    return found


async def refusal(engine: Any, by: dict[str, str], **given: Any) -> dict[str, Any]:
    asked = {"by": by, "order": "VALUE", "first": 100, "after": None} | given
    answer = await ask(engine, FACET, asked)
    assert answer["data"] == {"fleet": {"facets": None}}
    return answer["errors"][0]["extensions"]


@pytest.mark.parametrize("by", BY, ids=str)
@pytest.mark.parametrize("order", ["VALUE", "COUNT"])
async def test_parts_of_a_facet_are_the_whole_of_it(fleet, by, order):
    whole = await facet(fleet, by, order=order)
    assert whole["bucketCount"] == len(whole["buckets"]) >= 2
    seen: list[dict[str, Any]] = []
    for _ in whole["buckets"]:
        after = seen[-1]["value"] if seen else None
        part = await facet(fleet, by, order=order, first=1, after=after)
        assert part["bucketCount"] == whole["bucketCount"]
        seen += part["buckets"]
    assert seen == whole["buckets"]


async def test_the_largest_come_first_and_equals_by_value(fleet):
    by_value = (await facet(fleet, {"label": "lanes"}))["buckets"]
    by_count = (await facet(fleet, {"label": "lanes"}, order="COUNT"))["buckets"]
    assert [each["value"] for each in by_value] == sorted(each["value"] for each in by_value)
    assert by_count == sorted(by_value, key=lambda each: (-each["count"], each["value"]))


async def test_a_facet_by_value_goes_on_behind_a_value_that_is_gone(fleet):
    found = await facet(fleet, {"label": "size"}, after="medium")
    assert [each["value"] for each in found["buckets"]] == ["small"]


async def test_a_value_that_is_none_of_the_dimension_is_refused(fleet):
    by_text = await refusal(fleet, {"label": "lanes"}, after="large")
    assert (by_text["code"], by_text["path"]) == ("INVALID", ["after"])
    gone = await refusal(fleet, {"label": "size"}, after="medium", order="COUNT")
    assert gone["code"] == "INVALID" and "without `after`" in gone["hint"]


@pytest.mark.parametrize("first", [-1, 1_001])
async def test_buckets_out_of_bounds_are_refused(fleet, first):
    refused = await refusal(fleet, {"label": "size"}, first=first)
    assert (refused["code"], refused["path"]) == ("INVALID", ["first"])


async def test_groups_are_counted_under_what_people_call_them(fleet):
    found = await facet(fleet, {"group": "/geo/us/tx"})
    titles = {each["value"]: each["title"] for each in found["buckets"]}
    assert titles == {
        "/geo/us/tx/austin": "/GEO/US/TX/AUSTIN",
        "/geo/us/tx/dallas": "/GEO/US/TX/DALLAS",
    }
    assert {each["title"] for each in (await facet(fleet, {"label": "size"}))["buckets"]} == {""}
    rows = await data(fleet, '{ fleet { tree(root: "/geo/us/tx") { path title } } }')
    assert {each["path"]: each["title"] for each in rows["fleet"]["tree"]} == titles | {
        "/geo/us/tx": "/GEO/US/TX"
    }


async def test_a_table_too_large_to_be_read_is_refused_and_the_rest_answered(fleet):
    await give(fleet, DeclareLabel("serial", LabelType.TEXT), DeclareLabel("mac", LabelType.TEXT))

    def numbered(place: int) -> RegisterCluster:
        labels = {"serial": f"s-{place}", "mac": f"m-{place}"}
        return RegisterCluster(f"new-{place:03}", groups=("/geo/ca",), labels=labels)

    side = isqrt(CELLS_MAX)
    await give(fleet, *map(numbered, range(side)))
    query = """{ fleet { revision
        crossTab(rows: {label: "serial"}, columns: {label: "mac"}) { counts } } }"""
    table = (await data(fleet, query))["fleet"]["crossTab"]["counts"]
    assert [sum(row) for row in table] == [1] * side
    await give(fleet, numbered(side))
    answer = await ask(fleet, query)
    assert answer["data"] == {"fleet": {"revision": 5, "crossTab": None}}
    (error,) = answer["errors"]
    assert error["message"] == f"the table has {side + 1:,} x {side + 1:,} cells"
    assert "10,000" in error["extensions"]["hint"]


@pytest.mark.parametrize(
    ("fields", "path", "says"),
    [
        ('tree(root: "geo") { path }', ["root"], "write /hierarchy"),
        ('tree(root: "/gio/us") { path }', ["root"], "did you mean /geo/us"),
        ('tree(root: "/geo/*") { path }', ["root"], ""),
        (
            'facets(by: [{label: "size"}, {group: "/geo/uz"}]) { label }',
            ["by", "1", "group"],
            "/us",
        ),
        ('facets(by: [{label: "sise"}]) { label }', ["by", "0"], "size"),
        (
            'crossTab(rows: {label: "size"}, columns: {group: "/gio"}) { rows }',
            ["columns", "group"],
            "/geo",
        ),
    ],
)
async def test_a_path_is_refused_as_a_path_where_it_stands(fleet, fields, path, says):
    (error,) = (await ask(fleet, f"{{ fleet {{ {fields} }} }}"))["errors"]
    assert error["extensions"]["code"] in ("INVALID", "NOT_FOUND")
    assert "column" not in error["extensions"]
    assert error["extensions"]["path"] == path
    assert says in error["extensions"]["hint"]


async def test_a_hidden_group_is_refused_as_one_that_is_not_there(fleet):
    for path in ("/geo/us/ny", "/geo/us/zz"):
        query = f'{{ fleet {{ tree(root: "{path}") {{ path }} }} }}'
        (error,) = (await ask(fleet, query, actor=TEXAN))["errors"]
        assert error["message"] == f'no group called "{path[-2:]}" in /geo/us'
        assert "ny" not in error["extensions"]["hint"]
