"""Charge-back as CSV: the rows of the report, for whoever may see them."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from engines import give
from graph.model.workload_command import DefineNamespace

QUERY = """query ($by: GroupPath!) { fleet { chargeback(by: $by) { rows(first: 1000) {
    costCenter namespace group clusters requested { cpuMillicores memoryMib storageMib } } } } }"""


async def export(door: Any, who: str = "ana", **asked: str) -> Any:
    return await door.client.get("/export/chargeback.csv", params=asked, headers=door.as_(who))


@pytest.mark.parametrize("who", ["ana", "ron", "tess"])
@pytest.mark.parametrize("by", ["/geo", "/geo/us", "/devices", "/geo/us/tx/austin"])
async def test_the_export_holds_what_the_query_holds(door, who, by):
    rows = (await door.data(QUERY, who=who, by=by))["fleet"]["chargeback"]["rows"]
    wanted = [
        [str(value) for value in (*row.values(), *map(int, amounts.values()))]
        for row in rows
        for amounts in [row.pop("requested")]
    ]
    head, *found = csv.reader(io.StringIO((await export(door, who, by=by)).text))
    assert head == [
        "costCenter", "namespace", "group", "clusters", "cpuMillicores", "memoryMib", "storageMib",
    ]  # fmt: skip
    assert found == wanted
    assert bool(found) == (by != "/geo/us/tx/austin")


async def test_the_export_says_what_it_is_and_of_which_revision(door):
    found = await export(door, by="/geo")
    assert found.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    assert found.headers["content-disposition"] == 'attachment; filename="chargeback.csv"'
    assert found.headers["trellis-cursor"] == str(door.engine.view.cursor)
    assert found.headers["cache-control"] == "private, no-store"


async def test_a_cost_centre_is_no_formula_to_a_spreadsheet(door):
    kitchen = door.engine.view.workload.namespaces["kitchen"]
    await give(
        door.engine,
        DefineNamespace("kitchen", cost_center="=1+1", labels=kitchen.labels, quota=kitchen.quota),
    )
    rows = list(csv.reader(io.StringIO((await export(door, by="/geo")).text)))
    assert "'=1+1" in {row[0] for row in rows}


BAD = {
    "no group": ({}, 400, "INVALID"),
    "no path": ({"by": "geo"}, 400, "INVALID"),
    "an unknown group": ({"by": "/gio"}, 404, "NOT_FOUND"),
    "another parameter": ({"by": "/geo", "where": "all"}, 400, "INVALID"),
}


@pytest.mark.parametrize(("asked", "status", "code"), BAD.values(), ids=BAD)
async def test_what_makes_no_sense_is_refused_with_a_hint(door, asked, status, code):
    found = await export(door, **asked)
    extensions = found.json()["errors"][0]["extensions"]
    assert (found.status_code, extensions["code"]) == (status, code)
    assert extensions["hint"]


async def test_hidden_groups_and_strangers_are_refused(door):
    assert (await export(door, "tess", by="/geo/ca")).status_code == 404
    assert (await export(door, "sid", by="/geo")).status_code == 403
    found = await door.client.get("/export/chargeback.ndjson", headers=door.as_("ana"))
    assert found.status_code == 404
