"""Fan-out inside one process: the newest changesets, and a wake-up when there are more.

Followers keep nothing here. Each asks for what comes after its own cursor, from memory if that is
recent and from the store otherwise, so a slow one costs no memory and loses nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from graph.model.change import Changeset, Cursor
from graph.model.errors import ResyncRequired
from graph.model.names import Revision


class Feed:
    """The tail of the log in memory, at most ``kept_max`` changesets."""

    def __init__(self, head: Cursor, *, kept_max: int) -> None:
        self._recent: deque[Changeset] = deque(maxlen=kept_max)
        self._start = head
        self._head = head
        self._more = asyncio.Event()
        self.closed = False
        self.restarts = 0
        """How often what was announced turned out to be another history."""

    @property
    def head(self) -> Cursor:
        """The cursor of the newest changeset announced."""
        return self._head

    def announce(self, changeset: Changeset) -> None:
        """Tell everybody about the next changeset."""
        assert changeset.revision == self._head.revision + 1, "the feed has no gaps"
        if len(self._recent) == self._recent.maxlen:
            self._start = self._recent[0].cursor
        self._recent.append(changeset)
        self._head = changeset.cursor
        self._wake()

    def restart(self, head: Cursor) -> None:
        """Begin again at ``head``: the history behind it is not the one announced so far."""
        self._recent.clear()
        self._start = self._head = head
        self.restarts += 1
        self._wake()

    def recent(self) -> Sequence[Changeset]:
        """The newest changesets, oldest first, without a gap up to the head."""
        return tuple(self._recent)

    def at(self, revision: Revision) -> Changeset | None:
        """The changeset of ``revision``; None if memory does not hold it."""
        offset = revision - self._start.revision - 1
        return self._recent[offset] if 0 <= offset < len(self._recent) else None

    def after(self, cursor: Cursor) -> Sequence[Changeset] | None:
        """What came after ``cursor``; None if memory does not reach back to it."""
        if cursor == self._head:
            return ()
        if cursor == self._start:
            return tuple(self._recent)
        offset = cursor.revision - self._start.revision
        if not 0 < offset < len(self._recent) or self._recent[offset - 1].cursor != cursor:
            return None
        return tuple(self._recent[index] for index in range(offset, len(self._recent)))

    def close(self) -> None:
        """Let every follower go: there is nothing more to come."""
        self.closed = True
        self._wake()

    async def more_than(self, cursor: Cursor, *, timeout_seconds: float) -> bool:
        """Wait until the head is no longer ``cursor``, or the feed is closed; False if it is."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while cursor == self._head and not self.closed:
                    await self._more.wait()
        except TimeoutError:
            return False
        return True

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()


def elsewhere(cursor: Cursor) -> ResyncRequired:
    """The refusal of a cursor that is not a place in this history."""
    return ResyncRequired(
        f"{cursor} is not a place in this history", hint="start again without a cursor"
    )
