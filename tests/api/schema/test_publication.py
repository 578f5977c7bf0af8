"""Publications: what a renderer reports, and what everybody is told of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from asking import ask, data
from engines import give, ticking
from graph.engine import Engine
from graph.model.access import Actor, Role
from graph.model.command import GrantAccess, UpdateCluster
from graph.model.names import Revision
from graph.model.publication import HELD_MAX, Report
from graph.model.workload_command import DefineApplication, DefineNamespace
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore
from small import SMALL
from small_door import small_door

WORKER = Actor("worker", standing=Role.EDITOR)
REPORT = """mutation ($input: ReportPublishedInput!) { reportPublished(input: $input) {
  __typename
  ... on PublishedReport { revision publication { name cursor revision commit behind at actor
    held { application reason message clusters since } } }
  ... on Failure { code message hint path }
  ... on Conflict { revision } } }"""
PUBLISHED = "query ($revision: Revision!) { published(revision: $revision) { name behind } }"
HELD = {
    "application": "till",
    "reason": "failed",
    "message": "no template called x",
    "clusters": 3,
    "since": 1,
}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    settings = GraphSettings(poll_seconds=0.01)
    engine = await Engine.open(store, settings=settings, now=ticking())
    await give(engine, *SMALL)
    yield engine
    await engine.close()


def report(engine: Engine, **other: Any) -> dict[str, Any]:
    return {"name": "main", "cursor": str(engine.view.cursor), "commit": "c0ffee", **other}


async def reported(engine: Engine, actor: Actor = WORKER, **other: Any) -> Any:
    found = await data(engine, REPORT, actor=actor, input=report(engine, **other))
    return found["reportPublished"]


async def rename(engine: Engine, title: str) -> int:
    return (await give(engine, UpdateCluster("york-1", title=title))).revision


async def test_what_was_reported_is_told_with_how_far_it_is_behind(engine: Engine) -> None:
    cursor = str(engine.view.cursor)
    found = await reported(engine, held=[HELD, {**HELD, "application": None, "reason": "wave"}])
    publication = found["publication"]
    assert found == {
        "__typename": "PublishedReport",
        "revision": 1,
        "publication": {
            "name": "main",
            "cursor": cursor,
            "revision": 1,
            "commit": "c0ffee",
            "behind": 0,
            "at": publication["at"],
            "actor": "worker",
            "held": [HELD, {**HELD, "application": None, "reason": "wave"}],
        },
    }
    await rename(engine, "York")
    await rename(engine, "New York")
    told = await data(engine, "{ publications { name behind commit held { application } } }")
    assert told["publications"] == [
        {
            "name": "main",
            "behind": 2,
            "commit": "c0ffee",
            "held": [{"application": "till"}, {"application": None}],
        }
    ]


async def test_whether_a_change_has_arrived_is_told_for_every_output(engine: Engine) -> None:
    await reported(engine, name="oci")
    revision = await rename(engine, "York")
    await reported(engine)
    later = await rename(engine, "New York")
    for asked, main, oci in ((1, 0, 0), (revision, 0, 1), (later, 1, 2)):
        told = await data(engine, PUBLISHED, revision=asked)
        assert told["published"] == [
            {"name": "main", "behind": main},
            {"name": "oci", "behind": oci},
        ]


async def test_a_revision_that_is_nowhere_near_is_waited_for_and_then_said(engine: Engine) -> None:
    told = await ask(engine, PUBLISHED, {"revision": 99})
    assert told["data"] == {"published": None}
    assert told["errors"][0]["extensions"]["code"] == "UNAVAILABLE"


async def test_a_late_report_does_not_take_a_later_one_back(engine: Engine) -> None:
    earlier = str(engine.view.cursor)
    await rename(engine, "York")
    newest = await reported(engine, commit="new")
    late = await reported(engine, cursor=earlier, commit="old")
    assert late["publication"] == newest["publication"]
    assert late["revision"] == 2


async def test_a_place_of_another_history_is_a_conflict(engine: Engine) -> None:
    told = await reported(engine, cursor="1.ffffffffffffffff")
    assert (told["__typename"], told["code"]) == ("Conflict", "RESYNC_REQUIRED")
    assert told["revision"] == 1
    assert (await data(engine, "{ publications { name } }"))["publications"] == []


@pytest.mark.parametrize(
    ("other", "path"),
    [
        ({"name": "Main"}, ["name"]),
        ({"commit": ""}, ["commit"]),
        ({"held": [HELD, {**HELD, "since": 2}]}, ["held", "1", "since"]),
        ({"held": [{**HELD, "message": "x" * 501}]}, ["held", "0", "message"]),
        ({"held": [HELD] * (HELD_MAX + 1)}, ["held"]),
    ],
)
async def test_a_report_that_cannot_be_kept_is_invalid_where_it_is(
    engine: Engine, other: dict[str, Any], path: list[str]
) -> None:
    told = await reported(engine, **other)
    assert (told["__typename"], told["path"]) == ("Invalid", path)


@pytest.mark.parametrize(
    ("actor", "says"),
    [
        (Actor("ron", standing=Role.READER), "has not got the role editor"),
        (Actor("texan"), "for a part of the fleet only"),
        (Actor("till"), "for a part of the workload only"),
    ],
)
async def test_whoever_edits_less_than_everything_reports_nothing(
    engine: Engine, actor: Actor, says: str
) -> None:
    await give(
        engine,
        DefineNamespace("pos"),
        DefineApplication("till", "pos"),
        GrantAccess("texan", Role.EDITOR, "texan", scope="/geo/us/tx"),
        GrantAccess("reads-all", Role.READER, "till"),
        GrantAccess("till", Role.OPERATOR, "till", applications=("till",)),
    )
    told = await reported(engine, actor)
    assert told["__typename"] == "Denied"
    assert says in told["message"] and told["hint"]
    assert await engine.publications() == ()


async def test_whoever_sees_a_part_is_told_how_far_it_goes_and_not_what_is_held(
    engine: Engine,
) -> None:
    await reported(engine, held=[HELD])
    await give(engine, GrantAccess("texan", Role.READER, "texan", scope="/geo/us/tx"))
    asked = "{ publications { name revision commit behind actor held { message } } }"
    (told,) = (await data(engine, asked, actor=Actor("texan")))["publications"]
    assert told == {
        "name": "main",
        "revision": 1,
        "commit": "c0ffee",
        "behind": 1,
        "actor": None,
        "held": None,
    }


async def test_an_answer_is_not_remembered_though_the_revision_is_the_same(engine: Engine) -> None:
    async with small_door(engine) as door, httpx.AsyncClient(trust_env=False) as client:

        async def commits() -> list[str]:
            body = {"query": "{ publications { commit } published(revision: 1) { commit } }"}
            found = (await client.post(door.graphql, json=body)).json()["data"]
            return [each["commit"] for field in found.values() for each in field]

        assert await commits() == []
        for commit in ("one", "two"):
            await engine.report_published(Report("main", engine.view.cursor, commit))
            assert await commits() == [commit, commit]


async def test_as_many_as_may_be_held_back_are_taken_through_the_door(engine: Engine) -> None:
    async with small_door(engine) as door, httpx.AsyncClient(trust_env=False) as client:
        held = [{**HELD, "message": "x" * 400}] * HELD_MAX
        body = {"query": REPORT, "variables": {"input": report(engine, held=held)}}
        told = (await client.post(door.graphql, json=body)).json()
        assert told["data"]["reportPublished"]["__typename"] == "PublishedReport", str(told)[:300]


async def test_a_report_is_seen_by_another_process_and_after_a_restart(
    engine: Engine, tmp_path: Path
) -> None:
    await reported(engine)
    store = await EmbeddedStore.open(tmp_path / "fleet.db", write=False)
    other = await Engine.open(store)
    assert [each.commit for each in await other.publications()] == ["c0ffee"]
    assert other.view.cursor.revision == Revision(1), "a report is no revision"
    told = await ask(other, REPORT, {"input": report(other)}, actor=WORKER)
    assert told["data"]["reportPublished"]["__typename"] == "Denied"
    await other.close()


RECORD = """query ($cursors: [Cursor!]!, $commit: String) {
  record { store cursor relations(cursors: $cursors, commit: $commit) } }"""


async def test_a_renderer_asks_whether_what_is_published_is_of_this_history(engine: Engine) -> None:
    here = str(engine.view.cursor)
    store = (await data(engine, RECORD, cursors=[]))["record"]["store"]
    cursors = [here, f"{here}.{store}", f"{here}.{'0' * 16}", f"900.{'0' * 16}", f"1.{'0' * 16}"]
    told = (await data(engine, RECORD, cursors=cursors))["record"]
    assert told["cursor"] == here
    assert told["relations"] == ["CONTAINED", "CONTAINED", "OTHER", "AHEAD", "OTHER"]
    many = await ask(engine, RECORD, {"cursors": [here] * 21})
    assert many["errors"][0]["extensions"]["code"] == "INVALID"


async def test_a_place_older_than_the_log_is_known_by_what_was_reported_or_archived(
    tmp_path: Path,
) -> None:
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(store, now=ticking(), archive=tmp_path / "archive")
    await give(engine, *SMALL)
    old = engine.view.cursor
    await engine.report_published(Report("main", old, "c0ffee"))
    for number in range(3):
        await give(engine, UpdateCluster("austin-1", title=f"{number}"))
    (tmp_path / "archive").mkdir()
    await engine.compact(Revision(old.revision + 1))
    forged = f"{old.revision}.{'0' * 16}"

    async def relations(commit: str | None) -> Any:
        asked = [str(old), forged]
        return (await data(engine, RECORD, cursors=asked, commit=commit))["record"]["relations"]

    assert await relations(None) == ["CONTAINED", "OTHER"]
    for each in (tmp_path / "archive").iterdir():
        each.unlink()
    await engine.close()
    engine = await Engine.open(await EmbeddedStore.open(tmp_path / "fleet.db"), now=ticking())
    assert await relations(None) == ["FORGOTTEN", "FORGOTTEN"]
    assert await relations("c0ffee") == ["CONTAINED", "FORGOTTEN"]
    await engine.close()
