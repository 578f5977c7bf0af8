"""The server around the app: deadlines, draining, and the end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from api.serving.listening import Server, bind, url_of
from api.serving.probes import Readiness, probe_routes
from api.settings import ApiSettings
from graph.engine import Engine
from graph.model.errors import Unavailable
from graph.store.embedded import EmbeddedStore

HEAD_SECONDS = 0.4


@dataclass
class Running:
    """A server in this process."""

    url: str
    server: Server
    readiness: Readiness
    serving: asyncio.Task[None]
    released: asyncio.Event
    """Lets /slow answer."""
    entered: asyncio.Event
    """/slow is being answered."""
    closed: asyncio.Event
    """The app was told of the end."""

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def echo(self) -> str:
        return f"ws://127.0.0.1:{self.port}/echo"

    async def connect(self, sent: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(sent)
        return reader, writer


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    store = await EmbeddedStore.open(tmp_path / "fleet.db", write=True, create=True)
    engine = await Engine.open(store)
    yield engine
    await engine.close()


Start = Callable[..., Any]


@pytest.fixture
def start(engine: Engine) -> Start:
    @asynccontextmanager
    async def starting(**given: Any) -> AsyncIterator[Running]:
        settings = ApiSettings.model_validate(
            {"body_seconds": HEAD_SECONDS, "notice_seconds": 0, "drain_seconds": 5, **given}
        )
        released, entered, started = asyncio.Event(), asyncio.Event(), asyncio.Event()
        closed = asyncio.Event()

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            yield
            closed.set()

        async def quick(request: Request) -> Response:
            return PlainTextResponse("quick")

        async def slow(request: Request) -> Response:
            entered.set()
            await released.wait()
            return PlainTextResponse("slow")

        async def echo(socket: WebSocket) -> None:
            await socket.accept()
            async for message in socket.iter_text():
                await socket.send_text(message)

        async def careful(socket: WebSocket) -> None:
            """Ends by itself when it is told of the end, but not at once."""
            with readiness.stopping.waits():
                await socket.accept()
                entered.set()
                await readiness.stopping.begun.wait()
                await released.wait()
                await socket.send_text("last")
                await socket.close(4000)

        readiness = Readiness(engine, stale_seconds=900)
        routes = [
            Route("/quick", quick, methods=["GET", "POST"]),
            Route("/slow", slow),
            WebSocketRoute("/echo", echo),
            WebSocketRoute("/careful", careful),
            *probe_routes(readiness),
        ]
        with bind("127.0.0.1", 0) as listener:
            server = Server(
                Starlette(routes=routes, lifespan=lifespan),
                settings,
                readiness,
                started=started.set,
            )
            serving = asyncio.create_task(server.serve([listener]))
            await asyncio.wait_for(started.wait(), 20)
            yield Running(url_of(listener), server, readiness, serving, released, entered, closed)
            released.set()
            server.should_exit = True
            await asyncio.wait_for(serving, 20)

    return starting


async def ended(reader: asyncio.StreamReader) -> bytes:
    """Everything the other side sends until it hangs up."""
    try:
        return await asyncio.wait_for(reader.read(), 20)
    except ConnectionResetError:  # it hung up on bytes it had not read
        return b""


@pytest.mark.parametrize(
    "sent", [b"", b"G", b"GET /quick HTTP/1.1\r\nHost: x\r\n", b"\r\n\r\n"], ids=repr
)
async def test_a_connection_that_does_not_finish_its_head_is_closed(
    sent: bytes, start: Start
) -> None:
    async with start() as running:
        reader, writer = await running.connect(sent)
        assert await ended(reader) == b""
        writer.close()


async def test_bytes_that_trickle_in_do_not_put_the_end_off(start: Start) -> None:
    async with start() as running:
        reader, writer = await running.connect()

        async def trickle() -> None:
            for byte in b"GET /quick HTTP/1.1\r\nX-Long: " + b"x" * 10_000:
                writer.write(bytes([byte]))
                await asyncio.sleep(0.01)

        trickling = asyncio.create_task(trickle())
        assert await ended(reader) == b""
        trickling.cancel()
        writer.close()


async def test_a_second_request_has_the_same_time_and_may_not_trickle_either(start: Start) -> None:
    request = b"GET /quick HTTP/1.1\r\nHost: x\r\n\r\n"
    for more in (b"GET /quick HT", b"\r\n"):
        async with start() as running:
            reader, writer = await running.connect(request)
            assert b"200 OK" in await asyncio.wait_for(reader.readuntil(b"quick"), 20)
            writer.write(more)
            assert await ended(reader) == b""
            writer.close()


async def test_a_body_nobody_reads_does_not_keep_the_connection(start: Start) -> None:
    async with start() as running:
        head = b"POST /quick HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
        reader, writer = await running.connect(head)
        await asyncio.wait_for(reader.readuntil(b"quick"), 20)

        async def trickle() -> None:
            for _ in range(10_000):
                writer.write(b"x")
                await asyncio.sleep(0.01)

        trickling = asyncio.create_task(trickle())
        assert await ended(reader) == b""
        trickling.cancel()
        writer.close()


async def test_an_answer_that_takes_longer_than_a_head_may_is_given(start: Start) -> None:
    async with start() as running:
        reader, writer = await running.connect(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.sleep(HEAD_SECONDS * 2)
        running.released.set()
        assert b"200 OK" in await asyncio.wait_for(reader.readuntil(b"slow"), 20)
        writer.close()


async def test_a_socket_outlives_the_time_for_a_head(start: Start) -> None:
    async with start() as running, websockets.connect(running.echo) as client:
        await asyncio.sleep(HEAD_SECONDS * 2)
        await client.send("still here")
        assert await client.recv() == "still here"


async def test_two_hundred_half_open_connections_vanish_and_others_are_served(
    start: Start,
) -> None:
    async with start() as running:
        half_open = [await running.connect(b"POST /quick HTTP/1.1\r\nHo") for _ in range(200)]
        async with httpx.AsyncClient() as client:
            for _ in range(20):
                assert (await client.get(f"{running.url}/quick")).text == "quick"
        assert await asyncio.gather(*(ended(reader) for reader, _ in half_open)) == [b""] * 200
        for _, writer in half_open:
            writer.close()


async def test_stopping_turns_readyz_first_and_then_refuses_connections(start: Start) -> None:
    async with start(notice_seconds=2) as running:
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"{running.url}/readyz")).status_code == 200
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(running.readiness.stopping.begun.wait(), 20)
        async with httpx.AsyncClient() as client:  # a new connection
            assert (await client.get(f"{running.url}/readyz")).status_code == 503
            assert (await client.get(f"{running.url}/quick")).text == "quick"
        await asyncio.wait_for(running.serving, 20)
        with pytest.raises(ConnectionRefusedError):
            await running.connect()


async def test_requests_under_way_finish_when_it_stops(start: Start) -> None:
    async with start() as running:
        async with httpx.AsyncClient() as client:
            asking = asyncio.create_task(client.get(f"{running.url}/slow", timeout=20))
            await asyncio.wait_for(running.entered.wait(), 20)
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(running.readiness.stopping.begun.wait(), 20)
            assert not running.serving.done()
            running.released.set()
            assert (await asking).text == "slow"
        await asyncio.wait_for(running.serving, 20)


async def test_sockets_are_told_that_it_goes_away(start: Start) -> None:
    async with start() as running:
        async with websockets.connect(running.echo) as client:
            await client.send("hello")
            assert await client.recv() == "hello"
            os.kill(os.getpid(), signal.SIGINT)
            with pytest.raises(websockets.ConnectionClosedOK) as closed:
                await client.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1001
        await asyncio.wait_for(running.serving, 20)


async def test_sockets_that_end_by_themselves_have_the_time_to(start: Start) -> None:
    async with start() as running:
        url = running.echo.replace("echo", "careful")
        async with websockets.connect(url) as client:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(running.readiness.stopping.begun.wait(), 20)
            while running.server.servers[0].is_serving():  # noqa: ASYNC110 - nobody announces it
                await asyncio.sleep(0.01)
            assert not running.serving.done()
            running.released.set()
            assert await client.recv() == "last"
            with pytest.raises(websockets.ConnectionClosed):
                await client.recv()
            assert client.close_code == 4000
        await asyncio.wait_for(running.serving, 20)


async def test_a_second_signal_does_not_wait_for_a_socket_either(start: Start) -> None:
    async with (
        start(drain_seconds=600) as running,
        websockets.connect(running.echo.replace("echo", "careful")) as client,
    ):
        await asyncio.wait_for(running.entered.wait(), 20)
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(running.readiness.stopping.begun.wait(), 20)
            await asyncio.sleep(0)
        await asyncio.wait_for(running.serving, 20)
        running.released.set()
        with pytest.raises(websockets.ConnectionClosed):
            await client.recv()


async def test_a_second_signal_does_not_wait(start: Start) -> None:
    async with start(drain_seconds=600) as running, httpx.AsyncClient() as client:
        asking = asyncio.create_task(client.get(f"{running.url}/slow", timeout=20))
        await asyncio.wait_for(running.entered.wait(), 20)
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(running.readiness.stopping.begun.wait(), 20)
            await asyncio.sleep(0)
        await asyncio.wait_for(running.serving, 20)
        assert running.closed.is_set()
        running.released.set()
        await asyncio.wait([asking])


async def test_a_frame_that_is_too_long_closes_its_socket(start: Start) -> None:
    async with start(frame_bytes_max=1_000) as running, websockets.connect(running.echo) as client:
        await client.send("x" * 1_001)
        with pytest.raises(websockets.ConnectionClosedError) as closed:
            await client.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009


async def test_frames_are_not_compressed(start: Start) -> None:
    async with start() as running, websockets.connect(running.echo) as client:
        assert client.request is not None and client.response is not None
        assert "permessage-deflate" in client.request.headers["Sec-WebSocket-Extensions"]
        assert "Sec-WebSocket-Extensions" not in client.response.headers


async def test_answers_do_not_say_what_they_were_made_with(start: Start) -> None:
    async with start() as running, httpx.AsyncClient() as client:
        assert "server" not in (await client.get(f"{running.url}/quick")).headers


def test_a_port_in_use_is_refused_with_what_to_do() -> None:
    with bind("127.0.0.1", 0) as listener:
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(Unavailable, match=f"cannot listen on 127.0.0.1 port {port}") as refusal:
            bind("127.0.0.1", port)
        assert "another address or port" in refusal.value.hint


def test_a_host_that_is_not_ours_is_refused() -> None:
    with pytest.raises(Unavailable, match="cannot listen on"):
        bind("192.0.2.1", 0)
    with pytest.raises(Unavailable, match="cannot listen on"):
        bind("no such host", 0)


@pytest.mark.skipif(not socket.has_ipv6, reason="there is no IPv6")
def test_an_address_of_ipv6_is_written_as_a_url_wants_it() -> None:
    try:
        listener = bind("::1", 0)
    except Unavailable:
        pytest.skip("there is no IPv6 loopback address")
    with listener:
        assert url_of(listener) == f"http://[::1]:{listener.getsockname()[1]}"
