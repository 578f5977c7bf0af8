"""Who has each value of a label: a set per value, or a bare number where one cluster has it.

A label such as a store number has a value per cluster; 60,000 sets of one would take more room than
the rest of the index.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from graph.index.chunks import Chunks, ChunksDraft, chunks_of
from graph.model.cluster_set import EMPTY, ClusterSet, ClusterSetDraft
from graph.model.names import ClusterNumber

Holder = ClusterSet | int
"""A set, or the number of the only cluster."""


class Holders:
    """One version: the clusters of each value, by the value's number."""

    __slots__ = ("entries", "in_use")

    def __init__(self, entries: Chunks[Holder], *, in_use: int) -> None:
        self.entries = entries
        self.in_use: int = in_use
        """How many values some cluster has."""

    def get(self, code: int) -> ClusterSet:
        """The clusters that have the value."""
        return _as_set(self.entries.get(code))

    def __iter__(self) -> Iterator[ClusterSet]:
        return map(_as_set, self.entries)


class HoldersDraft(Holders):
    """The next version, still being made."""

    __slots__ = ("_copies", "_entries")

    def __init__(self, base: Holders) -> None:
        self._entries = ChunksDraft(base.entries)
        self._copies: dict[int, ClusterSetDraft] = {}
        super().__init__(self._entries, in_use=base.in_use)

    def freeze(self) -> Holders:
        """The version that was made."""
        return Holders(self._entries.freeze(), in_use=self.in_use)

    def add(self, code: int, cluster: ClusterNumber) -> None:
        """Give the value to a cluster that has it not."""
        if self._entries.get(code) is EMPTY:
            self._entries.put(code, cluster)
            self.in_use += 1
        else:
            self._own(code).add(cluster)

    def discard(self, code: int, cluster: ClusterNumber) -> None:
        """Take the value from a cluster that has it."""
        if not isinstance(self._entries.get(code), int):
            left = self._own(code)
            left.discard(cluster)
            if left:
                return
            del self._copies[code]
        self._entries.put(code, EMPTY)
        self.in_use -= 1

    def _own(self, code: int) -> ClusterSetDraft:
        copy = self._copies.get(code)
        if copy is None:
            copy = self._copies[code] = self.get(code).copy()
            self._entries.put(code, copy)
        return copy


def holders_of(members: Iterable[ClusterSet | array[int]]) -> Holders:
    """The clusters of each value, none of them empty, in the order of the values' numbers."""
    entries = [compact(each) for each in members]
    return Holders(chunks_of(entries, EMPTY), in_use=len(entries))


def compact(members: Holder | array[int]) -> Holder:
    """The number of the only cluster, or the set of several."""
    if isinstance(members, int):
        return members
    if len(members) == 1:
        return next(iter(members))
    return members if isinstance(members, ClusterSet) else ClusterSet.of(members)


def _as_set(holder: Holder) -> ClusterSet:
    return ClusterSet.of((holder,)) if isinstance(holder, int) else holder
