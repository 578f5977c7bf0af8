"""Sockets: the handshake, the protocol to the letter, quotas, and how each of them ends."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as dial
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin, Subprotocol

from api.settings import AuthSettings
from engines import give
from followers import CHANGES, CLUSTER_SET
from graph.engine import Engine
from graph.model.access import Role
from graph.model.command import GrantAccess, RegisterCluster, RevokeAccess, UpdateCluster
from graph.model.names import Revision
from graph.store.embedded import EmbeddedStore
from issuer import AUDIENCE, Issuer, issuing
from rough_clients import INIT, deaf, said, upgrade
from small_door import SmallDoor, small_door, small_engine
from sse_client import narrow_socket
from ws_client import PROTOCOL, Closed, Failed, connect

TOKEN = "token-of-ana-0123456789"
TOKENS = AuthSettings(tokens=SecretStr(f"ana:admin:{TOKEN} ben:reader:token-of-ben-0123456789"))
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


@asynccontextmanager
async def bare(door: SmallDoor, *, introduced: bool = True) -> AsyncIterator[ClientConnection]:
    """A socket to send anything over."""
    async with dial(door.ws_url, subprotocols=[PROTOCOL], max_size=None) as connection:
        if introduced:
            await connection.send('{"type": "connection_init"}')
            assert json.loads(await connection.recv()) == {"type": "connection_ack"}
        yield connection


async def ending(connection: ClientConnection) -> tuple[int, str]:
    """How the server closes the socket."""
    with pytest.raises(ConnectionClosed):
        async with asyncio.timeout(20):
            while True:
                await connection.recv()
    return connection.close_code or 0, connection.close_reason or ""


async def set_up(socket_of_door: Any) -> Any:
    """A subscription to every cluster that has caught up."""
    operation = await socket_of_door.subscribe(CLUSTER_SET, ALL)
    while (await operation.value())["__typename"] != "CaughtUp":
        pass
    return operation


# operations


async def test_queries_mutations_and_subscriptions_share_a_socket(door: SmallDoor) -> None:
    async with connect(door.ws_url) as socket:
        everything = await set_up(socket)
        mutation = """mutation { registerCluster(
            input: {name: "new-1", groups: ["/geo/us/ny"]}, reason: "it opens"
        ) { __typename ... on Applied { revision } } }"""
        answer = await socket.execute(mutation)
        assert answer == {"data": {"registerCluster": {"__typename": "Applied", "revision": 2}}}
        moved = await everything.value()
        assert moved["__typename"] == "Gained"
        assert moved["clusters"] == [{"name": "new-1"}]
        counted = await socket.execute("{ fleet { clusters { totalCount } } }")
        assert counted == {"data": {"fleet": {"clusters": {"totalCount": 4}}}}


@pytest.mark.parametrize(
    ("query", "variables", "code"),
    [
        ("subscription {", {}, "BAD_REQUEST"),
        ("subscription { nope }", {}, "BAD_REQUEST"),
        ("subscription { changes { __typename } ...no }", {}, "BAD_REQUEST"),
        (CLUSTER_SET, {}, "BAD_REQUEST"),
        (CLUSTER_SET, {"where": {"text": "/gio/us"}}, "SELECTOR_NOT_FOUND"),
        (CLUSTER_SET, {"where": {"text": "/geo/us and"}}, "SELECTOR_INVALID"),
        (CHANGES, {"after": "not a cursor"}, "INVALID"),
        ("{ fleet { revision", {}, "BAD_REQUEST"),
    ],
)
async def test_what_is_wrong_with_an_operation_fails_it_and_not_the_socket(
    query: str, variables: dict[str, Any], code: str, door: SmallDoor
) -> None:
    async with connect(door.ws_url) as socket:
        everything = await set_up(socket)
        operation = await socket.subscribe(query, variables)
        with pytest.raises(Failed) as failure:
            await operation.next()
        assert failure.value.code == code
        await give(door.engine, RegisterCluster("new-1", groups=("/geo/us/ny",)))
        assert (await everything.value())["__typename"] == "Gained"


async def test_an_operation_that_is_completed_says_no_more_and_its_id_is_free(
    door: SmallDoor,
) -> None:
    async with connect(door.ws_url) as socket:
        first = await socket.subscribe(CHANGES, operation_id="one")
        assert (await first.value())["__typename"] == "Progress"
        await first.complete()
        second = await socket.subscribe(CLUSTER_SET, ALL, operation_id="one")
        assert (await second.value())["__typename"] == "Snapshot"
        assert (await second.value())["__typename"] == "CaughtUp"
        assert door.tallies.subscriptions_open == 1
        await give(door.engine, RegisterCluster("new-1", groups=("/geo/us/ny",)))
        assert (await second.value())["__typename"] == "Gained"


async def test_an_id_that_is_used_again_belongs_to_its_new_operation_alone(tmp_path: Path) -> None:
    opens = OPENS.replace("mutation {", "mutation ($name: Name!) {").replace('"new-1"', "$name")
    ids = [f"op-{number}" for number in range(5)]
    async with slow_fleet(tmp_path) as (engine, store), small_door(engine) as door:
        async with connect(door.ws_url) as socket:
            asked = [await socket.subscribe(opens, {"name": id}, operation_id=id) for id in ids]
            await store.entered.wait()
            await asyncio.gather(*(each.complete() for each in asked))
            again = [await socket.subscribe(CHANGES, operation_id=each) for each in ids]
            for operation in again:
                assert (await operation.value())["__typename"] == "Progress"
            store.gate.set()
            await engine.at_least(Revision(6), timeout_seconds=10)
            await give(engine, RegisterCluster("new-1", groups=("/geo/us/ny",)))
            for operation in again:
                heard = [await operation.value() for _ in range(6)]
                assert [each.get("__typename") for each in heard] == ["Changeset"] * 6
                assert [each["revision"] for each in heard] == list(range(2, 8))
            assert door.tallies.subscriptions_open == len(ids)
        await nothing_left(door)


async def nothing_left(door: SmallDoor) -> None:
    """Wait until the door holds nothing open."""
    tallies = door.tallies
    async with asyncio.timeout(10):
        while tallies.sockets_open or tallies.subscriptions_open or tallies.shapes_open:  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.01)


async def test_a_ping_is_answered_before_and_after_the_introduction(door: SmallDoor) -> None:
    async with bare(door, introduced=False) as connection:
        await connection.send('{"type": "ping"}')
        assert json.loads(await connection.recv()) == {"type": "pong"}
        await connection.send('{"type": "connection_init"}')
        assert json.loads(await connection.recv()) == {"type": "connection_ack"}
        await connection.send('{"type": "pong", "payload": {"a": 1}}')
        await connection.send('{"type": "ping", "payload": {}}')
        assert json.loads(await connection.recv()) == {"type": "pong"}


async def test_a_cursor_of_another_history_ends_with_a_resync_and_not_with_a_guess(
    door: SmallDoor,
) -> None:
    foreign = f"1.{'0' * 16}"
    async with connect(door.ws_url) as socket:
        for query, variables in ((CLUSTER_SET, ALL), (CHANGES, {})):
            operation = await socket.subscribe(query, {**variables, "after": foreign})
            message = await operation.value()
            assert message["__typename"] == "ResyncRequired"
            assert message["head"] == str(door.engine.view.cursor)
            assert await operation.next() is None


async def test_a_cursor_this_process_has_not_reached_is_waited_for_and_then_refused(
    engine: Engine,
) -> None:
    async with small_door(engine, at_least_seconds=0.2) as door, connect(door.ws_url) as socket:
        for query, variables in ((CLUSTER_SET, ALL), (CHANGES, {})):
            operation = await socket.subscribe(query, {**variables, "after": f"9.{'0' * 16}"})
            with pytest.raises(Failed) as failure:
                await operation.next()
            assert failure.value.code == "UNAVAILABLE"


# frames


@pytest.mark.parametrize(
    "frame",
    [
        "5",
        "null",
        '"x"',
        "[]",
        "true",
        "{}",
        "",
        "{",
        "[" * 100_000,
        '{"type": 5}',
        '{"type": "nope"}',
        '{"type": "start", "id": "1"}',
        '{"type": "subscribe"}',
        '{"type": "subscribe", "id": "1"}',
        '{"type": "subscribe", "id": "1", "payload": 5}',
        '{"type": "subscribe", "id": "1", "payload": []}',
        '{"type": "subscribe", "id": "1", "payload": {}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": 5}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": null}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{a}", "variables": 5}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{a}", "variables": []}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{a}", "operationName": 5}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{a}", "extensions": 5}}',
        '{"type": "subscribe", "id": ["1"], "payload": {"query": "{a}"}}',
        '{"type": "subscribe", "id": 1, "payload": {"query": "{a}"}}',
        '{"type": "subscribe", "id": "", "payload": {"query": "{a}"}}',
        '{"type": "subscribe", "id": "' + "x" * 201 + '", "payload": {"query": "{a}"}}',
        '{"type": "complete"}',
        '{"type": "complete", "id": 5}',
        '{"type": "ping", "payload": 5}',
        '{"type": "pong", "payload": "x"}',
        b'{"type": "ping"}',
        b"\x00\xff",
    ],
)
async def test_what_is_no_message_of_the_protocol_closes_the_socket_with_4400(
    frame: str | bytes, door: SmallDoor
) -> None:
    async with bare(door) as connection:
        await connection.send(frame)
        code, reason = await ending(connection)
        assert code == 4400
        assert reason
        assert len(reason.encode()) <= 123


async def test_whoever_subscribes_before_the_introduction_is_closed_with_4401(
    door: SmallDoor,
) -> None:
    async with bare(door, introduced=False) as connection:
        message = {"type": "subscribe", "id": "1", "payload": {"query": CHANGES}}
        await connection.send(json.dumps(message))
        assert (await ending(connection))[0] == 4401


async def test_a_second_introduction_is_closed_with_4429(door: SmallDoor) -> None:
    async with bare(door) as connection:
        await connection.send('{"type": "connection_init"}')
        assert (await ending(connection))[0] == 4429


async def test_whoever_does_not_introduce_itself_in_time_is_closed_with_4408(
    engine: Engine,
) -> None:
    async with (
        small_door(engine, socket_init_seconds=0.2) as door,
        bare(door, introduced=False) as connection,
    ):
        await connection.send('{"type": "ping"}')
        assert (await ending(connection))[0] == 4408


async def test_an_id_that_is_in_use_closes_the_socket_with_4409(door: SmallDoor) -> None:
    async with connect(door.ws_url) as socket:
        await socket.subscribe(CHANGES, operation_id="one")
        await socket.subscribe(CHANGES, operation_id="one")
        assert (await socket.closed()).code == 4409


async def test_a_frame_that_is_too_long_closes_the_socket_with_1009(engine: Engine) -> None:
    async with small_door(engine, frame_bytes_max=10_000) as door, bare(door) as connection:
        await connection.send(json.dumps({"type": "ping", "payload": {"a": "x" * 10_000}}))
        assert (await ending(connection))[0] == 1009


async def test_a_socket_ends_without_a_trace_of_what_was_under_way(door: SmallDoor) -> None:
    async with connect(door.ws_url) as socket:
        for _ in range(5):
            await set_up(socket)
        assert door.tallies.subscriptions_open == 5
        assert door.tallies.sockets_open == 1
        socket.kill()
        await socket.closed()
        await nothing_left(door)


# the handshake


@pytest.mark.parametrize("protocols", [None, ["graphql-ws"], ["soap"]])
async def test_another_protocol_is_closed_with_4406(
    protocols: list[str] | None, door: SmallDoor
) -> None:
    offered = None if protocols is None else [Subprotocol(each) for each in protocols]
    async with dial(door.ws_url, subprotocols=offered) as connection:
        assert (await ending(connection))[0] == 4406


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1:1", "http://[x", "http://[::1", "x"],
)
async def test_pages_of_another_origin_are_refused_at_the_handshake(
    origin: str, door: SmallDoor
) -> None:
    with pytest.raises(InvalidStatus) as refusal:
        await dial(door.ws_url, subprotocols=[PROTOCOL], origin=Origin(origin))
    assert refusal.value.response.status_code == 403
    assert b"TRELLIS_API_ORIGINS" in refusal.value.response.body


async def test_pages_of_our_own_and_of_listed_origins_are_let_in(engine: Engine) -> None:
    async with small_door(engine, origins="https://a.example https://b.example") as door:
        for origin in (door.url, "https://a.example", "https://b.example"):
            async with dial(door.ws_url, subprotocols=[PROTOCOL], origin=Origin(origin)) as bare:
                await bare.send('{"type": "connection_init"}')
                assert json.loads(await bare.recv()) == {"type": "connection_ack"}


async def test_a_token_comes_in_the_header_or_in_the_introduction(engine: Engine) -> None:
    viewer = "{ viewer { name } }"
    async with small_door(engine, auth=TOKENS) as door:
        async with connect(door.ws_url, token=TOKEN) as socket:
            assert (await socket.execute(viewer)) == {"data": {"viewer": {"name": "ana"}}}
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with connect(door.ws_url, headers=headers) as socket:
            assert (await socket.execute(viewer)) == {"data": {"viewer": {"name": "ana"}}}


async def test_no_token_or_a_wrong_one_is_refused(engine: Engine) -> None:
    async with small_door(engine, auth=TOKENS) as door:
        for token in (None, "wrong"):
            with pytest.raises(Closed) as closed:
                async with connect(door.ws_url, token=token):
                    pass
            assert closed.value.code == 4403
            assert closed.value.reason
        with pytest.raises(InvalidStatus) as refusal:
            await dial(door.ws_url, additional_headers={"Authorization": "Bearer wrong"})
        assert refusal.value.response.status_code == 401
        async with bare(door, introduced=False) as connection:
            await connection.send('{"type": "connection_init", "payload": {"authorization": 5}}')
            assert (await ending(connection))[0] == 4400


# quotas


async def test_more_sockets_than_may_be_open_are_refused_at_the_handshake(engine: Engine) -> None:
    async with (
        small_door(engine, sockets_max=2) as door,
        connect(door.ws_url),
        connect(door.ws_url),
    ):
        with pytest.raises(InvalidStatus) as refusal:
            await dial(door.ws_url, subprotocols=[PROTOCOL])
        assert refusal.value.response.status_code == 503


async def test_more_sockets_than_one_caller_may_have_are_refused(engine: Engine) -> None:
    async with small_door(engine, auth=TOKENS, sockets_per_caller_max=1) as door:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            connect(door.ws_url, headers=headers),
            connect(door.ws_url, token="token-of-ben-0123456789"),
        ):
            with pytest.raises(InvalidStatus) as refusal:
                await dial(door.ws_url, additional_headers=headers)
            assert refusal.value.response.status_code == 429
            assert refusal.value.response.headers["retry-after"]
            with pytest.raises(Closed) as closed:
                async with connect(door.ws_url, token=TOKEN):
                    pass
            assert closed.value.code == 1013
        async with connect(door.ws_url, headers=headers) as socket:  # the place is free again
            assert "data" in await socket.execute("{ fleet { revision } }")


async def test_more_operations_than_a_socket_may_have_fail_one_by_one(engine: Engine) -> None:
    async with (
        small_door(engine, operations_per_socket_max=3) as door,
        connect(door.ws_url) as socket,
    ):
        operations = [await set_up(socket) for _ in range(3)]
        one_more = await socket.subscribe(CHANGES)
        with pytest.raises(Failed) as failure:
            await one_more.next()
        assert failure.value.code == "TOO_MANY_REQUESTS"
        await operations.pop().complete()
        await set_up(socket)


async def test_more_operations_than_a_caller_may_begin_fail_one_by_one(engine: Engine) -> None:
    async with (
        small_door(engine, requests_per_second=0.001, requests_burst=2) as door,
        connect(door.ws_url) as socket,
    ):
        for _ in range(2):
            assert "data" in await socket.execute("{ fleet { revision } }")
        with pytest.raises(Failed) as failure:
            await (await socket.subscribe("{ fleet { revision } }")).next()
        assert failure.value.code == "TOO_MANY_REQUESTS"


# readers that do not read


async def test_a_reader_that_does_not_read_is_closed_with_its_cursor_and_others_go_on(
    engine: Engine,
) -> None:
    limits = {"queue_messages_max": 20, "queue_bytes_max": 50_000, "send_seconds": 0.5}
    async with (
        small_door(engine, **limits) as door,
        connect(door.ws_url) as healthy,
        dial(
            door.ws_url,
            subprotocols=[PROTOCOL],
            max_queue=1,
            ping_interval=None,
            sock=await narrow_socket(*door.address),
        ) as sleeper,
    ):
        log = await healthy.subscribe(LONG_CHANGES)
        assert (await log.value())["__typename"] == "Progress"
        await sleeper.send('{"type": "connection_init"}')
        assert json.loads(await sleeper.recv()) == {"type": "connection_ack"}
        message = {"type": "subscribe", "id": "1", "payload": {"query": LONG_CHANGES}}
        await sleeper.send(json.dumps(message))
        assert json.loads(await sleeper.recv())["type"] == "next"
        written = 1
        async with asyncio.timeout(60):
            while not door.tallies.readers_dropped:
                written += 1
                title = f"{written} {'x' * 180}"
                await give(door.engine, UpdateCluster("austin-1", title=title))
                assert (await log.value())["revision"] == written
        code, reason = await ending(sleeper)
        assert code == 4413
        assert reason.startswith("slow consumer, resume after ")
        place = reason.removeprefix("slow consumer, resume after ")
        resumed = await healthy.subscribe(CHANGES, {"after": place})
        assert (await resumed.value())["revision"] == int(place.partition(".")[0]) + 1


async def test_a_reader_that_takes_nothing_is_counted_even_if_nothing_more_is_said(
    engine: Engine,
) -> None:
    async with small_door(engine, send_seconds=0.1) as door:
        subscribe = {"type": "subscribe", "id": "1", "payload": {"query": LONG_CHANGES}}
        port = door.address[1]
        with await deaf(port, upgrade(), said(INIT), said(subscribe)):
            async with asyncio.timeout(20):
                while not door.tallies.subscriptions_open:  # noqa: ASYNC110 - nobody announces it
                    await asyncio.sleep(0.01)
                fresh = [
                    RegisterCluster(f"n-{each}", groups=("/geo/us/ny",)) for each in range(500)
                ]
                await give(engine, *fresh)
                while door.tallies.sockets_open:  # noqa: ASYNC110 - nobody announces it
                    await asyncio.sleep(0.01)
        assert door.tallies.readers_dropped == 1
        await nothing_left(door)


LONG_CHANGES = (
    "subscription { changes { __typename ... on Progress { cursor } ... on Changeset { revision "
    + " ".join(f"a{number}: changes {{ lines }}" for number in range(60))
    + " } } }"
)
"""A message of this is long, whatever it says."""


async def test_a_flood_of_messages_is_read_at_the_pace_of_one_caller(engine: Engine) -> None:
    limits = {"requests_per_second": 50, "requests_burst": 20}
    async with small_door(engine, **limits) as door, bare(door) as flooding:
        pong = asyncio.Event()

        async def flood() -> None:
            while True:
                await flooding.send('{"type": "ping"}')

        async def count() -> int:
            answers = 0
            with suppress(ConnectionClosed):
                async for _ in flooding:
                    answers += 1
                    pong.set()
            return answers

        pings, pongs = asyncio.create_task(flood()), asyncio.create_task(count())
        await pong.wait()
        began = time.monotonic()
        async with connect(door.ws_url) as socket:
            for _ in range(15):
                assert "data" in await socket.execute("{ fleet { revision } }")
        pings.cancel()
        flooding.transport.abort()
        seconds = time.monotonic() - began
        assert await pongs <= 20 + 50 * (seconds + 1)


# rights that end


async def test_a_grant_taken_away_ends_the_stream_by_the_next_revision(
    engine: Engine, issuer: Issuer
) -> None:
    await give(engine, GrantAccess("tess", Role.READER, subject="tess", scope="/geo/us/tx"))
    async with (
        small_door(engine, auth=_believing(issuer)) as door,
        connect(door.ws_url, token=issuer.token(sub="tess")) as socket,
    ):
        held = await set_up(socket)
        log = await socket.subscribe(CHANGES)
        await log.value()
        await give(engine, RevokeAccess("tess"))
        for operation in (held, log):
            with pytest.raises(Failed) as failure:
                await operation.next()
            assert failure.value.code == "DENIED"


async def test_a_scope_that_changes_ends_the_stream_with_a_resync(
    engine: Engine, issuer: Issuer
) -> None:
    await give(engine, GrantAccess("tess", Role.READER, subject="tess", scope="/geo/us/tx"))
    async with (
        small_door(engine, auth=_believing(issuer)) as door,
        connect(door.ws_url, token=issuer.token(sub="tess")) as socket,
    ):
        held = await socket.subscribe(CLUSTER_SET, ALL)
        part = await held.value()
        assert part["clusters"] == [{"name": "austin-1"}, {"name": "austin-2"}]
        cursor = (await held.value())["cursor"]
        log = await socket.subscribe(CHANGES)
        await log.value()
        await give(engine, GrantAccess("tess", Role.READER, subject="tess", scope="/geo/us/ny"))
        for operation in (held, log):
            assert (await operation.value())["__typename"] == "ResyncRequired"
            assert await operation.next() is None
        for query, variables in ((CLUSTER_SET, ALL), (CHANGES, {})):
            resumed = await socket.subscribe(query, {**variables, "after": cursor})
            assert (await resumed.value())["__typename"] == "ResyncRequired"
        anew = await socket.subscribe(CLUSTER_SET, ALL)
        assert (await anew.value())["clusters"] == [{"name": "york-1"}]


async def test_a_grant_to_somebody_else_disturbs_nobody(engine: Engine, issuer: Issuer) -> None:
    await give(engine, GrantAccess("tess", Role.READER, subject="tess", scope="/geo/us/tx"))
    async with (
        small_door(engine, auth=_believing(issuer)) as door,
        connect(door.ws_url, token=issuer.token(sub="tess")) as socket,
    ):
        held = await set_up(socket)
        await give(engine, GrantAccess("sid", Role.READER, subject="sid", scope="/geo/us/ny"))
        await give(engine, RegisterCluster("york-9", groups=("/geo/us/ny",)))
        await give(engine, RegisterCluster("austin-9", groups=("/geo/us/tx/austin",)))
        assert (await held.value())["clusters"] == [{"name": "austin-9"}]


async def test_a_token_that_expires_ends_its_streams_and_closes_the_socket_with_4403(
    engine: Engine, issuer: Issuer
) -> None:
    await give(engine, GrantAccess("tess", Role.READER, subject="tess"))
    token = issuer.token(sub="tess", exp=int(time.time()) + 2)
    async with (
        small_door(engine, auth=_believing(issuer), recheck_seconds=0.2) as door,
        connect(door.ws_url, token=token) as socket,
    ):
        held = await set_up(socket)
        with pytest.raises(Failed) as failure:
            await held.next()
        assert failure.value.code == "UNAUTHENTICATED"
        closed = await socket.closed()
        assert closed.code == 4403
        assert "expired" in closed.reason
        await nothing_left(door)


async def test_a_process_that_stops_says_goodbye(engine: Engine) -> None:
    async with small_door(engine) as door, connect(door.ws_url) as socket:
        held = await set_up(socket)
        door.readiness.drain()
        assert (await socket.closed()).code == 1001
        with pytest.raises(Failed) as failure:
            await held.next()
        assert failure.value.code == "UNAVAILABLE"
        await nothing_left(door)


async def test_a_socket_that_has_not_introduced_itself_is_told_goodbye_too(
    door: SmallDoor,
) -> None:
    async with bare(door, introduced=False) as connection:
        door.readiness.drain()
        assert (await ending(connection))[0] == 1001


async def test_a_process_that_stops_answers_what_it_was_asked_and_begins_nothing_more(
    tmp_path: Path,
) -> None:
    async with (
        slow_fleet(tmp_path) as (engine, store),
        small_door(engine) as door,
        connect(door.ws_url) as socket,
    ):
        held = await set_up(socket)
        asked = await socket.subscribe(OPENS)
        await store.entered.wait()
        door.readiness.drain()
        with pytest.raises(Failed, match="stopping"):
            await held.next()
        with pytest.raises(Failed, match="stopping"):
            await (await socket.subscribe("{ fleet { revision } }")).next()
        store.gate.set()
        assert await asked.value() == {"__typename": "Applied"}
        assert await asked.next() is None
        assert (await socket.closed()).code == 1001


async def test_a_mutation_that_is_not_waited_for_may_have_taken_effect_and_that_is_said(
    tmp_path: Path,
) -> None:
    async with (
        slow_fleet(tmp_path) as (engine, store),
        small_door(engine, drain_seconds=0.2) as door,
        connect(door.ws_url) as socket,
    ):
        mutation = await socket.subscribe(OPENS)
        query = await socket.subscribe("{ fleet(atLeast: 3) { revision } }")
        await store.entered.wait()
        door.readiness.drain()
        with pytest.raises(Failed, match="whether it took effect is not known"):
            await mutation.next()
        with pytest.raises(Failed) as failure:
            await query.next()
        assert failure.value.errors[0]["message"] == "the process is stopping"
        assert (await socket.closed()).code == 1001
        store.gate.set()
        await engine.at_least(Revision(2), timeout_seconds=10)


OPENS = """mutation { registerCluster(
    input: {name: "new-1", groups: ["/geo/us/ny"]}, reason: "it opens") { __typename } }"""


class SlowStore(EmbeddedStore):
    """A store that keeps whoever commits waiting."""

    gate: asyncio.Event
    """Set while commits go through."""
    entered: asyncio.Event
    """Set when a commit waits."""

    async def commit(self, *given: Any, **named: Any) -> Any:
        if not self.gate.is_set():
            self.entered.set()
            await self.gate.wait()
        return await super().commit(*given, **named)


@asynccontextmanager
async def slow_fleet(directory: Path) -> AsyncIterator[tuple[Engine, SlowStore]]:
    """The small fleet, on a store that waits from now on."""
    store = await SlowStore.open(directory / "fleet.db")
    assert isinstance(store, SlowStore)
    store.gate, store.entered = asyncio.Event(), asyncio.Event()
    store.gate.set()
    async with small_engine(directory, store=store) as engine:
        store.gate.clear()
        try:
            yield engine, store
        finally:
            store.gate.set()


def _believing(issuer: Issuer) -> AuthSettings:
    return AuthSettings(
        issuer=issuer.url, audience=AUDIENCE, ca_file=str(issuer.ca_file), leeway_seconds=0
    )
