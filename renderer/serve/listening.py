"""Listening: uvicorn, with an end to the patience it has with those who stall.

A connection whose next request is not there in time is closed, one whose head is too long is
refused, and one whose reader takes nothing for too long is broken off.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from renderer.serve.settings import ServeSettings

HEAD_BYTES_MAX = 16_384
"""Bytes of a request: there is a token in it, and nothing else of any length."""
KEEP_ALIVE_SECONDS = 75
BACKLOG = 2_048


def is_loopback(listener: socket.socket) -> bool:
    """Whether nobody but this machine can reach it."""
    host = str(listener.getsockname()[0])
    return host == "::1" or host.startswith("127.")


def address_of(listener: socket.socket) -> str:
    """Host and port, as they stand in a URL."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if listener.family == socket.AF_INET6 else f"{host}:{port}"


async def listen(
    app: Any,
    listener: socket.socket,
    settings: ServeSettings,
    *,
    started: Callable[[], None],
    stopping: asyncio.Event,
) -> None:
    """Serve ``app`` until ``stopping``; requests under way are finished."""
    server = _Server(_config(app, settings), started)
    serving = asyncio.create_task(server.serve([listener]))
    told = asyncio.create_task(stopping.wait())
    await asyncio.wait((serving, told), return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    server.should_exit = True
    await serving


class _Server(uvicorn.Server):
    """Leaves signals to whoever started it."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._when_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._when_started()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class _Connection(HttpToolsProtocol):
    """A connection with deadlines: for a head to be there, and for an answer to be taken."""

    request_seconds: float
    send_seconds: float
    _timer: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as the base narrows it
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self.cycle and not self.cycle.response_complete:
            return
        if self._head_bytes > HEAD_BYTES_MAX:
            self.send_400_response("The head of the request is too long.")
        elif self._timer is None and self._head_bytes:
            self._begin()

    def on_headers_complete(self) -> None:
        self._head_bytes = 0
        self._end()
        super().on_headers_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall = self.loop.call_later(self.send_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_watching()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        self._stop_watching()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._timer = self.loop.call_later(self.request_seconds, self.transport.close)

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_watching(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None


def _config(app: Any, settings: ServeSettings) -> uvicorn.Config:
    class Bounded(_Connection):
        request_seconds = settings.request_seconds
        send_seconds = settings.send_seconds

    return uvicorn.Config(
        app,
        loop="none",  # it runs in one
        http=Bounded,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",  # a client that tries TLS first is no news
        access_log=False,
        proxy_headers=False,  # an address is never believed
        server_header=False,
        date_header=True,
        backlog=BACKLOG,
        limit_concurrency=settings.connections_max,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=max(1, round(settings.drain_seconds)),
    )
