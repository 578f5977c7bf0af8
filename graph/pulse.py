"""The pulse of a process that follows a store: looking for what others wrote, again and again.

However many wait for news, the store is asked by one of them at a time and no more often than it
should be. A store that is away is said once, and once more when it is back; meanwhile everything
that only reads goes on with what this process has.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable

from graph.feed import Feed
from graph.model.errors import Unavailable

PATIENCE_SECONDS = 5.0
"""How long a follower waits before it looks itself, while somebody else looks for all."""

_log = logging.getLogger(__name__)


class Pulse:
    """Looks at a store by ``catch_up``, for all who follow it in this process."""

    def __init__(self, catch_up: Callable[[], Awaitable[None]], *, poll_seconds: float) -> None:
        self._catch_up = catch_up
        self._poll_seconds = poll_seconds
        self._looking = False
        self._kept = False
        self._away_since: float | None = None
        self._looked = self._fresh = time.monotonic()

    @property
    def age_seconds(self) -> float:
        """How long ago this process last knew that it had everything."""
        return time.monotonic() - self._fresh

    @property
    def wait_seconds(self) -> float:
        """How long a follower should wait for news before it asks for a look."""
        return PATIENCE_SECONDS if self._kept else self._poll_seconds

    def answered(self, asked: float) -> None:
        """Everything written before ``asked``, on the monotonic clock, is here."""
        self._fresh = max(self._fresh, asked)

    async def look(self) -> None:
        """Look for other writers' changes, unless it is too early or somebody does already."""
        if self._looking or time.monotonic() - self._looked < self._poll_seconds:
            return
        self._looking = True
        try:
            await self._catch_up()
        except Unavailable as error:
            self._say_away(error)
        else:
            self._say_back()
        finally:
            self._looking = False
            self._looked = time.monotonic()

    async def keep(self, feed: Feed) -> None:
        """Look as often as should be until ``feed`` is closed; followers need not look then."""
        self._kept = True
        try:
            while not feed.closed:
                await self.look()
                await feed.more_than(feed.head, timeout_seconds=self._poll_seconds)
        finally:
            self._kept = False

    def _say_away(self, error: Unavailable) -> None:
        if self._away_since is None:
            self._away_since = time.monotonic()
            _log.warning("following goes on when the store is back: %s", error.message)

    def _say_back(self) -> None:
        if self._away_since is not None:
            away = time.monotonic() - self._away_since
            self._away_since = None
            _log.warning("the store is back after %s s; following goes on", f"{away:,.1f}")
