"""The deadline of one operation: whoever waits does so within it, and whoever does not looks.

It is kept on the clock of the machine. An event loop's own clock stands still while a long piece
of work runs, which is when somebody has to look.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import NamedTuple, TypeVar

from graphql import OperationType

from graph.model.errors import Unavailable

T = TypeVar("T")


class TookTooLong(Unavailable):
    """The deadline of one operation has passed."""


class Deadline(NamedTuple):
    """When an operation has to be over, whichever ways it is tried."""

    until: float
    """In seconds of the monotonic clock."""
    allowed_seconds: float
    kind: OperationType

    @staticmethod
    def after(seconds: float, kind: OperationType) -> Deadline:
        """That of an operation which begins now and may take ``seconds``."""
        return Deadline(time.monotonic() + seconds, seconds, kind)

    def check(self) -> None:
        """Refuse to go on when it has passed."""
        if time.monotonic() > self.until:
            raise self._too_long()

    async def wait(self, work: Awaitable[T]) -> T:
        """What comes of ``work``, unless that takes too long."""
        try:
            async with asyncio.timeout(self.until - time.monotonic()):
                return await work
        except TimeoutError:
            raise self._too_long() from None

    def _too_long(self) -> TookTooLong:
        said = f"the operation took longer than {self.allowed_seconds:g} s"
        if self.kind is OperationType.MUTATION:
            return TookTooLong(
                f"{said}; whether it took effect is not known",
                hint="send it again with the same idempotency key, or read the fleet first",
            )
        return TookTooLong(said, hint="ask for less at a time, or try again")
