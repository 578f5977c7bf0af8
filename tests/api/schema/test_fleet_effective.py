"""Why, compared, how full, who pays, what is broken: through the schema."""

from __future__ import annotations

from typing import Any

import pytest

from asking import ask, data
from doors import TEXAN
from engines import give
from graph.model.command import UpdateCluster
from graph.model.inventory import Capacity
from graph.model.workload_command import DefineApplication, SetPolicy

AMOUNTS = "{ cpuMillicores memoryMib storageMib }"


async def fleet_of(engine: Any, query: str, **more: Any) -> Any:
    return (await data(engine, f"{{ fleet {{ {query} }} }}", **more))["fleet"]


async def refused(engine: Any, query: str, **more: Any) -> tuple[str, list[str]]:
    answer = await ask(engine, f"{{ fleet {{ {query} }} }}", **more)
    extensions = answer["errors"][0]["extensions"]
    return extensions["code"], extensions.get("path", [])


WHY = f"""application status summary cluster {{ name }} reconcilerFits
    assignments {{
        objectId name through holds explanation {{ holds summary reasons {{ text holds }} }} }}
    requires {{ objectId holds explanation {{ reasons {{ text holds fact }} }} }}
    prohibitions {{ name holds through }} dependencies {{ application status }}
    asked {AMOUNTS} offered {AMOUNTS} obstacles {{ kind message about }}
    since {{ revision actor reason change {{ id }} }}"""


async def test_why_an_application_is_on_a_cluster(fleet):
    found = await fleet_of(fleet, f'why(application: "grill", cluster: "austin-05") {{ {WHY} }}')
    assert found["why"] == {
        "application": "grill",
        "status": "EFFECTIVE",
        "summary": 'yes: assignment "kitchen-us" chooses it',
        "cluster": {"name": "austin-05"},
        "reconcilerFits": True,
        "assignments": [
            {
                "objectId": "assignment:kitchen-us",
                "name": "kitchen-us",
                "through": None,
                "holds": True,
                "explanation": {
                    "holds": True,
                    "summary": "yes",
                    "reasons": [{"text": "/geo/us", "holds": True}],
                },
            },
            {
                "objectId": "assignment:kitchen-gold",
                "name": "kitchen-gold",
                "through": None,
                "holds": False,
                "explanation": {
                    "holds": False,
                    "summary": "no",
                    "reasons": [{"text": "/geo/ca", "holds": False}],
                },
            },
        ],
        "requires": {
            "objectId": "application:grill",
            "holds": True,
            "explanation": {"reasons": [{"text": "/devices/grill", "holds": True, "fact": ""}]},
        },
        "prohibitions": [{"name": "no-gold", "holds": False, "through": None}],
        "dependencies": [],
        "asked": {"cpuMillicores": 100, "memoryMib": 128, "storageMib": 0},
        "offered": {"cpuMillicores": 4000, "memoryMib": 8192, "storageMib": 0},
        "obstacles": [],
        "since": {
            "revision": 1,
            "actor": "ana",
            "reason": "because",
            "change": {"id": "application:grill@1"},
        },
    }


async def test_why_an_application_is_not_on_a_cluster_and_since_when(fleet):
    await give(
        fleet, UpdateCluster("austin-05", labels={"lanes": 20}), actor="bo", reason="a larger store"
    )
    found = await fleet_of(
        fleet, f'why(application: "grill-board", cluster: "austin-05") {{ {WHY} }}'
    )
    why = found["why"]
    assert why["status"] == "PROHIBITED"
    assert why["summary"] == 'no, prohibited: it needs grill, which prohibition "no-gold" takes'
    assert why["prohibitions"] == [{"name": "no-gold", "holds": True, "through": "grill"}]
    assert why["dependencies"] == [{"application": "grill", "status": "PROHIBITED"}]
    (obstacle,) = why["obstacles"]
    assert obstacle["about"] == ["prohibition:no-gold", "application:grill"]
    assert why["since"] == {
        "revision": 3,
        "actor": "bo",
        "reason": "a larger store",
        "change": {"id": "cluster:5@3"},
    }


