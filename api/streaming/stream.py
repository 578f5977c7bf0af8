"""Streams: one subscriber each, from the hub's side.

Whoever is at the other end, a socket or a response, is a ``Sink``. What is said to many is encoded
once, as a ``Payload``; a sink only puts its own wrapping around it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from api.problems import refusal
from api.refusals import SlowReader
from api.settings import ApiSettings
from graph.access import Access
from graph.model.change import Cursor
from graph.model.names import Revision


@dataclass(frozen=True, slots=True)
class Payload:
    """An execution result as JSON, and the place in history that goes with it."""

    text: str
    cursor: Cursor | None = None
    """Where to resume behind it."""


class Sink(Protocol):
    """The other end of one operation."""

    def next(self, payload: Payload) -> None:
        """One result. Never waits; a sink that cannot take it ends by itself."""
        ...

    async def room(self) -> None:
        """Wait until the other end has taken most of what it was sent."""
        ...

    def fail(self, errors: Sequence[dict[str, Any]]) -> None:
        """The last word: the operation could not go on."""
        ...

    def complete(self) -> None:
        """The last word: there is nothing more to say."""
        ...


class Stream:
    """One subscriber. Until it is released, what is said to everybody waits for its turn.

    Only so much may wait: a reader for whom the others are too far ahead has to begin again where
    it is.
    """

    __slots__ = (
        "_bytes", "_bytes_max", "_held", "_messages_max", "access", "is_behind", "past", "place",
        "sink",
    )  # fmt: skip

    def __init__(self, sink: Sink, access: Access, settings: ApiSettings) -> None:
        self.sink = sink
        self.access = access
        self.past = Revision(0)
        """How far it has been told by itself; what the others hear about that is not for it."""
        self.place: Cursor | None = None
        """Where to resume behind what it was told by itself."""
        self.is_behind = False
        """Whether more had to wait for it than may."""
        self._messages_max = settings.queue_messages_max
        self._bytes_max = settings.queue_bytes_max
        self._held: deque[tuple[Callable[[], None], int]] | None = deque()
        self._bytes = 0

    def tell(self, payload: Payload) -> None:
        """Take what is said to it by itself."""
        self.sink.next(payload)
        self.place = payload.cursor or self.place

    def hear(self, payload: Payload, revision: Revision) -> None:
        """Take what is said to everybody."""
        if revision <= self.past:
            return
        if self._held is None:
            self.sink.next(payload)
        else:
            self._hold(partial(self.tell, payload), len(payload.text))

    def end(self, last: Payload) -> None:
        """Take the last word."""
        self._do(partial(self.sink.next, last))
        self._do(self.sink.complete)

    def fail(self, errors: Sequence[dict[str, Any]]) -> None:
        """Take why it cannot go on."""
        self._do(partial(self.sink.fail, errors))

    async def release(self) -> None:
        """Say what has waited, at the reader's pace; from then on it hears everything at once."""
        while self._held:
            await self.sink.room()
            self.refuse_behind()
            action, size = self._held.popleft()
            self._bytes -= size
            action()
        self._held = None

    def refuse_behind(self) -> None:
        """End it if too much had to wait, with where to resume."""
        if not self.is_behind:
            return
        where = "start again" if self.place is None else f"resume after {self.place}"
        told = refusal(SlowReader("slow consumer", hint=f"read faster, and {where}"))
        if self.place is not None:
            told["extensions"]["cursor"] = str(self.place)
        raise Failed([told])

    def _do(self, action: Callable[[], None]) -> None:
        if self._held is None:
            action()
        else:
            self._hold(action, 0)

    def _hold(self, action: Callable[[], None], size: int) -> None:
        assert self._held is not None, "it is not released"
        full = len(self._held) >= self._messages_max or self._bytes + size > self._bytes_max
        if self.is_behind or (size and self._held and full):
            self.is_behind = True
            self._held.clear()
            return
        self._held.append((action, size))
        self._bytes += size


class Failed(Exception):
    """What was to be said could not be worked out; ``errors`` are what is said instead."""

    def __init__(self, errors: Sequence[dict[str, Any]]) -> None:
        super().__init__(str(errors[0].get("message", "")))
        self.errors = errors
