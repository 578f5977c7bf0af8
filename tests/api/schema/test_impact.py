"""Previews: what a batch would do, in full, and nothing done."""

from __future__ import annotations

from typing import Any

import pytest

from api.caller.identity import Identified
from api.context import Context
from api.schema.errors import NotFound
from api.schema.impact import Preview, preview_revert
from api.schema.names import RevisionOrTime
from api.schema.revert import RevertScope
from api.settings import ApiSettings
from asking import ADMIN, ask, data
from command_inputs import input_of, name_of
from engines import give, ticking
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.command import (
    Command,
    CreateGroup,
    DeleteGroup,
    GrantAccess,
    Join,
    RegisterCluster,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
)
from graph.model.names import Revision
from graph.store.embedded import EmbeddedStore
from small import SMALL

EDITOR = Actor("tess")

PREVIEW = """
    query ($input: ApplyInput!) {
        preview(input: $input) {
            __typename
            ... on Failure { code path }
            ... on Preview {
                base changeCount left
                changes { objectId kind name action lines }
                impact {
                    registeredCount registered { totalCount nodes { name place(hierarchy: "geo") } }
                    retiredCount retired { totalCount nodes { name place(hierarchy: "geo") } }
                    moves {
                        name gainedCount lostCount
                        gained { nodes { name } } lost { nodes { name } }
                    }
                }
            }
        }
    }
"""


@pytest.fixture
async def engine(tmp_path):
    engine = await Engine.open(await EmbeddedStore.open(tmp_path / "fleet.db"), now=ticking())
    await give(engine, *SMALL)
    await give(engine, GrantAccess("texans", Role.EDITOR, subject="tess", scope="/geo/us/tx"))
    yield engine
    await engine.close()


def batch(engine: Engine, *commands: Command) -> dict[str, Any]:
    written = [{name_of(each): input_of(each, engine.view)} for each in commands]
    return {"commands": written, "reason": "to see"}


async def preview(engine: Engine, *commands: Command, actor: Actor = ADMIN) -> dict[str, Any]:
    found = await data(engine, PREVIEW, input=batch(engine, *commands), actor=actor)
    assert engine.view.cursor.revision == 2, "nothing was written"
    return found["preview"]


async def test_a_preview_shows_who_comes_who_goes_and_which_selectors_move(engine):
    found = await preview(
        engine,
        CreateGroup("/geo/us/tx/waco"),
        RegisterCluster("waco-1", groups=("/geo/us/tx/waco",)),
        RetireCluster("austin-2"),
    )
    assert (found["base"], found["changeCount"], found["left"]) == (2, 3, [])
    assert found["impact"] == {
        "registeredCount": 1,
        "registered": {
            "totalCount": 1,
            "nodes": [{"name": "waco-1", "place": "/geo/us/tx/waco"}],
        },
        "retiredCount": 1,
        "retired": {
            "totalCount": 1,
            "nodes": [{"name": "austin-2", "place": "/geo/us/tx/austin"}],
        },
        "moves": [
            {
                "name": "texas",
                "gainedCount": 1,
                "lostCount": 1,
                "gained": {"nodes": [{"name": "waco-1"}]},
                "lost": {"nodes": [{"name": "austin-2"}]},
            }
        ],
    }


async def test_the_changes_of_a_preview_are_those_that_applying_makes(engine):
    commands = (
        CreateGroup("/geo/mx"),
        Join("york-1", "/geo/mx"),
        UpdateCluster("austin-1", labels={"size": "small"}),
        SaveSelector("mexico", "/geo/mx"),
    )
    found = await preview(engine, *commands)
    await give(engine, *commands)
    made = (await engine.changeset(Revision(3))).changes
    assert [each["objectId"] for each in found["changes"]] == [str(each.ref) for each in made]
    assert found["changeCount"] == len(made)
    (york,) = [each for each in found["changes"] if each["name"] == "york-1"]
    assert york["action"] == "CHANGED" and "joined /geo/mx" in york["lines"]


async def test_pages_of_a_preview_go_on_where_they_ended(engine):
    document = """
        query ($input: ApplyInput!, $after: String) {
            preview(input: $input) { ... on Preview { impact {
                registered(first: 2, after: $after) {
                    nodes { name } pageInfo { hasNextPage endCursor }
                }
            } } }
        }
    """
    given = batch(engine, *(RegisterCluster(f"new-{each}") for each in range(5)))
    seen: list[str] = []
    after, more = None, True
    while more:
        found = await data(engine, document, input=given, after=after)
        page = found["preview"]["impact"]["registered"]
        seen += [each["name"] for each in page["nodes"]]
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
    assert seen == [f"new-{each}" for each in range(5)]


@pytest.mark.parametrize(
    ("commands", "kind", "path"),
    [
        ((), "Invalid", []),
        ((RegisterCluster("Bad Name"),), "Invalid", ["commands", "0"]),
        ((CreateGroup("/geo/mx"), RetireCluster("gone")), "NotFound", ["commands", "1", "name"]),
        ((RegisterCluster("austin-1"),), "Conflict", ["commands", "0"]),
        ((DeleteGroup("/geo/us/tx", cascade=True),), "Rejected", ["commands", "0"]),
    ],
)
async def test_a_preview_is_refused_where_the_batch_would_be(engine, commands, kind, path):
    found = await preview(engine, *commands)
    assert (found["__typename"], found["path"]) == (kind, path)


async def test_a_preview_tells_its_author_nothing_outside_their_scope(engine):
    inside = await preview(engine, UpdateCluster("austin-1", title="Austin"), actor=EDITOR)
    assert [each["objectId"] for each in inside["changes"]] == ["cluster:0"]
    outside = await preview(engine, UpdateCluster("york-1", title="York"), actor=EDITOR)
    assert outside["__typename"] == "NotFound"
    leaving = await preview(engine, Join("austin-1", "/geo/us/tx"), actor=EDITOR)
    assert leaving["__typename"] == "Preview"
    taken = await preview(engine, RegisterCluster("york-1", groups=("/geo/us/tx",)), actor=EDITOR)
    assert taken["__typename"] == "Denied"


async def test_a_list_out_of_bounds_is_an_error_and_not_a_long_answer(engine):
    document = "query ($input: ApplyInput!) { preview(input: $input) { ... on Preview { %s } } }"
    given = {"input": batch(engine, CreateGroup("/geo/mx"))}
    for part in (
        "changes(first: 10001) { id }",
        "changes(first: -1) { id }",
        "impact { retired(first: -1) { totalCount } }",
        "impact { retired(first: 1000000) { nodes { name } } }",
    ):
        found = await ask(engine, document % part, given)
        assert found["errors"][0]["extensions"]["code"] == "INVALID", part


async def test_a_revert_is_previewed_with_what_it_would_leave(engine):
    await give(engine, RetireCluster("york-1"), DeleteGroup("/geo/us/ny"))
    context = Context.pin(engine, ApiSettings(), Identified(ADMIN, None))
    to = RevisionOrTime(Revision(2))
    found = await preview_revert(context, to, RevertScope(id="cluster:2"))
    assert isinstance(found, Preview)
    assert found.left == ["cluster york-1: 1 of its groups is gone"]
    assert [str(each.ref) for each in found.run.found.changes] == ["cluster:2"]
    missing = await preview_revert(context, to, RevertScope(subtree="/geo/nowhere"))
    assert isinstance(missing, NotFound) and missing.path == ["scope", "subtree"]
    assert engine.view.cursor.revision == 3