async def test_who_is_asked_about_must_be_there(fleet):
    why = 'why(application: "%s", cluster: "%s") { status }'
    assert await refused(fleet, why % ("grll", "austin-05")) == ("NOT_FOUND", ["application"])
    assert await refused(fleet, why % ("grill", "nowhere")) == ("NOT_FOUND", ["cluster"])
    texan = {"actor": TEXAN}
    assert await refused(fleet, why % ("player", "austin-05"), **texan) == (
        "NOT_FOUND",
        ["application"],
    )
    assert await refused(fleet, why % ("grill", "ny-02"), **texan) == ("NOT_FOUND", ["cluster"])


COMPARE = """compare(left: {text: "%s"}, right: {text: "%s"}) { leftCount rightCount
    onlyLeft { application namespace clusters } onlyRight { application clusters }
    differing { application namespace leftCount rightCount complete
        leaves { key left { value absent layer clusters } right { value absent layer clusters } } }
    differingCount sameCount }"""


async def test_two_groups_are_compared(fleet):
    found = (await fleet_of(fleet, COMPARE % ("/geo/us/tx", "/geo/us/ny")))["compare"]
    assert found == {
        "leftCount": 16,
        "rightCount": 15,
        "onlyLeft": [],
        "onlyRight": [{"application": "player", "clusters": 15}],
        "differing": [
            {
                "application": "grill",
                "namespace": "kitchen",
                "leftCount": 8,
                "rightCount": 8,
                "complete": True,
                "leaves": [
                    {
                        "key": "lanes",
                        "left": [{"value": 2, "absent": False, "layer": "grill-tx", "clusters": 8}],
                        "right": [
                            {"value": 3, "absent": False, "layer": "grill-ny", "clusters": 8}
                        ],
                    },
                    {
                        "key": "night",
                        "left": [{"value": False, "absent": False, "layer": None, "clusters": 8}],
                        "right": [{"value": None, "absent": True, "layer": None, "clusters": 8}],
                    },
                ],
            }
        ],
        "differingCount": 1,
        "sameCount": 1,
    }


async def test_two_clusters_are_compared_and_under_a_scope_only_what_is_seen(fleet):
    two = COMPARE % ("cluster austin-05", "cluster austin-10")
    found = (await fleet_of(fleet, two))["compare"]
    (grill,) = found["differing"]
    assert [leaf["key"] for leaf in grill["leaves"]] == ["host"]
    assert (await fleet_of(fleet, two, actor=TEXAN))["compare"] == found
    seen = (await fleet_of(fleet, COMPARE % ("/geo/us", "all"), actor=TEXAN))["compare"]
    assert (seen["leftCount"], seen["rightCount"], seen["differingCount"]) == (16, 16, 0)
    assert (await refused(fleet, COMPARE % ("/gio", "all")))[1] == ["left", "text"]
    assert (await refused(fleet, COMPARE % ("all", "/geo/us/ny"), actor=TEXAN))[1] == [
        "right",
        "text",
    ]


CAPACITY = f"""capacity(by: "%s") {{
    total {{ path title clusters stated asked {AMOUNTS} offered {AMOUNTS} oversubscribed }}
    rows {{ path clusters asked {AMOUNTS} oversubscribed }}
    rest: rows(first: 1, after: "/geo/us/ny") {{ path }} }}"""


async def test_capacity_is_reported_along_a_hierarchy(fleet):
    await give(fleet, UpdateCluster("austin-05", capacity=Capacity(50, 64)))
    found = (await fleet_of(fleet, CAPACITY % "/geo/us"))["capacity"]
    assert found["total"] == {
        "path": "/geo/us",
        "title": "/GEO/US",
        "clusters": 31,
        "stated": 16,
        "asked": {"cpuMillicores": 1600, "memoryMib": 2048, "storageMib": 0},
        "offered": {"cpuMillicores": 60050, "memoryMib": 122944, "storageMib": 0},
        "oversubscribed": 1,
    }
    ny, tx = found["rows"]
    assert (ny["oversubscribed"], tx["oversubscribed"]) == (0, 1)
    assert (ny["clusters"], tx["clusters"]) == (15, 16)
    assert found["rest"] == [{"path": "/geo/us/tx"}]
    seen = (await fleet_of(fleet, CAPACITY % "/geo/us", actor=TEXAN))["capacity"]
    assert (seen["total"]["clusters"], [each["path"] for each in seen["rows"]]) == (
        16,
        ["/geo/us/tx"],
    )
    assert (await refused(fleet, CAPACITY % "/gio"))[1] == ["by"]


