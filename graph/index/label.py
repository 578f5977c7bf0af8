"""One label key: the value of each cluster, the clusters of each value, and ranges.

Values are numbered by a dictionary that all versions of the key share and that only grows, so a
write never copies thousands of values; an older version simply has no set for a newer number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import Lock
from typing import TypeVar

from graph.index.chunks import Chunks
from graph.index.holders import Holder, Holders, HoldersDraft, compact, holders_of
from graph.index.ranges import HOLDS, RangeIndex
from graph.model.cluster_set import EMPTY, ClusterSet, ClusterSetDraft
from graph.model.inventory import LabelType, LabelValue
from graph.model.label import type_of
from graph.model.names import ClusterNumber
from graph.model.selector import Comparison

T = TypeVar("T")

DIRTY_MAX = 128
"""Clusters changed since the range index was made, before it is dropped."""

SPARE_CODES = 1_024
"""Numbers of values no longer in use, before such values are forgotten."""


class Codes:
    """The numbering of values: append-only, shared by all versions of one label key.

    Drafts may be made in several threads at once (the next version, and an earlier one being
    reconstructed), so a number is given under a lock; looking one up needs none.
    """

    __slots__ = ("_giving", "numbers", "values")

    def __init__(self, values: Iterable[LabelValue] = ()) -> None:
        self._giving = Lock()
        self.values = list(values)
        self.numbers = {value: code for code, value in enumerate(self.values)}

    def number(self, value: LabelValue) -> int:
        """The number of ``value``, given now if it has none."""
        code = self.numbers.get(value)
        return self._give(value) if code is None else code

    def _give(self, value: LabelValue) -> int:
        with self._giving:
            if value not in self.numbers:
                self.values.append(value)  # first, so that a number always has its value
                self.numbers[value] = len(self.values) - 1
            return self.numbers[value]


class Label:
    """One version of a label key. The type is the key's, final."""

    __slots__ = ("codes", "column", "dirty", "having", "holders", "ranges", "type")

    def __init__(
        self,
        *,
        type: LabelType,
        codes: Codes,
        column: Chunks[LabelValue | None],
        having: ClusterSet,
        holders: Holders,
    ) -> None:
        self.type = type
        self.codes = codes
        self.column = column
        self.having = having
        self.holders = holders
        self.ranges: RangeIndex | None = None
        self.dirty: ClusterSet = EMPTY
        """Clusters whose value may differ from what ``ranges`` knows."""

    @staticmethod
    def empty(type: LabelType) -> Label:
        """A key no cluster has."""
        return Label(
            type=type,
            codes=Codes(),
            column=Chunks([], None),
            having=EMPTY,
            holders=holders_of([]),
        )

    def equal(self, value: LabelValue) -> ClusterSet:
        """Clusters with exactly this value; ``true`` is not 1."""
        code = self.codes.numbers.get(value)
        if code is None or type_of(value) is not self.type:
            return EMPTY
        return self.holders.get(code)

    def values(self) -> Iterator[tuple[LabelValue, ClusterSet]]:
        """Each value in use, with its clusters."""
        pairs = zip(self.codes.values, self.holders, strict=False)
        return ((value, found) for value, found in pairs if found)

    def held(self) -> Iterator[tuple[LabelValue, Holder]]:
        """Each value in use, with its clusters, or the number of the only one."""
        pairs = zip(self.codes.values, self.holders.entries, strict=False)
        return ((value, compact(found)) for value, found in pairs if found is not EMPTY)

    def satisfying(self, comparison: Comparison, value: float) -> ClusterSet:
        """Clusters whose number satisfies an ordering comparison."""
        if self.type is not LabelType.NUMBER:
            return EMPTY
        if self.ranges is None:
            # Made at first use and kept, here and in later versions: a cache, not a change.
            self.ranges = RangeIndex(_numbers(self.values()))
        found = self.ranges.satisfying(comparison, value)
        return self._corrected(found, comparison, value) if self.dirty else found

    def _corrected(self, found: ClusterSet, comparison: Comparison, value: float) -> ClusterSet:
        holds, column = HOLDS[comparison], self.column
        now = _numbers((column.get(cluster), cluster) for cluster in self.dirty)
        return (found - self.dirty) | ClusterSet.of(
            [cluster for number, cluster in now if holds(number, value)]
        )


class LabelDraft(Label):
    """The next version of a label key, still being made."""

    __slots__ = ("_holders", "_my_dirty", "_my_having")

    def __init__(self, base: Label) -> None:
        self._holders = HoldersDraft(base.holders)
        self._my_having: ClusterSetDraft | None = None
        self._my_dirty: ClusterSetDraft | None = None
        super().__init__(
            type=base.type,
            codes=base.codes,
            column=base.column,
            having=base.having,
            holders=self._holders,
        )
        self.ranges, self.dirty = base.ranges, base.dirty

    def freeze(self) -> Label:
        """The version that was made."""
        codes, holders = self.codes, self._holders.freeze()
        if len(codes.values) > 2 * holders.in_use + SPARE_CODES:
            pairs = list(self.values())
            codes = Codes(value for value, _ in pairs)
            holders = holders_of(found for _, found in pairs)
        made = Label(
            type=self.type,
            codes=codes,
            column=self.column.freeze(),
            having=self.having,
            holders=holders,
        )
        made.ranges, made.dirty = self.ranges, self.dirty
        return made

    def put(self, cluster: ClusterNumber, value: LabelValue | None) -> None:
        """Give ``cluster`` this value; None takes the label away."""
        was = self.column.get(cluster)
        if was is not None:
            self._holders.discard(self.codes.numbers[was], cluster)
        if value is not None:
            code = self.codes.number(value)
            self._holders.add(code, cluster)
            value = self.codes.values[code]  # the one object all clusters share
        self.column = self.column.put(cluster, value)
        if (was is None) != (value is None):
            self._have(cluster, value is not None)
        if self.ranges is not None:
            self._soil(cluster)

    def _have(self, cluster: ClusterNumber, has: bool) -> None:
        if self._my_having is None:
            self.having = self._my_having = self.having.copy()
        if has:
            self._my_having.add(cluster)
        else:
            self._my_having.discard(cluster)

    def _soil(self, cluster: ClusterNumber) -> None:
        if self._my_dirty is None:
            self.dirty = self._my_dirty = self.dirty.copy()
        self._my_dirty.add(cluster)
        if len(self.dirty) > DIRTY_MAX:
            self.ranges, self.dirty, self._my_dirty = None, EMPTY, None


def _numbers(pairs: Iterable[tuple[LabelValue | None, T]]) -> Iterator[tuple[float, T]]:
    """The pairs that hold a number: all that are not None, in a key of that type."""
    return ((value, other) for value, other in pairs if isinstance(value, int | float))
