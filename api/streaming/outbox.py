"""Outboxes: what waits to be taken by one reader, bounded in messages, bytes and time.

Putting something in never waits. A reader that lets too much pile up, or takes nothing for too
long, is given up; everybody else goes on.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from api.refusals import SlowReader
from api.settings import ApiSettings
from api.web.door import Send
from graph.model.change import Cursor

BURST = 64
"""Messages written to one reader before others have a turn."""


class Mark(Protocol):
    """Keeps how far one stream of a reader has been written."""

    sent: Cursor | None


class Outbox:
    """The messages of one reader, written in order by ``run``."""

    def __init__(
        self,
        send: Send,
        wrap: Callable[[str], dict[str, Any]],
        settings: ApiSettings,
        *,
        heartbeat: str | None = None,
    ) -> None:
        self._send = send
        self._wrap = wrap
        self._messages_max = settings.queue_messages_max
        self._bytes_max = settings.queue_bytes_max
        self._send_seconds = settings.send_seconds
        self._heartbeat = heartbeat
        self._heartbeat_seconds = settings.heartbeat_seconds
        self._queue: deque[tuple[str, Mark | None, Cursor | None]] = deque()
        self._bytes = 0
        self._more = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._loop = asyncio.get_running_loop()
        self._written = 0
        self._closed = False
        self._timer: asyncio.TimerHandle | None = None
        self.slow: asyncio.Future[None] = self._loop.create_future()
        """Fails with ``SlowReader`` when the reader is given up."""

    def put(self, text: str, mark: Mark | None = None, cursor: Cursor | None = None) -> None:
        """Have ``text`` written; then ``mark`` is at ``cursor``. Nothing once it is closed."""
        if self._closed:
            return
        self._queue.append((text, mark, cursor))
        self._bytes += len(text)
        count = len(self._queue)
        if count > 1 and (count > self._messages_max or self._bytes > self._bytes_max):
            self._give_up()
        if self._is_half_full():
            self._room.clear()
        if self._timer is None:
            self._look_later()
        self._more.set()

    async def room(self) -> None:
        """Wait until there is room for much more."""
        await self._room.wait()

    async def run(self) -> None:
        """Write what is put in, for ever."""
        while True:
            await self._wait()
            await self.flush()

    async def flush(self) -> None:
        """Write all that is there."""
        while self._queue:
            text, mark, cursor = self._queue[0]
            await self._send(self._wrap(text))
            self._queue.popleft()
            self._bytes -= len(text)
            if mark is not None and cursor is not None:
                mark.sent = cursor
            if not self._is_half_full():
                self._room.set()
            self._written += 1
            if self._written % BURST == 0:
                await asyncio.sleep(0)

    def close(self) -> None:
        """Take nothing more, and watch it no longer; what is there may still be flushed."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        self.slow.cancel()

    async def _wait(self) -> None:
        """Until there is something to write, which with a heartbeat is soon."""
        if self._queue:
            return
        self._more.clear()
        if self._heartbeat is None:
            await self._more.wait()
            return
        try:
            async with asyncio.timeout(self._heartbeat_seconds):
                await self._more.wait()
        except TimeoutError:
            self.put(self._heartbeat)

    # One timer that is let run out costs less than one that is stopped after every message.

    def _look_later(self) -> None:
        self._timer = self._loop.call_later(self._send_seconds, self._look, self._written)

    def _look(self, written: int) -> None:
        """Give the reader up if it has taken nothing since the last look."""
        self._timer = None
        if self._queue:
            if written == self._written:
                self._give_up()
            self._look_later()

    def _give_up(self) -> None:
        if not self.slow.done():
            error = SlowReader("slow consumer", hint="read faster, or subscribe to less")
            self.slow.set_exception(error)

    def _is_half_full(self) -> bool:
        return len(self._queue) * 2 > self._messages_max or self._bytes * 2 > self._bytes_max
