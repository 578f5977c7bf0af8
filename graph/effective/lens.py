"""The clusters for which anything can differ, and how sets of them are kept while one looks.

A change is mostly about one cluster, or a hundred of them. Sets of so few are kept as the bits of a
number: they are cut and joined at a tenth of what it costs with sets made for a whole fleet.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import compress
from typing import Generic, TypeVar

from graph.model.cluster_set import EMPTY, ClusterSet

FEW_MAX = 256
"""Clusters of which sets are cheaper as bits."""

_DIGITS = bytes.maketrans(b"01", b"\0\1")
"""Written digits as numbers."""

Bits = int
"""Some of a few clusters, one bit each."""

P = TypeVar("P", int, ClusterSet)
"""A part of the clusters in sight, however it is kept."""


class Lens(ABC, Generic[P]):
    """Some clusters of a fleet, and nothing else of it."""

    __slots__ = ("among", "none")

    among: ClusterSet | None
    """The clusters; None for all."""
    none: P

    @abstractmethod
    def cut(self, clusters: ClusterSet) -> P:
        """What is in sight of some clusters."""

    @abstractmethod
    def set(self, part: P) -> ClusterSet:
        """A part as a set."""

    @abstractmethod
    def size(self, part: P) -> int:
        """How many clusters a part has."""

    @abstractmethod
    def union(self, parts: Sequence[P]) -> P:
        """Everything in any of some parts."""

    @abstractmethod
    def minus(self, part: P, other: P) -> P:
        """What is in one part and not in the other."""

    def patched(self, was: ClusterSet, part: P) -> ClusterSet:
        """A set of the whole fleet with what is in sight of it replaced; itself if that is equal.

        Others tell by that that nothing differs.
        """
        now = self.set(part)
        if self.among is None:
            return was if was == now else now
        return was.patched(self.among, now)


class Few(Lens[int]):
    """A few clusters, each of which is one bit."""

    __slots__ = ("_bits", "_cuts", "_everybody", "_known", "_numbers", "_one", "clusters")

    def __init__(self, clusters: ClusterSet) -> None:
        self.among = self.clusters = clusters
        self.none = 0
        self._numbers = list(clusters)
        self._bits: dict[int, Bits] = {each: 1 << at for at, each in enumerate(self._numbers)}
        self._one = self._numbers[0] if len(self._numbers) == 1 else None
        self._everybody: Bits = (1 << len(self._numbers)) - 1
        self._known: dict[Bits, ClusterSet] = {0: EMPTY, self._everybody: clusters}
        self._cuts: dict[int, tuple[ClusterSet, Bits]] = {}
        """By the identity of sets, which are kept with it so that it stays theirs."""

    def cut(self, clusters: ClusterSet) -> Bits:
        """What is in sight of some clusters."""
        if self._one is not None:
            return 1 if self._one in clusters else 0
        known = self._cuts.get(id(clusters))
        if known is None:
            here = clusters & self.clusters
            if len(here) == len(self._numbers):
                bits = self._everybody
            else:
                bits = sum(map(self._bits.__getitem__, here))
            known = self._cuts[id(clusters)] = clusters, bits
        return known[1]

    def bit(self, cluster: int) -> Bits:
        """One cluster; nobody if it is not in sight."""
        return self._bits.get(cluster, 0)

    def set(self, part: Bits) -> ClusterSet:
        """A part as a set."""
        known = self._known.get(part)
        if known is None:
            chosen = f"{part:b}".encode().translate(_DIGITS)[::-1]
            known = self._known[part] = ClusterSet.of(list(compress(self._numbers, chosen)))
        return known

    def size(self, part: Bits) -> int:
        """How many clusters a part has."""
        return part.bit_count()

    def union(self, parts: Sequence[Bits]) -> Bits:
        """Everything in any of some parts."""
        found = 0
        for part in parts:
            found |= part
        return found

    def minus(self, part: Bits, other: Bits) -> Bits:
        """What is in one part and not in the other."""
        return part & ~other


class Sets(Lens[ClusterSet]):
    """Any number of clusters, or all of them."""

    __slots__ = ()

    def __init__(self, among: ClusterSet | None) -> None:
        self.among = among
        self.none = EMPTY

    def cut(self, clusters: ClusterSet) -> ClusterSet:
        """What is in sight of some clusters."""
        return clusters if self.among is None else clusters & self.among

    def set(self, part: ClusterSet) -> ClusterSet:
        """A part as a set: it is one."""
        return part

    def size(self, part: ClusterSet) -> int:
        """How many clusters a part has."""
        return len(part)

    def union(self, parts: Sequence[ClusterSet]) -> ClusterSet:
        """Everything in any of some parts."""
        return ClusterSet.union(parts)

    def minus(self, part: ClusterSet, other: ClusterSet) -> ClusterSet:
        """What is in one part and not in the other."""
        return part - other


WHOLE = Sets(None)
"""The whole fleet."""
