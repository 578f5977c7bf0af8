"""Streams: one subscriber each, from the hub's side.

Whoever is at the other end, a socket or a response, is a ``Sink``. What is said to many is encoded
once, as a ``Payload``; a sink only puts its own wrapping around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

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
    """One subscriber. Until it is released, what is said to everybody waits for its turn."""

    __slots__ = ("_held", "access", "past", "sink")

    def __init__(self, sink: Sink, access: Access) -> None:
        self.sink = sink
        self.access = access
        self.past = Revision(0)
        """How far it has been told by itself; what the others hear about that is not for it."""
        self._held: list[Callable[[], None]] | None = []

    def hear(self, payload: Payload, revision: Revision) -> None:
        """Take what is said to everybody."""
        if revision <= self.past:
            return
        if self._held is None:
            self.sink.next(payload)
        else:
            self._held.append(partial(self.sink.next, payload))

    def end(self, last: Payload) -> None:
        """Take the last word."""
        self._do(partial(self.sink.next, last))
        self._do(self.sink.complete)

    def fail(self, errors: Sequence[dict[str, Any]]) -> None:
        """Take why it cannot go on."""
        self._do(partial(self.sink.fail, errors))

    def release(self) -> None:
        """From now on it hears everything at once."""
        held, self._held = self._held or [], None
        for action in held:
            action()

    def _do(self, action: Callable[[], None]) -> None:
        if self._held is None:
            action()
        else:
            self._held.append(action)


class Failed(Exception):
    """What was to be said could not be worked out; ``errors`` are what is said instead."""

    def __init__(self, errors: Sequence[dict[str, Any]]) -> None:
        super().__init__(str(errors[0].get("message", "")))
        self.errors = errors
