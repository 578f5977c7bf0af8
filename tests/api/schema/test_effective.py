"""What runs on a cluster, through the schema: applications, values, what is in the way."""

from __future__ import annotations

from typing import Any

import pytest

from asking import ADMIN, ask, data
from doors import TEXAN
from engines import give
from graph.model.access import Actor, Role
from graph.model.command import GrantAccess, UpdateCluster
from graph.model.inventory import Capacity
from graph.model.workload import Choice
from graph.model.workload_command import Prohibit, SetLayer

COOK = Actor("cook")


async def on(engine: Any, cluster: str, fields: str, **more: Any) -> Any:
    query = f'{{ fleet {{ cluster(name: "{cluster}") {{ effective {{ {fields} }} }} }} }}'
    return (await data(engine, query, **more))["fleet"]["cluster"]["effective"]


async def test_a_cluster_shows_what_runs_on_it_with_the_layer_of_every_value(fleet):
    found = await on(
        fleet,
        "austin-05",
        """namespaces { name applications { name namespace status obstacles { kind }
            configuration values origins { key value layer }
            lateBound { key value layer source } } }
        settings { key value layer } asked { cpuMillicores memoryMib storageMib } oversubscribed""",
    )
    (kitchen,) = found["namespaces"]
    grill, board = kitchen["applications"]
    assert (kitchen["name"], board["name"], board["status"]) == (
        "kitchen",
        "grill-board",
        "EFFECTIVE",
    )
    key = grill.pop("configuration")
    assert len(key) == 16 and key != board["configuration"]
    assert grill == {
        "name": "grill",
        "namespace": "kitchen",
        "status": "EFFECTIVE",
        "obstacles": [],
        "values": {
            "image": {"tag": "1.2"},
            "lanes": 2,
            "night": False,
            "fleet": {"telemetry": {"traces": True}},
        },
        "origins": [
            {"key": "fleet.telemetry.traces", "value": True, "layer": "telemetry"},
            {"key": "image.tag", "value": "1.2", "layer": None},
            {"key": "lanes", "value": 2, "layer": "grill-tx"},
            {"key": "night", "value": False, "layer": None},
        ],
        "lateBound": [
            {
                "key": "host",
                "value": "austin-05.large.example.com",
                "layer": None,
                "source": "{cluster}.{size}.example.com",
            }
        ],
    }
    assert found["settings"] == [{"key": "telemetry.traces", "value": True, "layer": "telemetry"}]
    assert found["asked"] == {"cpuMillicores": 100, "memoryMib": 128, "storageMib": 0}
    assert found["oversubscribed"] is False


async def test_what_is_in_the_way_is_told_with_the_objects_it_rests_on(fleet):
    await give(fleet, UpdateCluster("austin-05", capacity=Capacity(50, 64)))
    found = await on(
        fleet,
        "austin-05",
        """oversubscribed grill: application(name: "grill") {
            status obstacles { kind message about } configuration }
        board: application(name: "grill-board") { status obstacles { kind message } }
        player: application(name: "player") { status } nobody: application(name: "x") { status }""",
    )
    assert found["oversubscribed"] is True
    (obstacle,) = found["grill"].pop("obstacles")
    assert obstacle == {
        "kind": "CAPACITY",
        "message": "more is asked of the cluster than it has: 100 of 50 millicores, "
        "128 of 64 MiB of memory",
        "about": ["cluster:5"],
    }
    assert found["grill"]["status"] == "BLOCKED" and found["grill"]["configuration"]
    assert found["board"] == {
        "status": "BLOCKED",
        "obstacles": [{"kind": "DEPENDENCY", "message": "it needs grill, which is blocked"}],
    }
    assert (found["player"], found["nobody"]) == (None, None)


