"""The clusters that a change is about: who goes from which configuration to which.

There are two ways to find out, and both tell the same. A few clusters know the layers that reach
them; many are looked for in the configurations they had.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Protocol

from graph.effective.definition import Definition
from graph.effective.lens import Bits, Few, P, Sets
from graph.effective.reach import Reach
from graph.effective.shift import Parts, Shift, Side, shifted, stepped
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.view import FleetView

Pair = tuple[Definition, Definition]
"""A definition before and after."""


class Shifting(Protocol[P]):
    """How shifts are found."""

    def shift(self, parts: Parts, had: P, has: P, pair: Pair, turned: Collection[str]) -> Shift[P]:
        """Who goes from which configuration of an application to which.

        ``parts`` are the configurations before, and ``turned`` the layers of either definition that
        reach others than before, or came, or went.
        """
        ...


class NearFew:
    """A few clusters before a change, and what reaches them after it."""

    def __init__(self, few: Few, view: FleetView, before: Reach, after: Reach) -> None:
        self._few = few
        self._view = view
        self._anchors = before.anchors
        self._before, self._after = before.layers, after.layers
        self._known: dict[int, Bits] = {}
        """By the identity of sets, which live as long as what reaches does."""

    def shift(
        self, parts: Parts, had: Bits, has: Bits, pair: Pair, turned: Collection[str]
    ) -> Shift[int]:
        """As said above; the parts are not looked at."""
        old, new = pair
        flipped = [
            (name, self._bits(name, old, self._before) ^ self._bits(name, new, self._after))
            for name in turned
        ]
        return Shift(stepped(had, has, self._reaching(old), flipped), self._few)

    @cached_property
    def _held(self) -> dict[str, list[tuple[str, Bits]]]:
        """The anchored layers that reach any of the few before, by application."""
        return self._anchors.reaching(self._few, self._view)

    def _reaching(self, definition: Definition) -> list[tuple[str, Bits]]:
        """The layers that make its configurations and reach any of the few, before."""
        held, layers, application = self._held, definition.layers, definition.application
        found = [each for each in held.get(application.name, ()) if each[0] in layers]
        if application.reads and "" in held:
            found += (each for each in held[""] if each[0] in layers)
        for name in definition.loose:
            if bits := self._few.cut(self._before[name]):
                found.append((name, bits))
        return found

    def _bits(self, name: str, definition: Definition, sets: Mapping[str, ClusterSet]) -> Bits:
        """Those of the few whom a layer reaches for an application."""
        clusters = sets[name] if name in definition.layers else EMPTY
        found = self._known.get(id(clusters))
        if found is None:
            found = self._known[id(clusters)] = self._few.cut(clusters)
        return found


class NearMany:
    """Any number of clusters."""

    __slots__ = ("_after", "_before", "_lens")

    def __init__(self, lens: Sets, before: Reach, after: Reach) -> None:
        self._lens = lens
        self._before, self._after = before.layers, after.layers

    def shift(
        self,
        parts: Parts,
        had: ClusterSet,
        has: ClusterSet,
        pair: Pair,
        turned: Collection[str],
    ) -> Shift[ClusterSet]:
        """As said above."""
        old, new = pair
        was, now = Side(had, old.layers, self._before), Side(has, new.layers, self._after)
        return Shift(shifted(parts, was, now, turned), self._lens)
