"""Listening: the server around the app, with the deadlines and the end it needs.

uvicorn waits for ever for the rest of a request's head, closes sockets as if it were coming back
at once, and ends a stopped process as if by the signal. A connection whose reader has gone to
sleep it keeps for as long as that sleeps. Three small subclasses mend that:

- a connection whose next request is not there in time is closed, whatever trickles in;
- one whose reader takes nothing for too long is broken off, and a socket's reader is told why;
- a socket that is open when the process stops is told 1001, going away;
- the first signal to stop turns ``/readyz`` and lets requests under way finish, a second does not
  wait, and either way the process ends well.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from api.probes import Readiness
from api.settings import ApiSettings
from graph.model.errors import Unavailable

KEEP_ALIVE_SECONDS = 75
"""How long an idle connection is kept for its next request; clients that pool keep it shorter."""
BACKLOG = 2_048
GOING_AWAY = 1001
STALL_FACTOR = 2
"""How many times ``send_seconds`` a full buffer may stay full: streams are given up before."""
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def bind(host: str, port: int) -> socket.socket:
    """The address, taken but not answering yet: a port that is in use is known before loading."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
        except BaseException:
            listener.close()
            raise
    except OSError as error:
        raise Unavailable(
            f"cannot listen on {host} port {port}: {error.strerror or error}",
            hint="choose another with --host and --port; port 0 takes a free one",
        ) from None
    listener.setblocking(False)
    return listener


def url_of(listener: socket.socket) -> str:
    """Where a browser on this machine finds it."""
    host, port = listener.getsockname()[:2]
    return (
        f"http://[{host}]:{port}" if listener.family == socket.AF_INET6 else f"http://{host}:{port}"
    )


class Server(uvicorn.Server):
    """Serves an app until a signal tells it to stop."""

    def __init__(
        self, app: Any, settings: ApiSettings, readiness: Readiness, *, started: Callable[[], None]
    ) -> None:
        super().__init__(_config(app, settings))
        self._readiness = readiness
        self._notice_seconds = settings.notice_seconds
        self._when_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As the base does; then requests are answered."""
        await super().startup(sockets)
        if self.started:
            self._when_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As the base does, but the app is told of the end even when nobody waits for requests."""
        await super().shutdown(sockets)
        if self.force_exit:
            await self.lifespan.shutdown()

    def stop(self) -> None:
        """Drain; a second time, do not wait."""
        if self._readiness.draining:
            self.should_exit = self.force_exit = True
            return
        self._readiness.drain()
        asyncio.get_running_loop().call_later(self._notice_seconds, self._exit)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Signals are told to the event loop, and not sent again at the end as the base does."""
        loop = asyncio.get_running_loop()
        for each in STOP_SIGNALS:
            loop.add_signal_handler(each, self.stop)
        try:
            yield
        finally:
            for each in STOP_SIGNALS:
                loop.remove_signal_handler(each)

    def _exit(self) -> None:
        self.should_exit = True


def _config(app: Any, settings: ApiSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="none",  # it is given one
        http=_http(settings.body_seconds, STALL_FACTOR * settings.send_seconds),
        ws=_socket(STALL_FACTOR * settings.send_seconds),
        ws_max_size=settings.frame_bytes_max,
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=None,
        log_level="warning",  # that it starts and stops is said elsewhere
        access_log=False,
        proxy_headers=False,  # whoever is believed shows a token; an address may be forged
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=max(1, round(settings.drain_seconds)),
    )


class _Watched(asyncio.Protocol):
    """Breaks a connection off whose buffer stays full. Closing it would wait for its reader."""

    transport: asyncio.Transport
    stall_seconds: float
    _stall: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """The buffer is full."""
        super().pause_writing()
        self._stop_watching()
        loop = asyncio.get_running_loop()
        self._stall = loop.call_later(self.stall_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The buffer is being read."""
        self._stop_watching()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """There is nobody to wait for."""
        self._stop_watching()
        super().connection_lost(exc)

    def _stop_watching(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None


def _socket(stall_seconds: float) -> type[WebSocketsSansIOProtocol]:
    class Socket(_Watched, WebSocketsSansIOProtocol):
        """A socket that is told why it ends, and that ends even if nobody reads that."""

        async def send(self, message: ASGISendEvent) -> None:
            """As the base does, but that a close does not wait for a reader who does not read."""
            if message["type"] == "websocket.close":
                self.writable.set()
            await super().send(message)

        def shutdown(self) -> None:
            """As the base does, which says 1012: come back here."""
            if self.handshake_complete and not self.close_sent:
                self.stop_keepalive()
                self.queue.put_nowait({"type": "websocket.disconnect", "code": GOING_AWAY})
                self.conn.send_close(GOING_AWAY)
                self.transport.write(b"".join(self.conn.data_to_send()))
                self.transport.close()
            else:
                super().shutdown()

    Socket.stall_seconds = stall_seconds
    return Socket


def _http(head_seconds: float, stall_seconds: float) -> type[HttpToolsProtocol]:
    class Connection(_Watched, HttpToolsProtocol):
        """A connection that has no request under way has ``head_seconds`` to send the next head.

        The timer starts with the connection, and again with bytes that complete no head; between
        requests, without a byte, the keep-alive timer of the base runs.
        """

        _timer: asyncio.TimerHandle | None = None
        _is_socket = False

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as the base narrows it
            super().connection_made(transport)
            self._begin()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._timer is None and not self._is_socket and self._is_idle():
                self._begin()

        def on_headers_complete(self) -> None:
            self._end()
            super().on_headers_complete()

        def handle_websocket_upgrade(self) -> None:
            self._is_socket = True
            self._stop_watching()
            super().handle_websocket_upgrade()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end()
            super().connection_lost(exc)

        def _is_idle(self) -> bool:
            return not self.cycle or self.cycle.response_complete

        def _begin(self) -> None:
            self._timer = self.loop.call_later(head_seconds, self.transport.close)

        def _end(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    Connection.stall_seconds = stall_seconds
    return Connection
