"""Whether a server can be reached, known without asking it.

The first failure to reach the server starts an outage. From then on callers are refused at once,
and one task alone asks the server, again and again, until it answers. So an outage costs the server
and the callers the same, however many of them there are, and the first call after it goes through.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from graph.model.errors import Unavailable

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Outage:
    reason: Unavailable
    """Why the server was not reached the last time it was tried."""
    since: float = field(default_factory=time.monotonic)
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Availability:
    """Remembers that a server is away, and finds out when it is back.

    ``probe`` asks the server once and raises ``Unavailable`` if it is still away.
    """

    def __init__(self, probe: Callable[[], Awaitable[None]], *, probe_seconds: float) -> None:
        self._probe = probe
        self._probe_seconds = probe_seconds
        self._outage: _Outage | None = None
        self._probing: asyncio.Task[None] | None = None

    def check(self) -> None:
        """Refuse while the server is away."""
        if self._outage is not None:
            raise self._refusal(self._outage)

    def lost(self, reason: Unavailable) -> None:
        """The server could not be reached: refuse callers until a probe succeeds."""
        if self._outage is not None:
            self._outage.reason = reason
            return
        self._outage = _Outage(reason)
        self._probing = asyncio.create_task(self._probe_until_back(self._outage))

    async def is_back(self, *, within_seconds: float) -> bool:
        """Wait for the end of an outage; false if it lasts longer."""
        if self._outage is None:
            return True
        try:
            async with asyncio.timeout(within_seconds):
                await self._outage.over.wait()
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        """Probe no more."""
        if self._probing is not None:
            self._probing.cancel()
            await asyncio.wait([self._probing])

    async def _probe_until_back(self, outage: _Outage) -> None:
        """Probe at once, since the failure may have been that of one connection alone."""
        while True:
            try:
                await self._probe()
                break
            except Unavailable as error:
                outage.reason = error
            except Exception as error:  # a fault of ours must not leave the outage without an end
                _log.exception("a probe of the store failed")
                outage.reason = Unavailable(f"a probe failed: {type(error).__name__}")
            await asyncio.sleep(self._probe_seconds)
        self._outage = None
        outage.over.set()

    def _refusal(self, outage: _Outage) -> Unavailable:
        away = max(1, round(time.monotonic() - outage.since))
        return Unavailable(
            f"the store has been away for {away:,} s: {outage.reason.message}",
            hint="this was refused without asking the store, so it had no effect; the store is"
            f" tried every {self._probe_seconds:g} s: send this again once it is back",
        )
