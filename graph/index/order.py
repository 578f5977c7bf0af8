"""Cluster names in order: one persistent structure finds a name and walks on from it.

Names are ASCII, so Python's order of strings is their order byte for byte.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, cast

from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.names import ClusterNumber

SHELF_MAX = 512
"""Names on one shelf; a shelf that would hold more is split in two."""


FEW = 16
"""Clusters whose places on a shelf are looked up; for more the shelf is walked."""


class Shelf(NamedTuple):
    """A stretch of names in order, and their numbers beside them."""

    names: list[str]
    numbers: array[int]
    held: list[ClusterSet]
    """The numbers as a set, made when first asked for; empty until then."""

    def among(self, chosen: ClusterSet) -> ClusterSet:
        """The clusters of this shelf that are ``chosen``."""
        if not self.held:
            self.held.append(ClusterSet.of(self.numbers))
        held = self.held[0]
        return chosen & held if chosen.meets(held) else EMPTY  # most shelves have none

    def in_order(self, found: ClusterSet, start: int) -> Iterable[ClusterNumber]:
        """The clusters ``found`` on this shelf from place ``start`` on, by name."""
        numbers = self.numbers
        if len(found) <= FEW:
            places = sorted(map(numbers.index, found))
            return [ClusterNumber(numbers[place]) for place in places if place >= start]
        if len(found) == len(numbers):
            return cast("Iterable[ClusterNumber]", numbers[start:])
        held = set(found.numbers())  # asked many times, which a set answers soonest
        return cast("Iterable[ClusterNumber]", filter(held.__contains__, numbers[start:]))


@dataclass(frozen=True, slots=True)
class NameOrder:
    """One version of all names. ``firsts`` are the first names of the shelves, none empty."""

    firsts: list[str]
    shelves: list[Shelf]

    @staticmethod
    def of(names: Sequence[str], numbers: array[int]) -> NameOrder:
        """The order of ``names``, which are sorted already."""
        step = SHELF_MAX // 2
        shelves = [
            Shelf(list(names[start : start + step]), numbers[start : start + step], [])
            for start in range(0, len(names), step)
        ]
        return NameOrder([shelf.names[0] for shelf in shelves], shelves)

    def number(self, name: str) -> ClusterNumber | None:
        """The number of the cluster called ``name``."""
        at = bisect_right(self.firsts, name) - 1
        if at < 0:
            return None
        names, numbers, _ = self.shelves[at]
        place = bisect_left(names, name)
        if place < len(names) and names[place] == name:
            return ClusterNumber(numbers[place])
        return None

    def after(self, name: str) -> Iterator[tuple[str, ClusterNumber]]:
        """Names greater than ``name``, in order."""
        at = max(bisect_right(self.firsts, name) - 1, 0)
        for names, numbers, _ in self.shelves[at:]:
            for place in range(bisect_right(names, name), len(names)):
                yield names[place], ClusterNumber(numbers[place])

    def among(self, chosen: ClusterSet, name: str) -> Iterator[ClusterNumber]:
        """``chosen`` clusters with a name greater than ``name``, in order.

        A shelf without any is passed over whole, so the cost follows what is found.
        """
        return chain.from_iterable(self._stretches(chosen, name))

    def first_among(self, chosen: ClusterSet, name: str, count: int) -> list[ClusterNumber]:
        """The first ``count`` of ``among``, a shelf at a time."""
        found: list[ClusterNumber] = []
        for stretch in self._stretches(chosen, name):
            found.extend(stretch)
            if len(found) >= count:
                break
        del found[count:]
        return found

    def _stretches(self, chosen: ClusterSet, name: str) -> Iterator[Iterable[ClusterNumber]]:
        at = max(bisect_right(self.firsts, name) - 1, 0)
        for shelf in self.shelves[at:]:
            if found := shelf.among(chosen):
                yield shelf.in_order(found, bisect_right(shelf.names, name))


class NameOrderDraft:
    """The next version; each shelf is copied at its first write."""

    __slots__ = ("_mine", "order")

    def __init__(self, base: NameOrder) -> None:
        self.order = NameOrder(list(base.firsts), list(base.shelves))
        self._mine: set[int] = set()
        """Shelves copied here, by identity: places shift when shelves split or vanish."""

    def add(self, name: str, number: ClusterNumber) -> None:
        """Take a new name in."""
        firsts, shelves = self.order.firsts, self.order.shelves
        if not shelves:
            self._insert(0, Shelf([name], array("I", [number]), []))
            return
        at = max(bisect_right(firsts, name) - 1, 0)
        names, numbers, _ = self._take(at)
        place = bisect_left(names, name)
        names.insert(place, name)
        numbers.insert(place, number)
        firsts[at] = names[0]
        if len(names) > SHELF_MAX:
            half = len(names) // 2
            self._insert(at + 1, Shelf(names[half:], numbers[half:], []))
            del names[half:], numbers[half:]

    def remove(self, name: str) -> None:
        """Leave a name out that is there."""
        firsts, shelves = self.order.firsts, self.order.shelves
        at = bisect_right(firsts, name) - 1
        names, numbers, _ = self._take(at)
        place = bisect_left(names, name)
        del names[place], numbers[place]
        if names:
            firsts[at] = names[0]
        else:
            self._mine.discard(id(names))
            del firsts[at], shelves[at]

    def _take(self, at: int) -> Shelf:
        shelf = self.order.shelves[at]
        if id(shelf.names) not in self._mine:
            shelf = self.order.shelves[at] = Shelf(list(shelf.names), shelf.numbers[:], [])
            self._mine.add(id(shelf.names))
        shelf.held.clear()
        return shelf

    def _insert(self, at: int, shelf: Shelf) -> None:
        self.order.firsts.insert(at, shelf.names[0])
        self.order.shelves.insert(at, shelf)
        self._mine.add(id(shelf.names))
