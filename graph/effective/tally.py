"""A whole number per cluster, for the whole fleet at once.

Kept as bits: one ClusterSet per binary digit, so adding a constant to any set of clusters takes a
few set operations, however many clusters there are, and comparing two tallies a few more.
"""

from __future__ import annotations

from collections.abc import Iterable

from graph.model.cluster_set import EMPTY, ClusterSet


class Tally:
    """One number per cluster, zero where nothing was added. A value: adding makes another."""

    __slots__ = ("_digits",)

    def __init__(self, digits: tuple[ClusterSet, ...] = ()) -> None:
        self._digits = digits

    @staticmethod
    def of(numbers: Iterable[tuple[int, Iterable[int]]]) -> Tally:
        """A tally from numbers, each with the clusters that have it."""
        digits: list[list[int]] = []
        for number, clusters in numbers:
            digits += [[] for _ in range(number.bit_length() - len(digits))]
            for place in range(number.bit_length()):
                if number >> place & 1:
                    digits[place].extend(clusters)
        return Tally(tuple(ClusterSet.of(each) for each in digits))

    def at(self, cluster: int) -> int:
        """The number of one cluster."""
        return sum([1 << place for place, each in enumerate(self._digits) if cluster in each])

    def total(self, among: ClusterSet) -> int:
        """The numbers of ``among`` added up."""
        return sum(each.size_with(among) << place for place, each in enumerate(self._digits))

    def plus(self, number: int, clusters: ClusterSet) -> Tally:
        """``number`` more for each of ``clusters``."""
        if not number or not clusters:
            return self
        digits = list(self._digits)
        for place in range(number.bit_length()):
            if number >> place & 1:
                _carry(digits, place, clusters)
        return Tally(tuple(digits))

    def minus(self, number: int, clusters: ClusterSet) -> Tally:
        """``number`` less for each of ``clusters``, all of which have at least that."""
        if not number or not clusters:
            return self
        digits = list(self._digits)
        for place in range(number.bit_length()):
            if number >> place & 1:
                _borrow(digits, place, clusters)
        return Tally(tuple(digits))

    def among(self, clusters: ClusterSet) -> Tally:
        """The numbers of some clusters, and zero for all others."""
        return Tally(tuple([each & clusters for each in self._digits]))

    def patched(self, clusters: ClusterSet, part: Tally) -> Tally:
        """The tally with ``clusters`` set to what ``part``, which has no others, says of them."""
        places = range(max(len(self._digits), len(part._digits)))
        return Tally(tuple([self._digit(at).patched(clusters, part._digit(at)) for at in places]))

    def exceeds(self, other: Tally, among: ClusterSet) -> ClusterSet:
        """Which of ``among`` have more here than in ``other``."""
        more, equal = EMPTY, among
        for place in range(max(len(self._digits), len(other._digits)) - 1, -1, -1):
            ours, theirs = self._digit(place), other._digit(place)
            more = more | ((equal & ours) - theirs)
            equal = equal - (ours ^ theirs)
            if not equal:
                break
        return more

    def _digit(self, place: int) -> ClusterSet:
        return self._digits[place] if place < len(self._digits) else EMPTY


def _carry(digits: list[ClusterSet], place: int, clusters: ClusterSet) -> None:
    while clusters:
        digits += [EMPTY] * (place + 1 - len(digits))
        both = digits[place] & clusters
        digits[place] = digits[place] ^ clusters
        clusters, place = both, place + 1


def _borrow(digits: list[ClusterSet], place: int, clusters: ClusterSet) -> None:
    while clusters:
        assert place < len(digits), "a tally never falls below zero"
        lacking = clusters - digits[place]
        digits[place] = digits[place] ^ clusters
        clusters, place = lacking, place + 1
