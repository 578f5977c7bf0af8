"""Ranges over a number: stored unions of the smallest values, and the few values in between.

With thousands of values a range as a union of them costs ten times as much as one stored union of
everything below the nearest mark, plus the values from that mark on.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable

from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.selector import Comparison

MARKS_MAX = 64
"""Stored unions per label key."""

HOLDS: dict[Comparison, Callable[[float, float], bool]] = {
    Comparison.LT: operator.lt,
    Comparison.LE: operator.le,
    Comparison.GT: operator.gt,
    Comparison.GE: operator.ge,
}


class RangeIndex:
    """Answers ordering comparisons over values and sets as they were when it was made."""

    __slots__ = ("_everything", "_sets", "_step", "_unions", "_values")

    def __init__(self, pairs: Iterable[tuple[float, ClusterSet]]) -> None:
        ordered = sorted(pairs, key=operator.itemgetter(0))
        self._values = [value for value, _ in ordered]
        self._sets = [found for _, found in ordered]
        self._step = max(1, -(-len(ordered) // MARKS_MAX))
        self._unions = [EMPTY]
        for start in range(0, len(ordered), self._step):
            self._unions.append(
                ClusterSet.union([self._unions[-1], *self._sets[start : start + self._step]])
            )
        self._everything = self._unions[-1]

    def satisfying(self, comparison: Comparison, value: float) -> ClusterSet:
        """Clusters whose number satisfied the comparison."""
        match comparison:
            case Comparison.LT:
                return self._first(bisect_left(self._values, value))
            case Comparison.LE:
                return self._first(bisect_right(self._values, value))
            case Comparison.GE:
                return self._everything - self._first(bisect_left(self._values, value))
            case Comparison.GT:
                return self._everything - self._first(bisect_right(self._values, value))
            case _:
                raise AssertionError(f"{comparison} is no ordering comparison")

    def _first(self, count: int) -> ClusterSet:
        """Clusters with one of the ``count`` smallest values."""
        if count == len(self._sets):
            return self._everything
        mark, rest = divmod(count, self._step)
        if not rest:
            return self._unions[mark]
        return ClusterSet.union([self._unions[mark], *self._sets[count - rest : count]])
