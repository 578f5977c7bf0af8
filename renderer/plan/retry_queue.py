"""When applications whose templates had to be stopped are tried again: after everybody else.

Such a template costs its whole time whenever it is tried. One that was stopped while others waited
is tried once with all its time as soon as nobody waits; after that each round tries one
application, and its pauses double, up to a bound. Rounds are counted, so no clock is read here. It
is known to this process alone: whoever starts anew begins with the shortest pause.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field


@dataclass(slots=True)
class RetryQueue:
    """Applications that wait for another try, kept from step to step."""

    rounds_max: int = 64
    """Longest pause."""
    _new: list[str] = field(default_factory=list[str])
    """Stopped while others waited, the oldest first."""
    _pauses: dict[str, int] = field(default_factory=dict[str, int])
    _due: dict[str, int] = field(default_factory=dict[str, int])
    """The round in which each is tried."""
    _round: int = 0

    @property
    def pending(self) -> bool:
        """Whether one waits for its first try with all its time."""
        return bool(self._new)

    def stopped(self, name: str) -> None:
        """Stopped while others waited."""
        if name not in self._new:
            self._new.append(name)
        self._pauses.pop(name, None)
        self._due.pop(name, None)

    def next(self, names: Collection[str]) -> str | None:
        """The one of ``names`` that is tried now; None where all have to wait."""
        self._new = [each for each in self._new if each in names]
        if self._new:
            return self._put_off(self._new.pop(0))
        self._round += 1
        due = [each for each in names if self._due.get(each, 0) <= self._round]
        if not due:
            return None
        return self._put_off(min(due, key=lambda each: (self._due.get(each, 0), each)))

    def _put_off(self, name: str) -> str:
        pause = min(self._pauses.get(name, 0) * 2 or 1, self.rounds_max)
        self._pauses[name] = pause
        self._due[name] = self._round + 1 + pause
        return name
