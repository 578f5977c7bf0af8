"""A source that is listened to: messages as they come, a few ahead and no more.

Whoever listens may wait a while for the next one and do something else then; the source is not
disturbed by that. What waits unread is bounded, and beyond it the source itself is made to wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

from renderer.message import Message

AHEAD_MAX = 2
"""Messages that are read before they are asked for."""


class Stream:
    """What a source says. Make it with ``listening``."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Message | Exception] = asyncio.Queue(AHEAD_MAX)

    async def next(self, within_seconds: float | None = None) -> Message | None:
        """The next message; None if there is none in time. Raises what ended the source."""
        try:
            async with asyncio.timeout(within_seconds):
                found = await self._waiting.get()
        except TimeoutError:
            return None
        if isinstance(found, Exception):
            raise found
        return found

    async def fill(self, messages: AsyncGenerator[Message]) -> None:
        """Take what the source says, at the pace of whoever listens."""
        try:
            async with aclosing(messages):
                async for message in messages:
                    await self._waiting.put(message)
        except Exception as error:  # whatever it is, it is for whoever listens
            await self._waiting.put(error)


@asynccontextmanager
async def listening(messages: AsyncGenerator[Message]) -> AsyncGenerator[Stream]:
    """A stream of ``messages``, which are let go at the end."""
    stream = Stream()
    filling = asyncio.create_task(stream.fill(messages))
    try:
        yield stream
    finally:
        filling.cancel()
        await asyncio.gather(filling, return_exceptions=True)
