"""Connections: what uvicorn's protocols lack against clients that stall, flood or never read.

uvicorn waits for ever for the rest of a request's head, keeps a connection whose reader has gone to
sleep for as long as that sleeps, takes a flood on one connection before it looks at the next, and
closes sockets as if it were coming back at once. Here

- a connection whose next request is not there in time is closed, whatever trickles in;
- one that sends much at once is taken in pieces, and has no more requests waiting than a piece has;
- one whose reader takes nothing for too long is broken off, and a socket's reader is told why;
- a socket that is open when the process stops is told 1001, going away.
"""

from __future__ import annotations

import asyncio
from typing import cast

from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from api.serving.pacing import Paced
from api.settings import ApiSettings
from api.web.door import Scope, mark_stalled

HEAD_BYTES_MAX = 65_536
"""Bytes of a request before its body."""
STALL_FACTOR = 2
"""How many times ``send_seconds`` a full buffer may stay full: streams are given up before."""
GOING_AWAY = 1001
NOT_TEXT = 1007


def http_protocol(settings: ApiSettings) -> type[HttpToolsProtocol]:
    """The protocol of HTTP with the deadlines of ``settings``."""

    class Bounded(Connection):
        head_seconds = settings.body_seconds
        stall_seconds = STALL_FACTOR * settings.send_seconds

    return Bounded


def socket_protocol(settings: ApiSettings) -> type[WebSocketsSansIOProtocol]:
    """The protocol of sockets with the deadlines of ``settings``."""

    class Bounded(Socket):
        stall_seconds = STALL_FACTOR * settings.send_seconds

    return Bounded


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
        self._stall = loop.call_later(self.stall_seconds, self._break_off)

    def resume_writing(self) -> None:
        """The buffer is being read."""
        self._stop_watching()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """There is nobody to wait for."""
        self._stop_watching()
        super().connection_lost(exc)

    def answered_scope(self) -> Scope | None:
        """What the app was told of the request or socket it is answering."""
        raise NotImplementedError

    def _break_off(self) -> None:
        if (scope := self.answered_scope()) is not None:
            mark_stalled(scope)
        self.transport.abort()

    def _stop_watching(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None


class _Flow(FlowControl):
    """Reads on only when what was read has been taken."""

    held = False

    def resume_reading(self) -> None:
        """As the base does, unless it is held."""
        if self.read_paused and not self.held:
            super().resume_reading()


class Connection(_Watched, Paced, HttpToolsProtocol):
    """A connection that has no request under way has ``head_seconds`` to send the next head.

    The timer starts with the connection, and again with bytes that complete no head; between
    requests, without a byte, the keep-alive timer of the base runs.
    """

    head_seconds: float
    _pacer: _Flow
    _timer: asyncio.TimerHandle | None = None
    _is_socket = False
    _in_head = False
    _head_bytes = 0
    _body_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as the base narrows it
        """The time for the first head begins."""
        super().connection_made(transport)
        self.flow = self._pacer = _Flow(transport)
        self._begin()

    def take(self, data: bytes) -> None:
        """As the base does; what completes no head is timed, and counted."""
        HttpToolsProtocol.data_received(self, data)
        if self._in_head:
            self._head_bytes += len(data)
        if self._is_socket or not self._is_idle():
            return
        if self._head_bytes > HEAD_BYTES_MAX:
            self.send_400_response("The head of the request is too long.")
        elif self._timer is None:
            self._begin()

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head = True
        HttpToolsProtocol.on_message_begin(self)

    def on_headers_complete(self) -> None:
        """A head is there."""
        if self._timer is not None:
            self._end()
        self._in_head = False
        self._head_bytes = self._body_bytes = 0
        HttpToolsProtocol.on_headers_complete(self)

    def on_body(self, body: bytes) -> None:
        """Some of the body is there."""
        self._body_bytes += len(body)
        HttpToolsProtocol.on_body(self, body)

    def on_response_complete(self) -> None:
        """The next request may be taken."""
        HttpToolsProtocol.on_response_complete(self)
        if self._rest:
            self.go_on()

    def handle_websocket_upgrade(self) -> None:
        """From now on it is a socket's."""
        self._is_socket = True
        self._stop_watching()
        if self._rest:  # sent before there was a socket to send it to
            self.forget()
            self.release()
        super().handle_websocket_upgrade()

    def answered_scope(self) -> Scope | None:
        """That of the request under way, not of one that waits for its turn."""
        return cast(Scope, self.cycle.scope) if self.cycle else None

    def ready(self) -> bool:
        """Whether no request waits for its turn."""
        return not self.pipeline

    def known_bytes(self) -> int:
        """What is missing of a body whose length is known."""
        if not self.cycle or not self.cycle.more_body:
            return 0
        lengths = [value for name, value in self.headers if name == b"content-length"]
        return max(0, int(lengths[0]) - self._body_bytes) if lengths else 0

    def hold(self) -> None:
        """Read no more, whatever the base says."""
        self._pacer.held = True
        self._pacer.pause_reading()

    def release(self) -> None:
        """Read on, unless a body waits to be taken by the app."""
        self._pacer.held = False
        if not self.cycle or len(self.cycle.body) <= HIGH_WATER_LIMIT:
            self._pacer.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """There is nothing to wait for."""
        self._end()
        super().connection_lost(exc)

    def _is_idle(self) -> bool:
        return not self.cycle or self.cycle.response_complete

    def _begin(self) -> None:
        self._timer = self.loop.call_later(self.head_seconds, self.transport.close)

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Socket(_Watched, Paced, WebSocketsSansIOProtocol):
    """A socket that is told why it ends, and that ends even if nobody reads that."""

    def answered_scope(self) -> Scope | None:
        """That of the handshake."""
        return cast(Scope, self.scope) if self.handshake_initiated else None

    async def receive(self) -> ASGIReceiveEvent:
        """As the base does, which then reads on; but first comes what was read already."""
        message = await super().receive()
        if self._rest and not self.read_paused:
            self.hold()
            self.go_on()
        return message

    async def send(self, message: ASGISendEvent) -> None:
        """As the base does, but that a close does not wait for a reader who does not read."""
        if message["type"] == "websocket.close":
            self.writable.set()
        await super().send(message)
        if not self.close_sent:
            return
        self.handshake_complete = True  # the base forgets it where a handshake was refused
        if self._rest:  # the other end's close may be behind what nobody wants any more
            self.hold()
            self.go_on()

    def send_receive_event_to_app(self) -> None:
        """As the base does, but that bytes which are no text are no fault of ours to log."""
        if self.curr_msg_data_type == "text" and not _is_text(self.frames):
            self.frames = []
            self.conn.send_close(NOT_TEXT)
            self.handle_parser_exception()
        else:
            super().send_receive_event_to_app()

    def ready(self) -> bool:
        """Whether the app has taken every message, or wants none any more."""
        return not self.read_paused or self.close_sent

    def release(self) -> None:
        """Read on, unless messages wait to be taken by the app."""
        if not self.read_paused:
            super().release()

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


def _is_text(parts: list[bytes]) -> bool:
    try:
        b"".join(parts).decode()
    except UnicodeDecodeError:
        return False
    return True
