"""The answer: a set of clusters, as a value.

Callers write ``large & northeast - frozen`` and never see that it is a Roaring bitmap over cluster
numbers. This is the only module that knows.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar, cast

from pyroaring import BitMap

from graph.model.names import ClusterNumber

K = TypeVar("K")


class ClusterSet:
    """An immutable set of cluster numbers. Iteration is ascending."""

    __slots__ = ("_bits",)

    def __init__(self, bits: BitMap | None = None) -> None:
        self._bits = BitMap() if bits is None else bits

    @staticmethod
    def of(numbers: Iterable[int]) -> ClusterSet:
        """The set of ``numbers``; an ``array('I')`` is taken without boxing."""
        return ClusterSet(BitMap(numbers))

    @staticmethod
    def union(sets: Iterable[ClusterSet]) -> ClusterSet:
        """Everything in any of ``sets``, in one pass."""
        bits = [each._bits for each in sets]
        if len(bits) < 2:
            return ClusterSet(bits[0]) if bits else EMPTY
        return ClusterSet(BitMap.union(*bits))

    @staticmethod
    def common(sets: Sequence[ClusterSet]) -> ClusterSet:
        """What is in every one of ``sets``, of which there is at least one."""
        if len(sets) == 1:
            return sets[0]
        return ClusterSet(_met(sorted([each._bits for each in sets], key=len)))

    @staticmethod
    def common_size(sets: Iterable[ClusterSet]) -> int:
        """``len(ClusterSet.common(sets))``, without building it."""
        *others, largest = sorted([each._bits for each in sets], key=len)
        return _met(others).intersection_cardinality(largest) if others else len(largest)

    @staticmethod
    def from_bytes(data: bytes) -> ClusterSet:
        """The inverse of ``to_bytes``."""
        return ClusterSet(BitMap.deserialize(data))

    @staticmethod
    def holding(number: int, names: Iterable[K], sets: Mapping[K, ClusterSet]) -> list[K]:
        """Those ``names`` whose set has ``number``: for one cluster and many sets."""
        return [name for name in names if number in sets[name]._bits]

    def to_bytes(self) -> bytes:
        """A compact portable form."""
        return self._bits.serialize()

    def numbers(self) -> array[int]:
        """All numbers, unboxed: far cheaper than iterating for thousands and more."""
        return self._bits.to_array()

    def at_or_after(self, number: int) -> Iterator[ClusterNumber]:
        """Members from ``number`` on, ascending."""
        return cast("Iterator[ClusterNumber]", self._bits.iter_equal_or_larger(number))

    def copy(self) -> ClusterSetDraft:
        """A private copy its holder may change."""
        return ClusterSetDraft(self._bits.copy())

    def packed(self) -> ClusterSet:
        """The same set in its smallest form: worth its price for sets that stay."""
        bits = self._bits.copy()
        bits.run_optimize()
        return ClusterSet(bits)

    def size_with(self, other: ClusterSet) -> int:
        """``len(self & other)`` without building it."""
        return self._bits.intersection_cardinality(other._bits)

    def meets(self, other: ClusterSet) -> bool:
        """Whether the two have a cluster in common."""
        return self._bits.intersect(other._bits)

    def patched(self, among: ClusterSet, part: ClusterSet) -> ClusterSet:
        """The set with what it has ``among`` some replaced by ``part``; itself if they are equal.

        Costs next to nothing where ``among`` is small and nothing differs.
        """
        held = self._bits & among._bits
        if held == part._bits:
            return self
        if held <= part._bits:
            return ClusterSet(self._bits | part._bits)
        rest = self._bits - among._bits
        return ClusterSet(rest | part._bits if part._bits else rest)

    def __and__(self, other: ClusterSet) -> ClusterSet:
        return ClusterSet(self._bits & other._bits)

    def __or__(self, other: ClusterSet) -> ClusterSet:
        return ClusterSet(self._bits | other._bits)

    def __sub__(self, other: ClusterSet) -> ClusterSet:
        return ClusterSet(self._bits - other._bits)

    def __xor__(self, other: ClusterSet) -> ClusterSet:
        return ClusterSet(self._bits ^ other._bits)

    def __le__(self, other: ClusterSet) -> bool:
        return self._bits <= other._bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSet) and self._bits == other._bits

    def __hash__(self) -> int:
        return hash(self._bits.serialize())

    def __contains__(self, number: int) -> bool:
        return number in self._bits

    def __iter__(self) -> Iterator[ClusterNumber]:
        return cast("Iterator[ClusterNumber]", iter(self._bits))

    def __len__(self) -> int:
        return len(self._bits)

    def __bool__(self) -> bool:
        return bool(self._bits)

    def __repr__(self) -> str:
        shown = ", ".join(str(number) for number, _ in zip(self, range(8), strict=False))
        return f"ClusterSet({len(self):,}: {shown}{', ...' if len(self) > 8 else ''})"


class ClusterSetDraft(ClusterSet):
    """A set still being made. Whoever copied it may change it until it is handed on."""

    __slots__ = ()

    def add(self, number: int) -> None:
        """Take ``number`` in."""
        self._bits.add(number)

    def discard(self, number: int) -> None:
        """Leave ``number`` out."""
        self._bits.discard(number)

    def keep(self, other: ClusterSet) -> None:
        """Become the intersection with ``other``."""
        self._bits.intersection_update(other._bits)

    def update(self, other: ClusterSet) -> None:
        """Become the union with ``other``."""
        self._bits.update(other._bits)

    def drop(self, other: ClusterSet) -> None:
        """Become the difference from ``other``."""
        self._bits.difference_update(other._bits)


EMPTY = ClusterSet()


def _met(bits: Sequence[BitMap]) -> BitMap:
    """What is in every one; best with the smallest first."""
    if len(bits) == 1:
        return bits[0]
    kept = bits[0] & bits[1]
    for each in bits[2:]:
        kept &= each  # it is nobody else's
    return kept
