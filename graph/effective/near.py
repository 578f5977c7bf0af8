"""The clusters that a change is about: who goes from which configuration to which.

There are two ways to find out, and both tell the same. Which layers reach a few clusters is read
off the groups they are in; many are looked for in the configurations they had.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Protocol

from graph.effective.definition import Definition, Footing
from graph.effective.lens import Bits, Few, P, Sets
from graph.effective.reach import Reach
from graph.effective.shift import Parts, Shift, Side, shifted, stepped
from graph.model.cluster_set import ClusterSet
from graph.model.names import GroupNumber
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
        self._before, self._after = before.layers, after.layers

    def shift(
        self, parts: Parts, had: Bits, has: Bits, pair: Pair, turned: Collection[str]
    ) -> Shift[int]:
        """As said above; the parts are not looked at."""
        old, new = pair
        numbering, cut = old.stack.numbering, self._few.cut
        before, after = self._before, self._after
        if old is new:
            code = numbering.bits
            flipped = [(code[name], cut(before[name]) ^ cut(after[name])) for name in turned]
        else:
            numbering = numbering.covering(new.layers)
            code = numbering.bits
            flipped = [
                (
                    code[name],
                    (cut(before[name]) if name in old.layers else 0)
                    ^ (cut(after[name]) if name in new.layers else 0),
                )
                for name in turned
            ]
        held = self._reaching(old.footing)
        return Shift(stepped(had, has, held, flipped, numbering), self._few)

    def _reaching(self, footing: Footing) -> list[tuple[int, Bits]]:
        """The layers of an application that reach any of the few, before."""
        lines = self._lines
        found = [(code, lines[group]) for code, group in footing.groups if group in lines]
        for code, cluster in footing.clusters:
            if bits := self._few.bit(cluster):
                found.append((code, bits))
        for code, name in footing.others:
            if bits := self._few.cut(self._before[name]):
                found.append((code, bits))
        return found

    @cached_property
    def _lines(self) -> dict[GroupNumber, Bits]:
        """The groups that the few were in, at any depth, with who was in them."""
        view, level = self._view, dict[GroupNumber, Bits]()
        for cluster in self._few.clusters & view.everything():
            bit = self._few.bit(cluster)
            for at in view.memberships(cluster):
                level[at] = level.get(at, 0) | bit
        found = dict(level)
        while level:
            above: dict[GroupNumber, Bits] = {}
            for at, bits in level.items():
                group = view.group(at)
                if group is not None and group.parent is not None:
                    above[group.parent] = above.get(group.parent, 0) | bits
            for at, bits in above.items():
                found[at] = found.get(at, 0) | bits
            level = above
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
