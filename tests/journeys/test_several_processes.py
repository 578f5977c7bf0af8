"""Two API processes on one Neo4j: whatever happens through one is so at the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from api_process import Api, batch, calling, eventually, neo4j_settings
from followers import LogFollower, SetFollower, revision_of
from graph.model.access import Role
from graph.model.command import (
    CreateGroup,
    GrantAccess,
    MoveGroup,
    RegisterCluster,
    RetireCluster,
    RevokeAccess,
)
from issuer import issuing
from neo4j_server import server
from serving import Serving, serve
from small import SMALL
from ws_client import Failed, connect

pytestmark = pytest.mark.neo4j

POLL_SECONDS = 0.2
TOKEN = "the-token-of-ana"
ROUNDS = 6
"""Races; each is another chance for the two to meet in the middle."""

PAGE = """
query Page($after: String) {
  fleet {
    clusters(where: {text: "/geo"}, first: 2, after: $after) {
      nodes { name }
      pageInfo { hasNextPage endCursor }
    }
  }
}
"""
EVERYTHING = """
{ fleet { cursor clusters(first: 1000) { nodes { id name groups { path } label(key: "size") } }
          tree(root: "/geo", depth: 10) { path count } } }
"""


class Pair:
    """Two processes, and a token for somebody nobody knows yet."""

    def __init__(self, one: Serving, other: Serving, stranger: str) -> None:
        self.one = one
        self.other = other
        self.stranger = stranger


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    where = server()
    where.wipe()
    with issuing(tmp_path_factory.mktemp("issuer")) as issuer:
        settings = {
            **neo4j_settings(where),
            **issuer.settings(),
            "TRELLIS_AUTH_TOKENS": f"ana:admin:{TOKEN}",
            "TRELLIS_GRAPH_POLL_SECONDS": str(POLL_SECONDS),
        }
        first, second = (tmp_path_factory.mktemp(name) for name in ("one", "other"))
        with (
            serve(where.url, settings, arguments=["--create"], directory=first) as one,
            serve(where.url, settings, directory=second) as other,
        ):
            asyncio.run(_fill(one))
            yield Pair(one, other, issuer.token(sub="sid"))


async def _fill(one: Serving) -> None:
    async with calling(one, TOKEN) as a:
        assert (await a.apply(*SMALL))["__typename"] == "Applied"


@pytest.fixture
async def a(pair: Pair) -> AsyncIterator[Api]:
    async with calling(pair.one, TOKEN) as api:
        yield api


@pytest.fixture
async def b(pair: Pair) -> AsyncIterator[Api]:
    async with calling(pair.other, TOKEN) as api:
        yield api


async def applied(api: Api, *commands: Any, key: str | None = None) -> int:
    result = await api.apply(*commands, key=key)
    assert result["__typename"] == "Applied", result
    return int(result["revision"])


async def same(a: Api, b: Api) -> dict[str, Any]:
    """What both say, once each has what the other had written."""
    there = max(await a.revision(), await b.revision())
    asked = EVERYTHING.replace("{ fleet", f"{{ fleet(atLeast: {there})", 1)
    one, other = await a.data(asked), await b.data(asked)
    assert one == other
    found: dict[str, Any] = one["fleet"]
    return found


async def test_a_write_through_one_is_seen_at_the_other_within_its_look_at_the_store(
    a: Api, b: Api
) -> None:
    waits: list[float] = []
    for number in range(5):
        there = await applied(a, RegisterCluster(f"seen-{number}", groups=("/geo/ca",)))

        async def is_there(there: int = there) -> bool:
            return await b.revision() >= there

        waits.append(await eventually(is_there, within=POLL_SECONDS + 20))  # a slow machine's
    print(f"seen after {sorted(waits)[len(waits) // 2]:.3f} s, at a poll of {POLL_SECONDS:g} s")


async def test_a_write_through_one_is_seen_at_once_where_the_other_is_asked_for_it(
    a: Api, b: Api
) -> None:
    for number in range(5):
        there = await applied(a, RegisterCluster(f"at-once-{number}", groups=("/geo/ca",)))
        asked = f'{{ fleet(atLeast: {there}) {{ cluster(name: "at-once-{number}") {{ name }} }} }}'
        assert (await b.data(asked))["fleet"]["cluster"] == {"name": f"at-once-{number}"}


async def test_a_revision_nobody_has_written_is_waited_for_only_so_long(b: Api) -> None:
    answer = await b.post(f"{{ fleet(atLeast: {await b.revision() + 1_000}) {{ revision }} }}")
    (error,) = answer.json()["errors"]
    assert error["extensions"]["code"] == "UNAVAILABLE"
    assert "not reached revision" in error["message"]


async def test_pages_begun_at_one_go_on_at_the_other_even_before_it_has_heard(
    a: Api, b: Api
) -> None:
    for number in range(3):
        await applied(a, RegisterCluster(f"page-{number}", groups=("/geo/us/ny",)))
    wanted = [each["name"] for each in (await same(a, b))["clusters"]["nodes"]]
    await applied(a, RegisterCluster("zz-last", groups=("/geo/us/ny",)))
    found: list[str] = []
    after = None
    turns = [a, b]
    while True:  # the first page is of a revision the other may not have yet
        page = (await turns[0].data(PAGE, after=after))["fleet"]["clusters"]
        found += [each["name"] for each in page["nodes"]]
        turns.reverse()
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    assert found == sorted([*wanted, "zz-last"])


async def test_subscribers_of_the_other_hear_every_change_once(pair: Pair, a: Api, b: Api) -> None:
    log, members = LogFollower(), SetFollower("/geo/us")
    async with connect(pair.other.ws_url, token=TOKEN) as socket:
        members.begin()
        changes = await socket.subscribe(log.query, log.variables)
        log.take(await changes.value())
        clusters = await socket.subscribe(members.query, members.variables)
        while not members.current:
            members.take(await clusters.value())
        first = revision_of(log.cursor) + 1
        for number in range(10):
            last = await applied(a, RegisterCluster(f"told-{number}", groups=("/geo/us/ny",)))
        last = await applied(a, RetireCluster("told-0"), RetireCluster("told-1"))
        while revision_of(log.cursor) < last:
            log.take(await changes.value())
        while revision_of(members.cursor) < last:
            members.take(await clusters.value())
    assert log.revisions == list(range(first, last + 1))
    asked = '{ fleet { clusters(where: {text: "/geo/us"}, first: 1000) { nodes { name } } } }'
    fresh = (await a.data(asked))["fleet"]["clusters"]["nodes"]
    assert members.held == {each["name"] for each in fresh}


async def test_a_cursor_from_one_is_resumed_at_the_other(pair: Pair, a: Api, b: Api) -> None:
    await same(a, b)
    follower = LogFollower()
    for number in range(6):
        turn, way = ((a, pair.one), (b, pair.other))[number % 2]
        async with connect(way.ws_url, token=TOKEN) as socket:
            operation = await socket.subscribe(follower.query, follower.variables)
            if follower.cursor is None:
                follower.take(await operation.value())
                first = revision_of(follower.cursor) + 1
            last = await applied(turn, RegisterCluster(f"to-and-fro-{number}"))
            while revision_of(follower.cursor) < last:
                follower.take(await operation.value())
    assert follower.revisions == list(range(first, last + 1))


async def test_a_grant_given_through_one_counts_at_the_other_and_so_does_its_end(
    pair: Pair, a: Api, b: Api
) -> None:
    async with AsyncExitStack() as stack:
        sid = await stack.enter_async_context(calling(pair.other, pair.stranger))
        counting = "{ fleet { clusters { totalCount } } }"
        assert (await sid.post(counting)).json()["errors"][0]["extensions"]["code"] == "DENIED"
        grant = GrantAccess("austin-crew", Role.READER, subject="sid", scope="/geo/us/tx")
        there = await applied(a, grant)
        await b.data(f"{{ fleet(atLeast: {there}) {{ revision }} }}")
        seen = (await sid.data(counting))["fleet"]["clusters"]["totalCount"]
        assert 0 < seen < (await b.fleet())["clusters"]["totalCount"]
        socket = await stack.enter_async_context(connect(pair.other.ws_url, token=pair.stranger))
        follower = SetFollower("all")
        follower.begin()
        operation = await socket.subscribe(follower.query, follower.variables)
        while not follower.current:
            follower.take(await operation.value())
        assert len(follower.held) == seen
        there = await applied(a, RevokeAccess("austin-crew"))
        with pytest.raises(Failed) as refused:
            while True:
                follower.take(await operation.value())
        assert refused.value.code == "DENIED"
        await b.data(f"{{ fleet(atLeast: {there}) {{ revision }} }}")
        assert (await sid.post(counting)).json()["errors"][0]["extensions"]["code"] == "DENIED"


async def test_a_key_sent_to_one_and_then_to_the_other_takes_effect_once(a: Api, b: Api) -> None:
    sent = batch(RegisterCluster("once", groups=("/geo/ca",)), key="once-1")
    first = await a.send(sent)
    assert first["__typename"] == "Applied" and first["changed"]
    assert await b.send(sent) == first
    assert (await b.fleet())["revision"] >= first["revision"]
    other = await b.apply(RegisterCluster("twice", groups=("/geo/ca",)), key="once-1")
    assert other["code"] == "CONFLICT"
    await same(a, b)


async def test_a_key_sent_to_both_at_once_takes_effect_once(a: Api, b: Api) -> None:
    for number in range(ROUNDS):
        sent = batch(RegisterCluster(f"race-{number}", groups=("/geo/ca",)), key=f"race-{number}")
        one, other = await asyncio.gather(a.send(sent), b.send(sent))
        assert one == other and one["__typename"] == "Applied", (one, other)
    await same(a, b)


async def test_two_moves_through_both_that_would_form_a_circle_are_one_move(a: Api, b: Api) -> None:
    for name in ("left", "right"):
        group = f"/geo/{name}"
        await applied(a, CreateGroup(group), RegisterCluster(f"in-{name}", groups=(group,)))
    await same(a, b)
    for _ in range(ROUNDS):
        results = await asyncio.gather(
            a.apply(MoveGroup("/geo/left", "/geo/right")),
            b.apply(MoveGroup("/geo/right", "/geo/left")),
        )
        done = [each["__typename"] == "Applied" for each in results]
        assert done.count(True) == 1, results
        (refusal,) = [each for each in results if each["__typename"] != "Applied"]
        assert refusal["code"] in ("NOT_FOUND", "INVALID", "REJECTED", "CONFLICT"), refusal
        paths = {row["path"] for row in (await same(a, b))["tree"]}
        moved = "/geo/right/left" if done[0] else "/geo/left/right"
        assert {"/geo/right/left", "/geo/left/right"} & paths == {moved}
        await applied(a, MoveGroup(moved, "/geo"))
        await same(a, b)
