"""Where an application runs, through the schema: clusters, counts, configurations, roll-ups."""

from __future__ import annotations

from typing import Any

import pytest

from asking import ask, data
from doors import TEXAN
from engines import give
from graph.model.command import DeclareLabel, RegisterCluster, RetireCluster, UpdateCluster
from graph.model.inventory import Capacity, LabelType
from graph.model.workload_command import SetLayer

COUNTS = "assigned effective blocked prohibited lacking"


async def application(engine: Any, fields: str, name: str = "grill", **more: Any) -> Any:
    query = f'{{ fleet {{ application(name: "{name}") {{ {fields} }} }} }}'
    return (await data(engine, query, **more))["fleet"]["application"]


async def test_counts_add_up_and_clusters_are_those_counted(fleet):
    await give(fleet, UpdateCluster("austin-05", capacity=Capacity(50, 64)))
    found = await application(
        fleet,
        f"""counts {{ {COUNTS} configurations reasons {{ reason clusters }} }}
        effective: clusters {{ totalCount }}
        blocked: clusters(status: BLOCKED) {{ totalCount nodes {{ name }} }}
        prohibited: clusters(status: PROHIBITED) {{ totalCount }}
        lacking: clusters(status: LACKING) {{ totalCount }}
        small: clusters(reason: CAPACITY) {{ nodes {{ name }} }}
        none: clusters(reason: SCHEMA, status: BLOCKED) {{ totalCount }}
        all: clusters(status: UNASSIGNED) {{ totalCount }}
        texas: clusters(where: {{text: "/geo/us/tx"}}) {{ totalCount }}""",
    )
    counts = found.pop("counts")
    assert counts == {
        "assigned": 39,
        "effective": 19,
        "blocked": 1,
        "prohibited": 8,
        "lacking": 11,
        "configurations": 3,
        "reasons": [{"reason": "CAPACITY", "clusters": 1}],
    }
    for each in ("effective", "blocked", "prohibited", "lacking"):
        assert found[each]["totalCount"] == counts[each]
    assert found["blocked"]["nodes"] == found["small"]["nodes"] == [{"name": "austin-05"}]
    assert (found["none"]["totalCount"], found["texas"]["totalCount"]) == (0, 7)
    assert found["all"]["totalCount"] == len(fleet.view.everything()) - 39 == 0


async def test_where_an_application_is_not_assigned_can_be_asked(fleet):
    fields = "clusters(status: UNASSIGNED, first: 100%s) { totalCount nodes { name } }"
    found = (await application(fleet, fields % "", "player"))["clusters"]
    why = 'why(application: "player", cluster: "%s") { status }'
    told = {
        name: (await data(fleet, "{ fleet { " + why % name + " } }"))["fleet"]["why"]["status"]
        for name in map(fleet.view.cluster_name, fleet.view.everything())
    }
    wanted = sorted(name for name, status in told.items() if status == "UNASSIGNED")
    assert [each["name"] for each in found["nodes"]] == wanted
    assert 0 < found["totalCount"] == len(wanted) < len(told)
    seen = await application(fleet, "clusters(status: UNASSIGNED) { totalCount }", actor=TEXAN)
    assert seen["clusters"]["totalCount"] == 0
    texas = ', where: {text: "/geo/us/tx"}'
    assert (await application(fleet, fields % texas, "player"))["clusters"]["totalCount"] == 16


async def test_a_reason_goes_with_no_other_status_than_blocked(fleet):
    query = """{ fleet { application(name: "grill") {
        clusters(status: LACKING, reason: SCHEMA) { totalCount } } } }"""
    (error,) = (await ask(fleet, query))["errors"]
    assert (error["extensions"]["code"], error["extensions"]["path"]) == ("INVALID", ["status"])


async def test_configurations_come_a_page_at_a_time_the_largest_first(fleet):
    await give(fleet, SetLayer("grill-small", "size = small", {"night": True}, "grill"))
    fields = """configurations(first: 2%s) { totalCount
        nodes { key layers digest count values origins { key layer } obstacles { kind }
            clusters(first: 50) { totalCount nodes { name } } }
        edges { cursor node { key } } pageInfo { hasNextPage hasPreviousPage endCursor } }"""
    pages, after = [], ""
    while True:
        found = (await application(fleet, fields % after))["configurations"]
        assert found["totalCount"] == 6
        assert found["pageInfo"]["hasPreviousPage"] == bool(pages)
        assert [each["node"]["key"] for each in found["edges"]] == [
            each["key"] for each in found["nodes"]
        ]
        pages += found["nodes"]
        if not found["pageInfo"]["hasNextPage"]:
            break
        after = f', after: "{found["pageInfo"]["endCursor"]}"'
    assert [each["count"] for each in pages] == sorted(
        (each["count"] for each in pages), reverse=True
    )
    assert sum(each["count"] for each in pages) == 20
    names = [node["name"] for each in pages for node in each["clusters"]["nodes"]]
    assert len(names) == len(set(names)) == 20
    by_layers = {tuple(each["layers"]): each for each in pages}
    assert set(by_layers) == {
        ("grill-tx",),
        ("grill-ny",),
        (),
        ("grill-tx", "grill-small"),
        ("grill-ny", "grill-small"),
        ("grill-small",),
    }
    assert by_layers["grill-tx", "grill-small"]["values"]["night"] is True
    assert len({each["digest"] for each in pages}) == 6
    assert {"key": "night", "layer": "grill-small"} in by_layers[("grill-small",)]["origins"]


