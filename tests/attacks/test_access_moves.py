"""What moves out of a scope while somebody is looking: between pages, messages, look and change.

And what is remembered for one caller is never another's.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from access_cases import PEOPLE, POSITIONS, SCOPED, Person
from access_house import House, check, opened_house
from access_operations import LOGS, PREVIEW, READS, SUBSCRIPTIONS, mutation
from engines import give
from graph.model.access import Role
from graph.model.command import Command, GrantAccess, Join, RevokeAccess, UpdateCluster
from sse_client import listen
from ws_client import Failed, connect

READER, EDITOR = SCOPED[0], SCOPED[2]
BY_NAME = {each.name: each for each in PEOPLE}

AWAY: tuple[Command, ...] = (
    Join("austin-2", "/geo/us/zzhidden-ny"),
    UpdateCluster("austin-2", title="zzhidden-moved", labels={"team": "zzhidden-team"}),
)
BACK: tuple[Command, ...] = (
    Join("austin-2", "/geo/us/tx/austin"),
    UpdateCluster("austin-2", title="Back", labels={"team": "texas"}),
)
HIDDEN_CHANGE = UpdateCluster("zzhidden-york-2", title="zzhidden-again")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with opened_house(tmp_path) as found:
        yield found


PAGE = """query ($after: String, $asOf: RevisionOrTime) {
  fleet(asOf: $asOf) { revision clusters(first: 2, after: $after) {
    totalCount nodes { name title } pageInfo { endCursor hasNextPage } } } }"""


@pytest.mark.parametrize("person", SCOPED, ids=lambda each: each.name)
async def test_what_moves_out_between_two_pages_is_on_neither(house: House, person: Person) -> None:
    one = (await house.ask(person, PAGE, {}))["data"]["fleet"]
    assert [each["name"] for each in one["clusters"]["nodes"]] == ["austin-1", "austin-2"]
    end = one["clusters"]["pageInfo"]["endCursor"]
    await give(house.engine, *AWAY, actor="ana", reason="away")
    two = (await house.ask(person, PAGE, {"after": end}))["data"]["fleet"]["clusters"]
    assert "austin-2" not in json.dumps(two)
    assert two["nodes"][0]["name"] == "austin-3"
    assert two["totalCount"] == one["clusters"]["totalCount"] - 1
    then = {"after": end, "asOf": one["revision"]}
    earlier = (await house.ask(person, PAGE, then))["data"]["fleet"]["clusters"]
    assert earlier["totalCount"] == one["clusters"]["totalCount"]


@pytest.mark.parametrize("person", [READER, SCOPED[1], SCOPED[4]], ids=lambda each: each.name)
async def test_what_moves_out_is_lost_to_followers_and_what_happens_outside_is_not_told(
    house: House, person: Person
) -> None:
    async with connect(house.door.ws_url, token=house.tokens[person.name]) as socket:
        log = await socket.subscribe(SUBSCRIPTIONS["changes"])
        held = await socket.subscribe(SUBSCRIPTIONS["clusterSet"], {"where": {"text": "all"}})
        told: list[dict[str, Any]] = [await log.value()]
        kinds: list[str] = []
        while not kinds or kinds[-1] != "CaughtUp":
            told.append(await held.value())
            kinds.append(told[-1]["__typename"])
        for commands in ((HIDDEN_CHANGE,), AWAY, (HIDDEN_CHANGE,), BACK):
            await give(house.engine, *commands, actor="ana", reason="as it goes")
        lost, gained = await held.value(), await held.value()
        assert [each["name"] for each in lost["clusters"]] == ["austin-2"]
        assert lost["__typename"] == "Lost"
        assert [each["title"] for each in gained["clusters"]] == ["Back"]
        gone, come = await log.value(), await log.value()
        assert [each["action"] for each in (*gone["changes"], *come["changes"])] == [
            "REMOVED",
            "CREATED",
        ]
        check(person, "", json.dumps([told, lost, gained, gone, come]))


async def test_event_streams_tell_no_more_than_sockets_do(house: House) -> None:
    async with listen(
        house.door.graphql, SUBSCRIPTIONS["changes"], headers=house.as_(READER)
    ) as events:
        first = await anext(events)
        await give(house.engine, HIDDEN_CHANGE, actor="zzhidden-hand", reason="zzhidden-reason")
        await give(house.engine, *AWAY, actor="ana", reason="away")
        second = await anext(events)
    assert second.value["changes"][0]["action"] == "REMOVED"
    for event in (first, second):
        check(READER, "", f"{event.id} {event.data}")


async def test_what_moves_out_between_preview_and_change_is_refused_as_missing(
    house: House,
) -> None:
    given = {"name": "austin-2", "title": "mine"}
    batch = {"input": {"reason": "r", "commands": [{"updateCluster": given}]}}
    looked = (await house.ask(EDITOR, PREVIEW, batch))["data"]["preview"]
    assert looked["__typename"] == "Preview"
    await give(house.engine, *AWAY, actor="ana", reason="away")
    query = mutation("updateCluster")
    told = (await house.ask(EDITOR, query, {"input": given}))["data"]["updateCluster"]
    other = {"name": "austin-9", "title": "mine"}
    absent = (await house.ask(EDITOR, query, {"input": other}))["data"]["updateCluster"]
    assert told["__typename"] == "NotFound"
    assert json.dumps(told).replace("austin-2", "austin-9") == json.dumps(absent)
    again = (await house.ask(EDITOR, PREVIEW, batch))["data"]["preview"]
    assert again["__typename"] == "NotFound"


@pytest.mark.parametrize("field", SUBSCRIPTIONS)
async def test_a_grant_that_goes_ends_a_stream_before_anything_else_is_told(
    house: House, field: str
) -> None:
    variables = {"where": {"text": "all"}} if field == "clusterSet" else {}
    async with connect(house.door.ws_url, token=house.tokens[READER.name]) as socket:
        stream = await socket.subscribe(SUBSCRIPTIONS[field], variables)
        while (await stream.value())["__typename"] not in ("CaughtUp", "Progress"):
            pass
        revoke = RevokeAccess("zzhidden-grant-reads-texas-0")
        await give(house.engine, revoke, UpdateCluster("austin-1", title="unseen"))
        with pytest.raises(Failed) as failed:
            await stream.next()
    assert failed.value.code == "DENIED"
    check(READER, "", json.dumps(failed.value.errors))
    assert "unseen" not in json.dumps(failed.value.errors)


async def test_a_scope_that_shrinks_makes_its_followers_start_again(house: House) -> None:
    async with connect(house.door.ws_url, token=house.tokens[READER.name]) as socket:
        stream = await socket.subscribe(SUBSCRIPTIONS["changes"])
        cursor = (await stream.value())["cursor"]
        await give(
            house.engine,
            GrantAccess(
                "zzhidden-grant-reads-texas-0",
                Role.READER,
                subject=READER.name,
                scope="/geo/us/tx/waco",
            ),
        )
        last = await stream.value()
        assert last["__typename"] == "ResyncRequired"
        again = await socket.subscribe(SUBSCRIPTIONS["changes"], {"after": cursor})
        assert (await again.value())["__typename"] == "ResyncRequired"
        check(READER, "", json.dumps(last))


# what is remembered


async def test_a_remembered_answer_is_given_to_those_who_may_see_the_same_alone(
    house: House,
) -> None:
    """The same bytes asked by everybody in turn, three times over: the second time from memory."""
    names = ("everything", "catalogue", "grants", "facets from the top", "by text: not", "nodes")
    hits = house.door.tallies.responses_hit
    tags: dict[str, dict[str, str]] = {}
    for name in names:
        variables = READS[name].variables(POSITIONS["outside"])
        first: dict[str, bytes] = {}
        for _ in range(3):
            for person in PEOPLE[1:]:
                answer = await house.post(person, READS[name].query, variables)
                assert first.setdefault(person.name, answer.content) == answer.content
                if "etag" in answer.headers:
                    tags.setdefault(name, {})[person.name] = answer.headers["etag"]
        assert first["reads-texas"] != first["first"], name
    for name in ("everything", "catalogue", "facets from the top"):
        assert tags[name]["reads-texas"] != tags[name]["reads-all"]
        assert tags[name]["reads-texas"] == tags[name]["edits-texas"]
    assert set(tags["grants"]) == {"rules-all", "first"}
    assert house.door.tallies.responses_hit > hits


async def test_who_was_granted_what_is_for_admins_of_the_whole_fleet(house: House) -> None:
    """Not for whoever reads all of it: neither by asking, nor by asking after an admin did."""
    grant = "zzhidden-grant-reads-texas-0"
    node = f'{{ node(id: "grant:{grant}") {{ id }} }}'
    for _ in range(2):
        for name, reads in (
            ("rules-all", True),
            ("reads-all", False),
            ("first", True),
            ("edits-all", False),
            ("rules-texas", False),
        ):
            person = BY_NAME[name]
            listed = await house.ask(person, READS["grants"].query, {})
            assert ("errors" not in listed) is reads, name
            found = (await house.ask(person, node, {}))["data"]["node"]
            assert (found is not None) is reads, name
            log = await house.ask(person, LOGS["log"].query, {})
            assert (f"grant:{grant}" in json.dumps(log)) is reads, name
            async with connect(house.door.ws_url, token=house.tokens[name]) as socket:
                begin = str((await house.engine.as_of(house.engine.view.cursor.revision)).cursor)
                stream = await socket.subscribe(SUBSCRIPTIONS["changes"], {"after": begin})
                await stream.value()
                await give(house.engine, GrantAccess("more", Role.READER, subject=f"x{name}"))
                await give(house.engine, UpdateCluster("austin-1", title=f"after {name}"))
                told = await stream.value()
                assert (told["changes"][0]["objectId"] == "grant:more") is reads, name
                await give(house.engine, RevokeAccess("more"))


async def test_a_change_of_what_one_reads_is_seen_at_once_whatever_is_remembered(
    house: House,
) -> None:
    query = READS["everything"].query
    before = (await house.ask(READER, query, {}))["data"]["fleet"]["clusters"]["totalCount"]
    await house.ask(READER, query, {})
    await give(house.engine, RevokeAccess("zzhidden-grant-reads-texas-0"))
    told = await house.ask(READER, query, {})
    assert told["errors"][0]["extensions"]["code"] == "DENIED"
    await give(
        house.engine,
        GrantAccess("other", Role.READER, subject=READER.name, scope="/geo/us/tx/waco"),
    )
    after = (await house.ask(READER, query, {}))["data"]["fleet"]["clusters"]["totalCount"]
    assert (before, after) == (5, 2)
