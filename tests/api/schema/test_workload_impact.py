"""What a batch would do to what runs, through the schema, and nothing done."""

from __future__ import annotations

from typing import Any

import pytest

from asking import ADMIN, ask, data
from command_inputs import input_of, name_of
from doors import TEXAN
from engines import give
from graph.engine import Engine
from graph.model.access import Actor
from graph.model.command import (
    Command,
    CreateGroup,
    DeclareLabel,
    GrantAccess,
    Join,
    RegisterCluster,
    Role,
    UpdateCluster,
)
from graph.model.inventory import Capacity, LabelType
from graph.model.workload import Choice
from graph.model.workload_command import Assign, DefineApplication, Prohibit, SetLayer

NAMES = "{ totalCount nodes { name } }"
PREVIEW = """query ($input: ApplyInput!) { preview(input: $input) { __typename
    ... on Failure { code message } ... on Preview { %s } } }"""
MOVES = f"""expectedLoss refusals {{ code message hint reasons }}
    impact {{ workload {{ gained lost reconfigured blocked freed pointers applicationCount
        overlays {{ added rewritten dropped }}
        applications {{ application gainedCount lostCount reconfiguredCount blockedCount freedCount
            gained {NAMES} lost {NAMES} reconfigured {NAMES} freed {NAMES} pointers
            blocked {{ reason count message clusters {NAMES} }}
            overlays {{ added rewritten dropped }} }} }} }}"""


async def preview(
    engine: Engine, *commands: Command, fields: str = MOVES, actor: Actor = ADMIN, **more: Any
) -> Any:
    written = [{name_of(each): input_of(each, engine.view)} for each in commands]
    batch = {"commands": written, "reason": "to see", **more}
    before = engine.view.cursor
    found = await data(engine, PREVIEW % fields, input=batch, actor=actor)
    assert engine.view.cursor == before, "nothing was written"
    return found["preview"]


async def test_a_narrower_assignment_takes_applications_away(fleet):
    found = await preview(fleet, Assign("kitchen-us", Choice("kitchen"), "/geo/us/ny"))
    workload = found["impact"]["workload"]
    assert {key: workload[key] for key in ("gained", "lost", "reconfigured", "blocked")} == {
        "gained": 0,
        "lost": 16,
        "reconfigured": 0,
        "blocked": 0,
    }
    assert (workload["pointers"], workload["applicationCount"]) == (8, 2)
    assert workload["overlays"] == {"added": 0, "rewritten": 0, "dropped": 1}
    grill, board = workload["applications"]
    assert (grill["application"], grill["lostCount"], grill["pointers"]) == ("grill", 8, 8)
    assert grill["overlays"]["dropped"] == 1
    assert grill["lost"]["totalCount"] == board["lostCount"] == 8
    assert found["expectedLoss"] == 16


async def test_what_the_guards_say_is_shown_with_the_loss_to_state(fleet):
    law = Prohibit("law", Choice("", ("player",)), "all")
    found = await preview(fleet, law)
    (refusal,) = found["refusals"]
    assert refusal["code"] == "REJECTED"
    assert refusal["hint"] == (
        "look at the preview; state expectedLoss 15 to go on, which needs the role operator"
    )
    assert refusal["reasons"] == ["player loses 15 of 15 clusters (100.0 %)"]
    assert found["expectedLoss"] == 15
    stated = await preview(fleet, law, expectedLoss=found["expectedLoss"])
    assert (stated["refusals"], stated["expectedLoss"]) == ([], 15)


async def test_a_layer_reconfigures_and_rewrites(fleet):
    layer = SetLayer("grill-tx", "/geo/us/tx", {"lanes": 9}, "grill", rank=1)
    found = await preview(fleet, layer)
    workload = found["impact"]["workload"]
    assert (workload["reconfigured"], workload["pointers"]) == (8, 0)
    assert workload["overlays"] == {"added": 0, "rewritten": 1, "dropped": 0}
    (grill,) = workload["applications"]
    assert grill["reconfiguredCount"] == grill["reconfigured"]["totalCount"] == 8


async def test_what_would_be_blocked_is_told_with_why_and_where(fleet):
    found = await preview(fleet, SetLayer("bad", "/geo/us/tx", {"lanes": "two"}, "grill", rank=2))
    assert found["__typename"] == "Invalid", "a part that can never fit is refused at once"
    small = UpdateCluster("austin-05", capacity=Capacity(50, 64))
    workload = (await preview(fleet, small))["impact"]["workload"]
    assert (workload["blocked"], workload["lost"]) == (2, 0)
    grill, board = workload["applications"]
    (blocked,) = grill["blocked"]
    assert (blocked["reason"], blocked["count"], grill["blockedCount"]) == ("CAPACITY", 1, 1)
    assert blocked["message"].startswith("more is asked of the cluster than it has: 100 of 50")
    assert blocked["clusters"]["nodes"] == [{"name": "austin-05"}]
    assert [each["reason"] for each in board["blocked"]] == ["DEPENDENCY"]


async def test_what_would_be_freed_and_gained_is_told(fleet):
    await give(fleet, UpdateCluster("austin-05", capacity=Capacity(50, 64)))
    workload = (await preview(fleet, UpdateCluster("austin-05", capacity=None)))["impact"][
        "workload"
    ]
    assert workload["freed"] == 2
    assert workload["applications"][0]["freed"]["nodes"] == [{"name": "austin-05"}]
    more = (await preview(fleet, Assign("player-ca", Choice("signs"), "/geo/ca")))["impact"]
    assert more["workload"]["gained"] == 8
    assert more["workload"]["applications"][0]["gained"]["totalCount"] == 8


