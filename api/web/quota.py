"""How many sockets and streams may be open: in all, and for one caller. An export is a stream."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from api.refusals import TooMany
from api.settings import ApiSettings
from api.telemetry.metrics import Tallies
from graph.model.errors import Unavailable


class Quota:
    """Counts what is open."""

    def __init__(self, settings: ApiSettings, tallies: Tallies) -> None:
        self._open_max = settings.sockets_max
        self._per_caller_max = settings.sockets_per_caller_max
        self._tallies = tallies
        self._callers: dict[str, int] = {}

    @contextmanager
    def held(self, caller: str) -> Generator[None]:
        """One of ``caller`` while it is open; refused if that is too many."""
        self.enter(caller)
        try:
            yield
        finally:
            self.leave(caller)

    def enter(self, caller: str) -> None:
        """One more of ``caller``; refused if that is too many."""
        if self._tallies.sockets_open >= self._open_max:
            raise Unavailable(
                f"{self._open_max:,} sockets and streams are open, as many as may be",
                hint="try again later, or ask another process",
            )
        self._count(caller)
        self._tallies.sockets_open += 1

    def move(self, caller: str, to: str) -> None:
        """One that came in as ``caller`` turns out to be of ``to``; refused if that is too many."""
        if caller != to:
            self._count(to)
            self._uncount(caller)

    def leave(self, caller: str) -> None:
        """One less of ``caller``."""
        self._uncount(caller)
        self._tallies.sockets_open -= 1

    def dropped(self) -> None:
        """One was too slow."""
        self._tallies.readers_dropped += 1

    def _count(self, caller: str) -> None:
        held = self._callers.get(caller, 0)
        if held >= self._per_caller_max:
            raise TooMany(
                f"{held:,} sockets and streams are open, as many as one caller may have",
                hint="close some, or subscribe to several things on one socket",
            )
        self._callers[caller] = held + 1

    def _uncount(self, caller: str) -> None:
        left = self._callers[caller] - 1
        if left:
            self._callers[caller] = left
        else:
            del self._callers[caller]
