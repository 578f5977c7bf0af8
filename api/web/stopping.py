"""The end of the process: when it is announced, and who still has something to say.

Whoever keeps a connection open by itself learns from here that it has to end it, and is waited for
as long as it takes, within the time that is given. Requests under way are the server's own matter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from graph.model.errors import TrellisError, Unavailable


class Stopping:
    """Whether the process is about to stop, and how many are not done yet."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        """Set when the process is about to stop: streams end, sockets are closed."""
        self._open = 0
        self._done = asyncio.Event()
        self._done.set()

    @contextmanager
    def waits(self) -> Generator[None]:
        """The process waits for what is done in here."""
        self._open += 1
        self._done.clear()
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._done.set()

    async def over(self) -> None:
        """Wait until nobody is left to wait for."""
        await self._done.wait()

    def hurry(self) -> None:
        """Wait for nobody any longer."""
        self._done.set()


def stopping() -> Unavailable:
    """Why a connection ends that is told so."""
    return Unavailable("the process is stopping", hint="connect again")


def unfinished(reason: TrellisError) -> Unavailable:
    """What is said of a change whose end is not waited for, because of ``reason``."""
    return Unavailable(
        f"{reason.message}; whether it took effect is not known",
        hint="send it again with the same idempotency key, or read the fleet first",
    )
