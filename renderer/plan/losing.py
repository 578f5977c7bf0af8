"""Lines that are said to go: which of them do, and which stay because they are part of a wave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from graph.effective.portion import RemovedLines
from graph.effective.rendition import Cause
from renderer.plan.directories import Books
from renderer.plan.pointer import Pointer
from renderer.plan.roster import Roster
from renderer.plan.wave import WaveBounds, large, waves

TOGETHER = 2_000
"""Pointers that are read at a time."""

Causes = dict[str, dict[str, Cause]]
"""By application, by cluster."""


class Losing:
    """What one step takes away."""

    def __init__(self, books: Books, roster: Roster, bounds: WaveBounds) -> None:
        self._held, self._lines = books.held, books.lines
        self._roster, self._bounds = roster, bounds
        self._going: Causes = defaultdict(dict)
        self._confirmed: Causes = defaultdict(dict)
        self._waved: frozenset[str] = frozenset()
        self.retired: set[str] = set()
        """Clusters that are gone, unless they were told of."""

    def say(self, removed: RemovedLines) -> None:
        """Lines are said to go: they neither wait nor are blocked any more."""
        name = removed.application
        going = self._going[name]
        for cluster in removed.clusters:
            if going.get(cluster) is not Cause.PROHIBITED:  # a name may be said twice, as another's
                going[cluster] = removed.cause
        if name in self._held:
            self._held.of(name).forget(removed.clusters)

    def miss(self, application: str, cluster: str, cause: Cause) -> None:
        """A line was not told of, so it goes; for another cause if that was said."""
        self._going[application].setdefault(cluster, cause)

    def confirm(self, application: str) -> int:
        """Somebody agreed to a wave: its lines go now. How many there are."""
        holding = self._held.of(application)
        for cluster, (cause, _) in holding.wave.items():
            self._confirmed[application][cluster] = Cause(cause)
            if cause == Cause.RETIRED:
                self.retired.add(cluster)
        holding.wave.clear()
        return len(self._confirmed[application])

    def judge(self, agreed: int) -> None:
        """All was said: hold what is too much, but for as many lines as was agreed to."""
        going = {name: self._count(name) for name in self._going}
        going = {name: lines for name, lines in going.items() if lines}
        totals = {name: self._lines.total_before(name) for name in going}
        losses = large(going, totals, self._bounds)
        if losses and agreed:
            agreed -= self._prohibited()
        self._waved = waves(losses, agreed)

    def by_cluster(self) -> dict[str, dict[str, Cause]]:
        """Causes by cluster, by application."""
        found: dict[str, dict[str, Cause]] = defaultdict(dict)
        for causes in (self._going, self._confirmed):
            for application, clusters in causes.items():
                for cluster, cause in clusters.items():
                    found[cluster][application] = cause
        return found

    def take_away(self, pointer: Pointer, application: str, cause: Cause) -> None:
        """A line goes, or stays as part of a wave: one that began stays until it is confirmed."""
        name = pointer.cluster
        holding = self._held.of(application) if application in self._held else None
        if holding is not None and name in holding.blocked and cause is not Cause.PROHIBITED:
            return  # it is wanted again, and only blocked
        confirmed = name in self._confirmed.get(application, ())
        waved = application in self._waved or (holding is not None and name in holding.wave)
        if waved and cause is not Cause.PROHIBITED and not confirmed:
            self._held.of(application).wave.setdefault(name, (str(cause), 0))
            return
        del pointer.lines[application]
        if holding is not None:
            holding.lose(name)

    def mark(self, pointer: Pointer, cause: Cause) -> None:
        """Say of held lines whether their cluster is gone; its name may be another's by now."""
        for application in pointer.lines:
            holding = self._held.of(application) if application in self._held else None
            if holding is not None and pointer.cluster in holding.wave:
                before, since = holding.wave[pointer.cluster]
                if Cause.RETIRED in (before, cause):
                    holding.wave[pointer.cluster] = (str(cause), since)

    def _count(self, name: str) -> int:
        """Lines of an application that would go newly, and that something may hold back."""
        held = self._held.of(name).wave if name in self._held else {}
        return sum(
            cause is not Cause.PROHIBITED and cluster not in held
            for cluster, cause in self._going[name].items()
        )

    def _prohibited(self) -> int:
        """Lines that are there and may not be: what was agreed to covers these first."""
        found = 0
        for name, clusters in self._going.items():
            vetoed = [each for each, cause in clusters.items() if cause is Cause.PROHIBITED]
            for some in batched(vetoed, TOGETHER):
                found += sum(name in each.lines for each in self._roster.read(some).values())
        return found


def batched(names: Iterable[str], size: int) -> Iterator[list[str]]:
    """Names in lists of ``size`` at most."""
    source = iter(names)
    while some := list(islice(source, size)):
        yield some