async def test_charge_back_is_reported_a_part_at_a_time(fleet):
    rows = f"id costCenter namespace group clusters requested {AMOUNTS}"
    found = await fleet_of(fleet, f'chargeback(by: "/geo/us") {{ rowCount rows {{ {rows} }} }}')
    assert found["chargeback"]["rowCount"] == 3
    assert found["chargeback"]["rows"][1] == {
        "id": "kitchen:/geo/us/ny",
        "costCenter": "4711",
        "namespace": "kitchen",
        "group": "/geo/us/ny",
        "clusters": 8,
        "requested": {"cpuMillicores": 800, "memoryMib": 1024, "storageMib": 0},
    }
    part = 'chargeback(by: "/geo/us") { rows(first: 1, after: "kitchen:/geo/us/ny") { id } }'
    assert (await fleet_of(fleet, part))["chargeback"]["rows"] == [{"id": "kitchen:/geo/us/tx"}]
    seen = await fleet_of(fleet, part.replace(', after: "kitchen:/geo/us/ny"', ""), actor=TEXAN)
    assert seen["chargeback"]["rows"] == [{"id": "kitchen:/geo/us/tx"}]


async def test_broken_policies_are_listed(fleet):
    await give(fleet, SetPolicy("names", ("signs",), required_labels=("team",)))
    breaches = "policyBreaches { policy governed rule message }"
    found = (await fleet_of(fleet, breaches))["policyBreaches"]
    assert found == [
        {
            "policy": "names",
            "governed": governed,
            "rule": "label team",
            "message": f"{told} has no label team (policy names)",
        }
        for governed, told in (
            ("namespace:signs", "namespace signs"),
            ("application:player", "application player"),
        )
    ]
    assert (await fleet_of(fleet, "policyBreaches(first: 1) { rule }")) == {
        "policyBreaches": [{"rule": "label team"}]
    }
    (first,) = (await fleet_of(fleet, "policyBreaches(first: 1) { id }"))["policyBreaches"]
    rest = f'policyBreaches(after: "{first["id"]}") {{ governed }}'
    assert (await fleet_of(fleet, rest)) == {"policyBreaches": [{"governed": "application:player"}]}
    assert await refused(fleet, 'policyBreaches(after: "x") { id }') == ("INVALID", ["after"])
    assert (await fleet_of(fleet, breaches, actor=TEXAN))["policyBreaches"] == []


async def test_what_is_blocked_is_listed_over_the_whole_fleet(fleet):
    await give(
        fleet,
        UpdateCluster("austin-05", capacity=Capacity(50, 64)),
        UpdateCluster("ny-07", capacity=Capacity(50, 64)),
    )
    blocked = """blocked { application namespace clusters
        reasons { reason count message clusters { totalCount nodes { name } } } }"""
    found = (await fleet_of(fleet, blocked))["blocked"]
    grill, board = found
    assert (grill["application"], grill["clusters"]) == ("grill", 2)
    (reason,) = grill["reasons"]
    assert (reason["reason"], reason["count"]) == ("CAPACITY", 2)
    assert reason["message"].startswith("more is asked of the cluster than it has: 100 of 50")
    assert reason["clusters"]["nodes"] == [{"name": "austin-05"}, {"name": "ny-07"}]
    assert [each["reason"] for each in board["reasons"]] == ["DEPENDENCY"]
    seen = (await fleet_of(fleet, blocked, actor=TEXAN))["blocked"]
    assert [each["clusters"] for each in seen] == [1, 1]
    rest = await fleet_of(fleet, 'blocked(first: 1, after: "grill") { application }')
    assert rest["blocked"] == [{"application": "grill-board"}]


@pytest.mark.parametrize("field", ["policyBreaches(first: 1001)", "blocked(first: -1)"])
async def test_lists_have_a_bound(fleet, field):
    name = field.partition("(")[0]
    fields = "policy" if name == "policyBreaches" else "application"
    assert await refused(fleet, f"{field} {{ {fields} }}") == ("INVALID", ["first"])


async def test_what_was_is_told_as_it_was(fleet):
    await give(fleet, DefineApplication("player", "signs", requests=Capacity(5, 6)))
    rows = '{ chargeback(by: "/geo/us") { rows(first: 1) { requested { cpuMillicores } } } }'
    found = await data(fleet, f"{{ now: fleet {rows} then: fleet(asOf: 2) {rows} }}")
    amounts = [
        found[each]["chargeback"]["rows"][0]["requested"]["cpuMillicores"]
        for each in ("now", "then")
    ]
    assert amounts == [75, 0]