async def test_moves_are_rolled_up_where_clusters_were_and_would_be(fleet):
    moved = Join("austin-05", "/geo/us/ny/newyork")
    by = '[{group: "/geo/us"}, {label: "size"}]'
    counts = "value gained lost reconfigured blocked freed"
    fields = f"""impact {{ workload {{ rollUp(by: {by}) {{ group label buckets {{ {counts} }} }}
        applications {{ application
            rollUp(by: {by}) {{ buckets(first: 1) {{ {counts} }} }} }} }} }}"""
    found = await preview(fleet, moved, fields=fields)
    geo, size = found["impact"]["workload"]["rollUp"]
    none = {"gained": 0, "lost": 0, "reconfigured": 0, "blocked": 0, "freed": 0}
    assert geo == {
        "group": "/geo/us",
        "label": None,
        "buckets": [{"value": "/geo/us/ny", **none, "gained": 1, "reconfigured": 1}],
    }
    assert (size["label"], size["buckets"][0]["value"]) == ("size", "large")
    applications = found["impact"]["workload"]["applications"]
    assert [each["application"] for each in applications] == ["grill", "player"]
    lost = await preview(
        fleet,
        Assign("kitchen-us", Choice("kitchen"), "/geo/us/ny"),
        fields=fields,
    )
    (bucket,) = lost["impact"]["workload"]["rollUp"][0]["buckets"]
    assert bucket == {"value": "/geo/us/tx", **none, "lost": 16}


MANY = ", ".join(['{label: "size"}'] * 5)


@pytest.mark.parametrize(
    ("by", "path"),
    [
        ('{group: "/gio"}', ["by", "0", "group"]),
        ('{label: "siz"}', ["by", "0"]),
        (MANY, ["by"]),
    ],
)
async def test_a_roll_up_by_what_is_not_there_or_by_too_much_is_refused(fleet, by, path):
    query = PREVIEW % f"impact {{ workload {{ rollUp(by: [{by}]) {{ group }} }} }}"
    commands = [{"createGroup": {"path": "/geo/us/wy"}}]
    answer = await ask(fleet, query, {"input": {"commands": commands, "reason": "to see"}})
    (error,) = answer["errors"]
    assert error["extensions"]["path"] == path


async def test_moves_in_more_buckets_than_are_listed_are_refused(fleet):
    await give(
        fleet,
        DeclareLabel("serial", LabelType.NUMBER),
        *(
            RegisterCluster(f"kiosk-{place:04}", labels={"serial": place}, groups=("/geo/ca",))
            for place in range(1_001)
        ),
    )
    query = (
        PREVIEW
        % """impact { workload { lost: rollUp(by: [{label: "serial"}]) { label }
        size: rollUp(by: [{label: "size"}]) { buckets { gained } } } }"""
    )
    command = input_of(Assign("player-ca", Choice("signs"), "/geo/ca"), fleet.view)
    batch = {"commands": [{"assign": command}], "reason": "to see"}
    answer = await ask(fleet, query, {"input": batch})
    (error,) = answer["errors"]
    assert error["message"] == "the roll-up has more than 1,000 buckets"
    assert error["extensions"]["path"] == ["by", "0"]
    workload = answer["data"]["preview"]["impact"]["workload"]
    assert sum(each["gained"] for each in workload["size"][0]["buckets"]) == 8


async def test_clusters_of_a_preview_show_what_would_run_on_them(fleet):
    fields = """impact { workload { applications { application
        gained { nodes { name effective { applications { name status } } } }
        reconfigured { nodes { effective { application(name: "grill") { values } } } } } } }"""
    moved = Join("austin-05", "/geo/us/ny/newyork")
    grill, player = (await preview(fleet, moved, fields=fields))["impact"]["workload"][
        "applications"
    ]
    (gained,) = player["gained"]["nodes"]
    assert gained["effective"]["applications"][-1] == {"name": "player", "status": "EFFECTIVE"}
    (changed,) = grill["reconfigured"]["nodes"]
    assert changed["effective"]["application"]["values"]["lanes"] == 3


async def test_a_new_group_is_no_dimension_of_what_was(fleet):
    fields = 'impact { workload { rollUp(by: [{group: "/geo/us/wy"}]) { group } } }'
    written = [{"createGroup": input_of(CreateGroup("/geo/us/wy"), fleet.view)}]
    answer = await ask(
        fleet, PREVIEW % fields, {"input": {"commands": written, "reason": "to see"}}
    )
    assert answer["errors"][0]["extensions"]["code"] == "NOT_FOUND"


async def test_under_a_scope_a_preview_shows_what_may_be_seen(fleet):
    await give(
        fleet,
        GrantAccess("boss", Role.OPERATOR, subject="tess", scope="/geo/us/tx"),
    )
    moved = UpdateCluster("austin-05", labels={"lanes": 20})
    mine = (await preview(fleet, moved))["impact"]["workload"]
    theirs = (await preview(fleet, moved, actor=TEXAN))["impact"]["workload"]
    assert theirs.pop("overlays") is None and mine.pop("overlays") is not None
    for each in (*mine["applications"], *theirs["applications"]):
        each.pop("overlays")
    assert mine == theirs
    assert mine["lost"] == 2


async def test_a_new_definition_concerns_every_cluster_it_is_on(fleet):
    found = await preview(fleet, DefineApplication("player", "signs", values={"volume": 3}))
    (player,) = found["impact"]["workload"]["applications"]
    assert player["reconfiguredCount"] == 15
    assert player["overlays"] == {"added": 0, "rewritten": 1, "dropped": 0}
