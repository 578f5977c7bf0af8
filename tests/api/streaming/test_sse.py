"""Event streams: one operation a response, as graphql-sse has it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from api.settings import AuthSettings
from engines import give
from followers import CHANGES, CLUSTER_SET
from graph.engine import Engine
from graph.model.access import Role
from graph.model.command import GrantAccess, RegisterCluster, RevokeAccess, UpdateCluster
from issuer import AUDIENCE, Issuer, issuing
from small_door import SmallDoor, small_door, small_engine
from sse_client import Event, listen, narrow_socket

ALL = {"where": {"text": "all"}}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with small_engine(tmp_path) as engine:
        yield engine


@pytest.fixture
async def door(engine: Engine) -> AsyncIterator[SmallDoor]:
    async with small_door(engine) as door:
        yield door


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[Issuer]:
    with issuing(tmp_path) as running:
        yield running


async def rest(events: AsyncIterator[Event]) -> list[Event]:
    """Every event to come, to the end of the response."""
    async with asyncio.timeout(20):
        return [event async for event in events]


async def test_a_subscription_is_a_stream_of_next_events_with_cursors_as_ids(
    door: SmallDoor,
) -> None:
    async with listen(door.graphql, CLUSTER_SET, ALL) as events:
        assert (await anext(events)).value["__typename"] == "Snapshot"
        caught_up = await anext(events)
        assert (caught_up.name, caught_up.id) == ("next", str(door.engine.view.cursor))
        await give(door.engine, RegisterCluster("new-1", groups=("/geo/us/ny",)))
        gained = await anext(events)
        assert gained.value["clusters"] == [{"name": "new-1"}]
        assert gained.id == gained.value["cursor"] == str(door.engine.view.cursor)


async def test_queries_and_mutations_are_answered_by_one_event_and_complete(
    door: SmallDoor,
) -> None:
    mutation = """mutation { registerCluster(
        input: {name: "new-1", groups: ["/geo/us/ny"]}, reason: "it opens"
    ) { __typename } }"""
    for query, field in (("{ fleet { revision } }", "fleet"), (mutation, "registerCluster")):
        async with listen(door.graphql, query) as events:
            answer, end = await rest(events)
        assert answer.name == "next"
        assert answer.payload["data"][field] in ({"revision": 1}, {"__typename": "Applied"})
        assert end == Event("complete", "", "")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("subscription {", "BAD_REQUEST"),
        ("subscription { nope }", "BAD_REQUEST"),
        ('subscription { changes(after: "x") { __typename } }', "BAD_REQUEST"),
        ('subscription { clusterSet(where: {text: "/gio"}) { __typename } }', "SELECTOR_NOT_FOUND"),
    ],
)
async def test_what_is_wrong_with_an_operation_is_said_in_the_stream(
    query: str, code: str, door: SmallDoor
) -> None:
    async with listen(door.graphql, query) as events:
        errors, end = await rest(events)
    assert errors.payload["errors"][0]["extensions"]["code"] in (code, "INVALID")
    assert end.name == "complete"


async def test_the_last_event_id_is_where_a_stream_resumes(door: SmallDoor) -> None:
    place = str(door.engine.view.cursor)
    await give(door.engine, RegisterCluster("new-1", groups=("/geo/us/ny",)))
    async with listen(door.graphql, CHANGES, headers={"last-event-id": place}) as events:
        assert (await anext(events)).value["revision"] == 2
    async with listen(door.graphql, CLUSTER_SET, ALL, headers={"last-event-id": place}) as events:
        assert (await anext(events)).value["clusters"] == [{"name": "new-1"}]
        assert (await anext(events)).value["__typename"] == "CaughtUp"


async def test_a_silent_stream_shows_that_it_is_there(engine: Engine) -> None:
    async with (
        small_door(engine, heartbeat_seconds=0.05) as door,
        httpx.AsyncClient(timeout=20, trust_env=False) as client,
        client.stream(
            "POST",
            door.graphql,
            json={"query": CHANGES},
            headers={"accept": "text/event-stream"},
        ) as response,
    ):
        assert response.headers["x-accel-buffering"] == "no"
        assert response.headers["cache-control"] == "no-store"
        beats = 0
        async for line in response.aiter_lines():
            beats += line == ":"
            if beats == 3:
                break


async def test_a_client_that_hangs_up_leaves_nothing_behind(door: SmallDoor) -> None:
    async with listen(door.graphql, CLUSTER_SET, ALL) as events:
        await anext(events)
        await anext(events)
        assert door.tallies.sockets_open == 1
        assert door.tallies.subscriptions_open == 1
    async with asyncio.timeout(10):
        while door.tallies.sockets_open or door.tallies.subscriptions_open:  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.01)


async def test_a_shared_connection_is_refused_readably(door: SmallDoor) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        accept = {"accept": "text/event-stream"}
        reserved = await client.put(door.graphql, headers=accept)
        assert reserved.status_code == 405
        shared = await client.post(
            door.graphql,
            json={"query": CHANGES},
            headers={**accept, "x-graphql-event-stream-token": "x"},
        )
        assert shared.status_code == 400
        assert "one connection" in shared.json()["errors"][0]["extensions"]["hint"]
        odd = await client.post(
            door.graphql, json={"query": CHANGES}, headers={**accept, "last-event-id": "x"}
        )
        assert odd.status_code == 400


async def test_streams_count_for_the_quota_of_their_caller(engine: Engine) -> None:
    async with (
        small_door(engine, sockets_per_caller_max=1) as door,
        listen(door.graphql, CHANGES) as events,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        await anext(events)
        answer = await client.post(
            door.graphql, json={"query": CHANGES}, headers={"accept": "text/event-stream"}
        )
        assert answer.status_code == 429
        assert answer.json()["errors"][0]["extensions"]["code"] == "TOO_MANY_REQUESTS"


async def test_a_stream_ends_when_its_token_or_its_grant_does(
    engine: Engine, issuer: Issuer
) -> None:
    auth = AuthSettings(
        issuer=issuer.url, audience=AUDIENCE, ca_file=str(issuer.ca_file), leeway_seconds=0
    )
    await give(engine, GrantAccess("tess", Role.READER, subject="tess"))
    async with small_door(engine, auth=auth, recheck_seconds=0.2) as door:
        short = {"authorization": f"Bearer {issuer.token(sub='tess', exp=int(time.time()) + 2)}"}
        long = {"authorization": f"Bearer {issuer.token(sub='tess')}"}
        async with listen(door.graphql, CHANGES, headers=short) as events:
            place = (await anext(events)).id
            (last,) = await rest(events)
            (error,) = last.payload["errors"]
            assert error["extensions"]["code"] == "UNAUTHENTICATED"
            assert error["extensions"]["cursor"] == place
        async with listen(door.graphql, CHANGES, headers=long) as events:
            await anext(events)
            await give(engine, RevokeAccess("tess"))
            last, end = await rest(events)
            assert last.payload["errors"][0]["extensions"]["code"] == "DENIED"
            assert end.name == "complete"


async def test_a_process_that_stops_ends_its_streams(door: SmallDoor) -> None:
    async with listen(door.graphql, CHANGES) as events:
        await anext(events)
        door.readiness.drain()
        (last,) = await rest(events)
        assert last.payload["errors"][0]["extensions"]["code"] == "UNAVAILABLE"


async def test_a_process_that_stops_answers_what_a_stream_was_asked(door: SmallDoor) -> None:
    query = "{ fleet(atLeast: 2) { revision } }"
    async with listen(door.graphql, query) as events:
        door.readiness.drain()
        await give(door.engine, RegisterCluster("new-1", groups=("/geo/us/ny",)))
        answer, end = await rest(events)
        assert answer.payload == {"data": {"fleet": {"revision": 2}}}
        assert end.name == "complete"


async def test_a_stream_that_is_not_waited_for_says_so(engine: Engine) -> None:
    async with (
        small_door(engine, drain_seconds=0.1) as door,
        listen(door.graphql, "{ fleet(atLeast: 2) { revision } }") as events,
    ):
        door.readiness.drain()
        (last,) = await rest(events)
        assert last.payload["errors"][0]["message"] == "the process is stopping"


LONG_CHANGES = (
    "subscription { changes { __typename ... on Progress { cursor } ... on Changeset { revision "
    + " ".join(f"a{number}: changes {{ lines }}" for number in range(60))
    + " } } }"
)


async def test_a_reader_that_does_not_read_is_given_up(engine: Engine) -> None:
    limits = {"queue_messages_max": 20, "queue_bytes_max": 50_000, "send_seconds": 0.5}
    async with small_door(engine, **limits) as door:
        host, port = door.address
        narrow = await narrow_socket(host, port)
        reader, writer = await asyncio.open_connection(sock=narrow, limit=1_024)
        body = b'{"query": "%s"}' % LONG_CHANGES.encode()
        head = (
            f"POST /graphql HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-length: {len(body)}\r\n"
            "content-type: application/json\r\naccept: text/event-stream\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await reader.readuntil(b"Progress")
        async with asyncio.timeout(60):
            written = 0
            while not door.tallies.readers_dropped:
                written += 1
                title = f"{written} {'x' * 180}"
                await give(door.engine, UpdateCluster("austin-1", title=title))
            while door.tallies.sockets_open:  # noqa: ASYNC110 - nobody announces it
                await asyncio.sleep(0.01)
            await _broken_off(reader)
        writer.close()


async def _broken_off(reader: asyncio.StreamReader) -> None:
    """What was sent before can be read; then the connection ends."""
    try:
        while await reader.read(65_536):
            pass
    except ConnectionError:
        pass