async def test_applications_are_listed_by_status_a_part_at_a_time(fleet):
    await give(fleet, Prohibit("law", Choice("kitchen", ("grill-board",)), "/geo/us/tx"))
    listed = "applications(status: %s, first: %s%s) { name status obstacles { message about } }"
    found = await on(fleet, "austin-05", listed % ("PROHIBITED", 10, ""))
    assert found["applications"] == [
        {
            "name": "grill-board",
            "status": "PROHIBITED",
            "obstacles": [{"message": 'prohibition "law" takes it', "about": ["prohibition:law"]}],
        }
    ]
    found = await on(fleet, "austin-05", listed % ("UNASSIGNED", 10, ""))
    assert found["applications"] == [{"name": "player", "status": "UNASSIGNED", "obstacles": []}]
    found = await on(fleet, "austin-05", listed % ("UNASSIGNED", 10, ', after: "player"'))
    assert found["applications"] == []
    names = "applications(first: %s%s) { name }"
    first = await on(fleet, "austin-05", names % (1, ""))
    rest = await on(fleet, "austin-05", names % (5, ', after: "grill"'))
    assert first["applications"] + rest["applications"] == [
        {"name": "grill"},
        {"name": "grill-board"},
    ]
    query = (
        '{ fleet { cluster(name: "ny-02") { effective { applications(first: -1) { name } } } } }'
    )
    refused = (await ask(fleet, query))["errors"][0]
    assert refused["extensions"]["code"] == "INVALID"


async def test_a_cluster_says_what_reaches_it(fleet):
    query = """{ fleet { cluster(name: "austin-05") { reachedBy { assignments prohibitions layers
        policies some: layers(first: 1, after: "grill-tx") } } } }"""
    found = (await data(fleet, query))["fleet"]["cluster"]["reachedBy"]
    assert found == {
        "assignments": ["kitchen-us"],
        "prohibitions": ["no-signs"],
        "layers": ["grill-tx", "telemetry"],
        "policies": [],
        "some": ["telemetry"],
    }


async def test_an_earlier_revision_shows_what_ran_then(fleet):
    await give(fleet, SetLayer("grill-tx", "/geo/us/tx", {"lanes": 7}, "grill", rank=1))
    query = """{ now: fleet { ...it } then: fleet(asOf: 2) { ...it } }
        fragment it on Fleet { cluster(name: "austin-05") { effective {
            application(name: "grill") { values configuration } } } }"""
    found = await data(fleet, query)
    now, then = (found[each]["cluster"]["effective"]["application"] for each in ("now", "then"))
    assert (now["values"]["lanes"], then["values"]["lanes"]) == (7, 2)
    assert now["configuration"] == then["configuration"]


async def test_under_a_scope_clusters_show_what_runs_on_them(fleet):
    mine = await on(fleet, "austin-05", "namespaces { name applications { name status } }")
    theirs = await on(
        fleet, "austin-05", "namespaces { name applications { name status } }", actor=TEXAN
    )
    assert mine == theirs
    hidden = await data(
        fleet, '{ fleet { cluster(name: "ny-02") { effective { oversubscribed } } } }', actor=TEXAN
    )
    assert hidden["fleet"]["cluster"] is None


async def test_who_is_covered_for_a_part_sees_nothing_of_the_rest(fleet):
    await give(
        fleet,
        GrantAccess("cooks", Role.READER, subject="cook", scope="all", applications=("grill",)),
    )
    fields = """namespaces { name applications { name values origins { layer } } }
        settings { key } asked { cpuMillicores }"""
    found = await on(fleet, "austin-05", fields, actor=COOK)
    (kitchen,) = found["namespaces"]
    (grill,) = kitchen["applications"]
    assert grill["values"] == {"image": {"tag": "1.2"}, "lanes": 2, "night": False}
    assert {each["layer"] for each in grill["origins"]} == {None, "grill-tx"}
    assert found["settings"] == []
    query = '{ fleet { cluster(name: "austin-05") { reachedBy { layers prohibitions } } } }'
    reached = (await data(fleet, query, actor=COOK))["fleet"]["cluster"]["reachedBy"]
    assert reached == {"layers": ["grill-tx"], "prohibitions": []}


@pytest.mark.parametrize("actor", [ADMIN, TEXAN], ids=["all", "texas"])
async def test_a_page_of_clusters_shows_what_runs_on_each(fleet, actor):
    query = """{ fleet { clusters(where: {text: "/geo/us/tx"}, first: 40) { nodes { name
        effective { applications { name status } } } } } }"""
    found = (await data(fleet, query, actor=actor))["fleet"]["clusters"]["nodes"]
    for each in found:
        alone = await on(fleet, each["name"], "applications { name status }", actor=actor)
        assert each["effective"] == alone
