"""Timing two or more sides fairly on a machine that does other things as well.

All sides take turns, round after round, so that a busy moment hits every one of them; the median
of the rounds is the figure. CPU time is what other load disturbs least; the wall clock is kept as
well, for work that happens in another process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median

Work = Callable[[], object]

REPEATS_MAX = 20_000


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds: of this process's CPU, and by the wall clock."""

    cpu: float
    wall: float

    def each(self, count: int) -> Spent:
        """The share of one of ``count``."""
        return Spent(self.cpu / count, self.wall / count)


@dataclass(slots=True)
class Watch:
    """Runs from the moment it is made."""

    wall: float = field(default_factory=time.perf_counter)
    cpu: float = field(default_factory=time.process_time)

    def spent(self) -> Spent:
        """Since then."""
        return Spent(time.process_time() - self.cpu, time.perf_counter() - self.wall)


def interleaved(
    sides: Mapping[str, Work], *, rounds: int, round_seconds: float
) -> dict[str, Spent]:
    """What one call of each side takes; each runs for about ``round_seconds`` a round."""
    repeats = {name: _repeats(work, round_seconds) for name, work in sides.items()}
    seen: dict[str, list[Spent]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, work in sides.items():
            seen[name].append(repeated(work, repeats[name]))
    return {
        name: Spent(median(each.cpu for each in found), median(each.wall for each in found))
        for name, found in seen.items()
    }


def repeated(work: Work, repeats: int) -> Spent:
    """What one of ``repeats`` calls takes on average."""
    watch = Watch()
    for _ in range(repeats):
        work()
    return watch.spent().each(repeats)


def _repeats(work: Work, seconds: float) -> int:
    """How often ``work`` fits; the trial is its warm-up."""
    work()
    spent = repeated(work, 3).wall
    return max(1, min(REPEATS_MAX, int(seconds / spent)))
