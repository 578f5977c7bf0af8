"""Listening: the server around the app, and the end it needs.

uvicorn ends a stopped process as if by the signal. Here the first signal to stop turns ``/readyz``
and lets what is under way finish, a second does not wait, and either way the process ends well.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn

from api.serving.connections import http_protocol, socket_protocol
from api.serving.probes import Readiness
from api.settings import ApiSettings
from graph.model.errors import Unavailable

KEEP_ALIVE_SECONDS = 75
"""How long an idle connection is kept for its next request; clients that pool keep it shorter."""
BACKLOG = 2_048
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
            hint="choose another address or port; port 0 takes a free one",
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
        self._drain_seconds = settings.drain_seconds
        self._when_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As the base does; then requests are answered."""
        await super().startup(sockets)
        if self.started:
            self._when_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As the base does, which breaks sockets off: first they have time to end by themselves.

        The app is told of the end even when nobody waits for requests.
        """
        self._readiness.drain()
        for server in self.servers:
            server.close()
        await self._finish()
        await super().shutdown(sockets)
        if self.force_exit:
            await self.lifespan.shutdown()

    def stop(self) -> None:
        """Drain; a second time, do not wait."""
        if self._readiness.draining:
            self.should_exit = self.force_exit = True
            self._readiness.stopping.hurry()
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

    async def _finish(self) -> None:
        """Wait for those who end by themselves; requests under way have what time is left."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._drain_seconds
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await self._readiness.stopping.over()
        self.config.timeout_graceful_shutdown = max(1, round(until - loop.time()))

    def _exit(self) -> None:
        self.should_exit = True


def _config(app: Any, settings: ApiSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="none",  # it is given one
        http=http_protocol(settings),
        ws=socket_protocol(settings),
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
    )
