"""A persistent vector: equal parts are shared between versions, a write copies one chunk.

The index keeps one such vector per column and per kind of set. A flat list of 26,000 entries
takes 40 us to copy; here a write copies a list of some hundred chunks and one chunk of ``SIZE``
entries, once per draft, whatever the number of writes that follow in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from graph.model.cluster_set import EMPTY, ClusterSet, ClusterSetDraft
from graph.model.view import CHUNK_BITS, CHUNK_MASK

T = TypeVar("T")

BITS, MASK = CHUNK_BITS, CHUNK_MASK
SIZE = 1 << BITS


class Chunks(Generic[T]):
    """One version of a vector. An index never written holds ``default``."""

    __slots__ = ("chunks", "default")

    def __init__(self, chunks: list[list[T]], default: T) -> None:
        self.chunks = chunks
        self.default = default

    def get(self, index: int) -> T:
        """The entry at ``index``; any number is an index."""
        at = index >> BITS
        chunks = self.chunks
        return chunks[at][index & MASK] if 0 <= at < len(chunks) else self.default

    def at(self, indexes: Iterable[int]) -> list[T]:
        """The entries at ``indexes``, all of them written once."""
        chunks = self.chunks
        return [chunks[index >> BITS][index & MASK] for index in indexes]

    def many(self, indexes: Sequence[int]) -> list[T]:
        """The entries at ``indexes``, written or not; a whole column in one pass."""
        try:
            return self.at(indexes)
        except IndexError:  # some lie beyond what was ever written
            return [self.get(index) for index in indexes]

    def put(self, index: int, value: T) -> ChunksDraft[T]:
        """A draft of the next version, in which ``index`` holds ``value``."""
        return ChunksDraft(self).put(index, value)

    def freeze(self) -> Chunks[T]:
        """A version nobody writes: itself."""
        return self

    def first(self, count: int) -> list[T]:
        """The first ``count`` entries, as one list."""
        found = [value for chunk in self.chunks[: (count + MASK) >> BITS] for value in chunk]
        found.extend([self.default] * (count - len(found)))
        return found[:count]

    def __iter__(self) -> Iterator[T]:
        for chunk in self.chunks:
            yield from chunk


class ChunksDraft(Chunks[T]):
    """The next version of a vector, still written by the one who holds it."""

    __slots__ = ("_mine",)

    def __init__(self, base: Chunks[T]) -> None:
        super().__init__(list(base.chunks), base.default)
        self._mine: set[int] = set()

    def put(self, index: int, value: T) -> ChunksDraft[T]:
        """Write in place; the chunk is copied at its first write."""
        at = index >> BITS
        if at not in self._mine:
            self._take(at)
        self.chunks[at][index & MASK] = value
        return self

    def freeze(self) -> Chunks[T]:
        """The version that was made; the draft is not to be written any more."""
        return Chunks(self.chunks, self.default)

    def _take(self, at: int) -> None:
        chunks = self.chunks
        if at >= len(chunks):
            # One blank chunk stands for all of a gap, so a sparse column stays small.
            chunks.extend([[self.default] * SIZE] * (at + 1 - len(chunks)))
        chunks[at] = list(chunks[at])
        self._mine.add(at)


class SetsDraft(ChunksDraft[ClusterSet]):
    """A draft of a vector of sets, each copied once and from then on changed in place."""

    __slots__ = ("_copies",)

    def __init__(self, base: Chunks[ClusterSet]) -> None:
        super().__init__(base)
        self._copies: dict[int, ClusterSetDraft] = {}

    def own(self, index: int) -> ClusterSetDraft:
        """The set at ``index``, to be changed in place."""
        copy = self._copies.get(index)
        if copy is None:
            copy = self.get(index).copy()
            super().put(index, copy)
            self._copies[index] = copy
        return copy

    def put(self, index: int, value: ClusterSet) -> SetsDraft:
        """Replace a whole set; it may be shared, so the next change of it copies again."""
        self._copies.pop(index, None)
        super().put(index, value)
        return self


def chunks_of(values: Sequence[T], default: T) -> Chunks[T]:
    """A vector of ``values``, from index 0 on."""
    chunks = [list(values[start : start + SIZE]) for start in range(0, len(values), SIZE)]
    if chunks:
        chunks[-1].extend([default] * (SIZE - len(chunks[-1])))
    return Chunks(chunks, default)


def sets_of(values: Sequence[ClusterSet]) -> Chunks[ClusterSet]:
    """A vector of sets; an index never written holds the empty set."""
    return chunks_of(values, EMPTY)