@pytest.mark.parametrize("after", ["x", "!!", "bm90LmE", "OA"])
async def test_what_is_no_cursor_of_configurations_is_refused(fleet, after):
    query = """query ($after: String) { fleet { application(name: "grill") {
        configurations(after: $after) { totalCount } } } }"""
    (error,) = (await ask(fleet, query, {"after": after}))["errors"]
    assert (error["extensions"]["code"], error["extensions"]["path"]) == ("INVALID", ["after"])


async def test_an_application_is_rolled_up_along_the_business(fleet):
    found = await application(
        fleet,
        f"""geo: rollUp(by: {{group: "/geo/us"}}) {{ value {COUNTS} }}
        size: rollUp(by: {{label: "size"}}) {{ value {COUNTS} }}
        one: rollUp(by: {{group: "/geo/us"}}, first: 1) {{ value }}
        lanes: rollUp(by: {{label: "lanes"}}) {{ value }}""",
    )
    lanes = [each["value"] for each in found["lanes"]]
    assert lanes == sorted(lanes) and 10.5 in lanes, "numbers are in the order of numbers"
    assert found["geo"] == [
        {
            "value": "/geo/us/ny",
            "assigned": 15,
            "effective": 8,
            "blocked": 0,
            "prohibited": 3,
            "lacking": 4,
        },
        {
            "value": "/geo/us/tx",
            "assigned": 16,
            "effective": 8,
            "blocked": 0,
            "prohibited": 3,
            "lacking": 5,
        },
    ]
    assert [each["value"] for each in found["size"]] == ["large", "small"]
    assert sum(each["assigned"] for each in found["size"]) == 39
    assert found["one"] == [{"value": "/geo/us/ny"}]
    query = '{ fleet { application(name: "grill") { rollUp(by: {group: "/gio"}) { value } } } }'
    (error,) = (await ask(fleet, query))["errors"]
    assert error["extensions"]["path"] == ["by", "group"]


async def test_a_roll_up_by_a_label_of_its_own_for_every_cluster_is_refused_beyond_a_bound(fleet):
    await give(
        fleet,
        DeclareLabel("serial", LabelType.NUMBER),
        *(
            RegisterCluster(f"kiosk-{place:04}", labels={"serial": place}, groups=("/geo/ca",))
            for place in range(1_001)
        ),
    )
    query = """{ fleet { application(name: "grill") {
        rollUp(by: {label: "serial"}, first: 1) { value } } } }"""
    (error,) = (await ask(fleet, query))["errors"]
    assert (error["extensions"]["code"], error["extensions"]["path"]) == ("INVALID", ["by"])
    assert error["message"] == "the roll-up has more than 1,000 buckets"
    await give(fleet, RetireCluster("kiosk-0500"))
    buckets = 'rollUp(by: {label: "serial"}, first: 1000) { value assigned lacking }'
    found = (await application(fleet, buckets))["rollUp"]
    assert found == [
        {"value": place, "assigned": 1, "lacking": 1} for place in range(1_001) if place != 500
    ]


async def test_a_namespace_is_where_any_of_its_applications_is(fleet):
    query = '{ fleet { namespace(name: "%s") { clusters(first: 1) { totalCount } } } }'
    for name, count in (("kitchen", 20), ("signs", 15)):
        found = await data(fleet, query % name)
        assert found["fleet"]["namespace"]["clusters"]["totalCount"] == count


async def test_under_a_scope_counts_are_of_what_may_be_seen(fleet):
    fields = f"""counts {{ {COUNTS} configurations }} clusters {{ totalCount }}
        configurations {{ totalCount nodes {{ count layers }} }}"""
    found = await application(fleet, fields, actor=TEXAN)
    assert found == {
        "counts": {
            "assigned": 16,
            "effective": 8,
            "blocked": 0,
            "prohibited": 3,
            "lacking": 5,
            "configurations": 1,
        },
        "clusters": {"totalCount": 8},
        "configurations": {"totalCount": 1, "nodes": [{"count": 8, "layers": ["grill-tx"]}]},
    }
