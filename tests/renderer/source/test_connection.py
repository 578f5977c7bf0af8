"""One connection, and every way it can end."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import aclosing, asynccontextmanager

import pytest
from pydantic import SecretStr
from websockets.asyncio.server import serve

from api.settings import AuthSettings
from doors import STATIC
from graph.model.errors import Denied, Invalid, ResyncRequired, Unavailable
from renderer.settings import SourceSettings
from renderer.source.connection import answer, connected
from renderer.source.socket import SocketSource
from small_door import small_door, small_engine
from sources import first_step

TOKENS = AuthSettings(
    tokens=SecretStr(" ".join(f"{who}:{role}:{token}" for who, (role, token) in STATIC.items()))
)


@asynccontextmanager
async def saying(*frames, ack=True, close=None, **how):
    """A server that says these frames to whoever subscribes, and what it has heard."""
    heard = []

    async def talk(socket):
        heard.append(json.loads(await socket.recv()))
        if ack:
            await socket.send('{"type":"connection_ack"}')
        async for text in socket:
            heard.append(json.loads(text))
            if heard[-1]["type"] == "subscribe":
                for frame in frames:
                    await socket.send(frame if isinstance(frame, str) else json.dumps(frame))
                if close:
                    await socket.close(*close)

    async with serve(talk, "127.0.0.1", 0, subprotocols=["graphql-transport-ws"], **how) as server:
        port = server.sockets[0].getsockname()[1]
        given = {"url": f"ws://127.0.0.1:{port}", "silence_seconds": 5, "connect_seconds": 5}
        yield given, heard


async def asked(given, **more):
    async with connected(SourceSettings.model_validate(given | more)) as connection:
        return await answer(connection, "{ x }", {"a": 1}, 5)


def told(data):
    return {"id": "1", "type": "next", "payload": {"data": data}}


async def test_a_question_is_introduced_asked_and_answered():
    async with saying({"type": "ping"}, told({"x": 1})) as (given, heard):
        assert await asked(given, token="secret-1") == {"x": 1}
    assert heard[0] == {
        "type": "connection_init",
        "payload": {"authorization": "Bearer secret-1"},
    }
    assert heard[1]["payload"] == {"query": "{ x }", "variables": {"a": 1}}


async def test_the_token_of_a_file_is_read_at_every_connection(tmp_path):
    file = tmp_path / "token"
    async with saying(told({})) as (given, heard):
        for token in ("one", "two"):
            file.write_text(f"{token}\n")
            await asked(given, token_file=str(file), token="not this")
    shown = [each["payload"] for each in heard if each["type"] == "connection_init"]
    assert shown == [{"authorization": "Bearer one"}, {"authorization": "Bearer two"}]
    with pytest.raises(Unavailable, match="cannot be read"):
        await asked(given, token_file=str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("DENIED", Denied),
        ("UNAUTHENTICATED", Denied),
        ("BAD_REQUEST", Invalid),
        ("RESYNC_REQUIRED", ResyncRequired),
        ("TOO_MANY", Unavailable),
        ("INTERNAL", Unavailable),
    ],
)
async def test_what_the_api_refuses_is_told_by_its_kind(code, kind):
    errors = [{"message": "no", "extensions": {"code": code, "hint": "do"}}]
    for frame in (
        {"id": "1", "type": "error", "payload": errors},
        {"id": "1", "type": "next", "payload": {"data": None, "errors": errors}},
    ):
        async with saying(frame) as (given, _):
            with pytest.raises(kind, match="no"):
                await asked(given)


@pytest.mark.parametrize("frame", ["[]", "no json", "1"])
async def test_what_is_no_message_is_said_so(frame):
    async with saying(frame) as (given, _):
        with pytest.raises(Unavailable, match="the API says what is"):
            await asked(given)


async def test_a_message_beyond_the_bound_is_refused_and_the_bound_is_named():
    async with saying(told({"x": "y" * 10_000})) as (given, _):
        with pytest.raises(Invalid, match="larger than 1,000 bytes") as refusal:
            await asked(given, message_bytes_max=1_000)
    assert "TRELLIS_SOURCE_MESSAGE_BYTES_MAX" in refusal.value.hint


async def test_who_says_nothing_is_asked_and_then_given_up():
    async with saying() as (given, heard):
        with pytest.raises(Unavailable, match="said nothing"):
            await asked(given, silence_seconds=0.05)
    assert {"type": "ping"} in heard


async def test_who_lives_and_says_nothing_is_waited_for():
    async def talk(socket):
        await socket.recv()
        await socket.send('{"type":"connection_ack"}')
        pings = 0
        async for text in socket:
            if json.loads(text)["type"] == "ping":
                pings += 1
                await socket.send('{"type":"pong"}')
                if pings == 5:
                    await socket.send(json.dumps(told({"pings": pings})))

    async with serve(talk, "127.0.0.1", 0, subprotocols=["graphql-transport-ws"]) as server:
        port = server.sockets[0].getsockname()[1]
        given = {"url": f"ws://127.0.0.1:{port}"}
        assert await asked(given, silence_seconds=0.2) == {"pings": 5}


async def test_a_connection_that_is_never_introduced_is_given_up():
    async with saying(ack=False) as (given, _):
        with pytest.raises(Unavailable, match="introduction"):
            await asked(given, connect_seconds=0.1)


async def test_a_socket_that_is_closed_is_tried_again():
    async with saying(close=(4413, "too slow, resume after 3.a")) as (given, _):
        with pytest.raises(Unavailable, match="too slow"):
            await asked(given)


async def test_a_token_that_runs_out_is_no_refusal_of_the_worker():
    async with saying(close=(4403, "the token has expired")) as (given, _):
        with pytest.raises(Unavailable, match="expired"):
            await asked(given)


async def test_a_redirect_is_not_followed():
    async def process(connection, request):
        response = connection.respond(302, "elsewhere")
        response.headers["Location"] = "ws://127.0.0.1:1/graphql"
        return response

    async with saying(process_request=process) as (given, _):
        with pytest.raises(Invalid, match="redirects"):
            await asked(given)


@pytest.mark.parametrize(
    ("status", "kind"), [(401, Denied), (403, Denied), (404, Invalid), (503, Unavailable)]
)
async def test_a_handshake_that_is_refused_is_told_by_its_kind(status, kind):
    async with saying(process_request=lambda socket, _: socket.respond(status, "no")) as (given, _):
        with pytest.raises(kind):
            await asked(given)


async def test_an_api_that_is_away_may_come_back():
    with pytest.raises(Unavailable, match="cannot be reached"):
        await asked({"url": "ws://127.0.0.1:1"})


async def test_a_server_of_something_else_is_no_api():
    async def hang_up(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"SSH-2.0-nonsense\r\n")
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises((Invalid, Unavailable)):
            await asked({"url": f"ws://127.0.0.1:{port}"})


async def test_whoever_reads_slowly_makes_the_api_wait():
    sent = 0

    async def talk(socket):
        nonlocal sent
        await socket.recv()
        await socket.send('{"type":"connection_ack"}')
        await socket.recv()
        while sent < 2_000:
            await socket.send(json.dumps(told({"x": "y" * 100_000})))
            sent += 1

    how = {"subprotocols": ["graphql-transport-ws"], "compression": None}
    async with serve(talk, "127.0.0.1", 0, **how) as server:
        port = server.sockets[0].getsockname()[1]
        settings = SourceSettings(url=f"ws://127.0.0.1:{port}")
        async with (
            connected(settings) as connection,
            aclosing(connection.operate("{ x }", {})) as results,
        ):
            await anext(results)
            await asyncio.sleep(0.3)
            held = sent
            assert held < 500, "it is not all in memory"
            for _ in range(600):
                await anext(results)
            assert sent > held


@pytest.mark.parametrize(("token", "denied"), [("wrong", True), (STATIC["ron"][1], False)])
async def test_the_real_door_asks_for_a_token(tmp_path, caplog, token, denied):
    caplog.set_level(logging.DEBUG)
    async with small_engine(tmp_path) as engine, small_door(engine, auth=TOKENS) as door:
        source = SocketSource(SourceSettings(url=door.ws_url, token=token))
        if denied:
            with pytest.raises(Denied) as refusal:
                await first_step(source)
            assert token not in str(refusal.value)
        else:
            assert await first_step(source)
    assert f"Bearer {token}" not in caplog.text
