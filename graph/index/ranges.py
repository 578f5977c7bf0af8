"""Ranges over a number: stored unions of the smallest and of the largest values.

With thousands of values a range as a union of them costs ten times as much as one stored union of
everything on this side of the nearest mark, plus the values between the range and that mark.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.selector import Comparison

MARKS_MAX = 64
"""Stored unions per label key, in each direction."""

HOLDS: dict[Comparison, Callable[[float, float], bool]] = {
    Comparison.LT: operator.lt,
    Comparison.LE: operator.le,
    Comparison.GT: operator.gt,
    Comparison.GE: operator.ge,
}


class RangeIndex:
    """Answers ordering comparisons over values and sets as they were when it was made."""

    __slots__ = ("_above", "_below", "_sets", "_step", "_values")

    def __init__(self, pairs: Iterable[tuple[float, ClusterSet]]) -> None:
        ordered = sorted(pairs, key=operator.itemgetter(0))
        self._values = [value for value, _ in ordered]
        self._sets = [found for _, found in ordered]
        self._step = step = max(1, -(-len(ordered) // MARKS_MAX))
        between = [
            ClusterSet.union(self._sets[start : start + step])
            for start in range(0, len(ordered), step)
        ]
        self._below = [*accumulate(between, ClusterSet.__or__, initial=EMPTY)]
        """What lies below each mark."""
        self._above = [*accumulate(reversed(between), ClusterSet.__or__, initial=EMPTY)][::-1]
        """What does not."""

    def satisfying(self, comparison: Comparison, value: float) -> ClusterSet:
        """Clusters whose number satisfied the comparison."""
        side, bisect = _SIDES[comparison]
        return side(self, bisect(self._values, value))

    def first(self, count: int) -> ClusterSet:
        """Clusters with one of the ``count`` smallest values."""
        mark, more = divmod(count, self._step)
        if not more:
            return self._below[mark]
        return ClusterSet.union([self._below[mark], *self._sets[count - more : count]])

    def rest(self, count: int) -> ClusterSet:
        """Clusters with another value than the ``count`` smallest."""
        mark, more = divmod(count, self._step)
        if not more:
            return self._above[mark]
        until = count - more + self._step
        return ClusterSet.union([self._above[mark + 1], *self._sets[count:until]])


_SIDES: dict[
    Comparison,
    tuple[Callable[[RangeIndex, int], ClusterSet], Callable[[Sequence[float], float], int]],
] = {
    Comparison.LT: (RangeIndex.first, bisect_left),
    Comparison.LE: (RangeIndex.first, bisect_right),
    Comparison.GE: (RangeIndex.rest, bisect_left),
    Comparison.GT: (RangeIndex.rest, bisect_right),
}
"""On which side of which place the values of an ordering comparison lie."""
