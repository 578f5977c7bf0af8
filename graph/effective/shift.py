"""Who goes from one configuration of an application to another.

A shift says it pair by pair, so that whoever asks what differs looks at as many pairs as there are,
and not at every configuration left with every one joined.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Generic

from graph.composition.numbering import Names, Numbering
from graph.effective.later import Later, settled
from graph.effective.lens import WHOLE, Bits, Lens, P
from graph.effective.refine import refine
from graph.model.cluster_set import EMPTY, ClusterSet

Parts = Mapping[Names, ClusterSet]
"""Clusters by the layers that reach them."""

Step = tuple[Names | None, Names | None]
"""From one configuration to another; None is where the application is not placed."""

Reaching = Sequence[tuple[int, Bits]]
"""Layers, as they are numbered, with those of a few clusters that they reach."""


_NONE: frozenset[Names] = frozenset()

Digest = Callable[[Names], str]
"""A digest of the values of a configuration."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a shift comes to."""

    everybody: ClusterSet
    """Whoever makes a step."""
    differing: ClusterSet
    """Whoever goes from one configuration to another that has other values."""
    emptied: frozenset[Names]
    """Configurations that nobody has any more."""


STAYED = Outcome(EMPTY, EMPTY, _NONE)
"""Nobody makes a step."""


@dataclass(frozen=True, slots=True)
class Shift(Generic[P]):
    """The steps that are made, and by whom."""

    steps: Mapping[Step, P]
    lens: Lens[P]

    def joined(self, parts: Parts) -> list[Names]:
        """The configurations that come to ``parts`` with the shift."""
        found = [new for _, new in self.steps if new is not None and new not in parts]
        return list(dict.fromkeys(found)) if len(found) > 1 else found

    def outcome(self, parts: Parts, before: Digest, after: Digest) -> Outcome:
        """What it does to ``parts``, where configurations have these digests before and after."""
        size = self.lens.size
        differing: list[P] = []
        left: dict[Names, int] = {}
        for (old, new), part in self.steps.items():
            if old is not None:
                left[old] = left.get(old, 0) + size(part)
                if new is not None and before(old) != after(new):
                    differing.append(part)
        emptied = [names for names, count in left.items() if count == len(parts[names])]
        return Outcome(
            self._set(list(self.steps.values())),
            self._set(differing),
            self._unless_joined(emptied) if emptied else _NONE,
        )

    def _set(self, parts: list[P]) -> ClusterSet:
        lens = self.lens
        if not parts:
            return EMPTY
        return lens.set(parts[0] if len(parts) == 1 else lens.union(parts))

    def _unless_joined(self, left: list[Names]) -> frozenset[Names]:
        """Those of some configurations that nobody comes to."""
        return frozenset(left).difference([new for _, new in self.steps if new is not None])

    def sets(self) -> dict[Step, ClusterSet]:
        """Who makes each step."""
        return {step: self.lens.set(part) for step, part in self.steps.items()}

    def __bool__(self) -> bool:
        return bool(self.steps)


@dataclass(frozen=True, slots=True)
class Side:
    """An application before a change, or after it."""

    placed: ClusterSet
    layers: Collection[str]
    """The layers that make its configurations."""
    sets: Mapping[str, ClusterSet]
    """What every layer reaches."""

    def reached(self) -> Iterator[tuple[str, ClusterSet]]:
        """The layers with what they reach."""
        return ((name, self.sets[name]) for name in self.layers)

    def names(self, cluster: int) -> Names:
        """The configuration of a cluster."""
        return frozenset(ClusterSet.holding(cluster, self.layers, self.sets))

    def reach(self, layer: str) -> ClusterSet:
        """What a layer reaches for this application."""
        return self.sets[layer] if layer in self.layers else EMPTY


def shifted(parts: Parts, was: Side, now: Side, turned: Collection[str]) -> dict[Step, ClusterSet]:
    """Who goes from which configuration to which; ``parts`` are those before.

    Layers that have not ``turned`` reach whom they did: who stays placed keeps them.
    """
    both = was.placed if was.placed is now.placed else was.placed & now.placed
    moving = EMPTY if both is was.placed else was.placed ^ now.placed
    if both and turned:
        stirred = ((was.reach(name) & both) ^ (now.reach(name) & both) for name in turned)
        moving = ClusterSet.union([moving, *stirred])
    if not moving:
        return {}
    if len(moving) == 1:
        return _of_one(moving, was, now)
    return _in_parts(moving, parts, was, now, turned)


def _of_one(one: ClusterSet, was: Side, now: Side) -> dict[Step, ClusterSet]:
    """The shift of a single cluster, which is in one part: to look for that one would be dearer."""
    (cluster,) = one
    old, new = (side.names(cluster) if cluster in side.placed else None for side in (was, now))
    return {(old, new): one}


def stepped(
    had: Bits, has: Bits, held: Reaching, flipped: Reaching, numbering: Numbering
) -> dict[Step, Bits]:
    """The shift of a few clusters.

    ``held`` are the layers before, and ``flipped`` says for whom one of them came or went.
    """
    stay = had & has
    moving = had ^ has
    for _, bits in flipped:
        moving |= bits & stay
    if not moving:
        return {}
    named, width = numbering.named, len(numbering.bits)
    low = (1 << width) - 1
    found: dict[Step, Bits] = {}
    for both, bits in _told_apart(moving, held, [(code << width, bits) for code, bits in flipped]):
        code = both & low
        old, new = named[code], named[code ^ (both >> width)]
        if staying := bits & stay:
            found[old, new] = staying
        if gone := bits & ~has:
            found[old, None] = found.get((old, None), 0) | gone
        if come := bits & ~had:
            found[None, new] = found.get((None, new), 0) | come
    return found


def _told_apart(start: Bits, *layers: Reaching) -> list[tuple[int, Bits]]:
    """Some of a few clusters by the layers that reach them.

    Layers that reach the same of them tell the same apart: they are looked at together.
    """
    if not start & (start - 1):  # it is a single one
        return [(sum([code for code, reach in chain(*layers) if reach & start]), start)]
    together: dict[Bits, int] = {}
    for code, reach in chain(*layers):
        bits = reach & start
        together[bits] = together.get(bits, 0) | code
    common = together.pop(start, 0)
    together.pop(0, None)
    parts: list[tuple[int, Bits]] = [(common, start)]
    for bits, more in together.items():
        split: list[tuple[int, Bits]] = []
        for part in parts:
            code, clusters = part
            inside = clusters & bits
            if not inside:
                split.append(part)
            else:
                split.append((code | more, inside))
                if inside != clusters:
                    split.append((code, clusters ^ inside))
        parts = split
    return parts


def _in_parts(
    moving: ClusterSet, parts: Parts, was: Side, now: Side, turned: Collection[str]
) -> dict[Step, ClusterSet]:
    """The same for any number of clusters, as sets."""
    found: dict[Step, ClusterSet] = {}
    others = frozenset(turned)
    common, reaches = _common(moving, now, turned)
    all_stay = moving <= now.placed
    in_all, in_none = _narrowed(moving, was) if len(parts) > len(was.layers) else (_NO, _NO)
    for names, whole in parts.items():
        if not (in_all <= names and in_none.isdisjoint(names) and whole.meets(moving)):
            continue
        part = whole & moving
        stay = part if all_stay else part & now.placed
        rest = (names - others) | common
        for added, clusters in _told_apart_as_sets(stay, reaches):
            found[names, rest | added] = clusters
        if not all_stay and (gone := part - now.placed):
            found[names, None] = gone
    for names, part in refine(moving - was.placed, now.reached()).items():
        found[None, names] = part
    return found


def _narrowed(moving: ClusterSet, was: Side) -> tuple[Names, Names]:
    """The layers in whatever configuration one of these had, and those in none of them.

    Sooner asked of a name than every part is asked whether it meets them.
    """
    here = moving & was.placed
    reached = [(name, reach) for name, reach in was.reached() if reach.meets(here)]
    names = frozenset([name for name, _ in reached])
    in_all = frozenset([name for name, reach in reached if here <= reach])
    return in_all, frozenset(was.layers) - names


_NO: Names = frozenset()


def _common(
    moving: ClusterSet, now: Side, turned: Iterable[str]
) -> tuple[Names, list[tuple[str, ClusterSet]]]:
    """The layers that reach all who move, and those that reach some of them."""
    common: list[str] = []
    reaches: list[tuple[str, ClusterSet]] = []
    for name in turned:
        reach = now.reach(name)
        if reach.meets(moving):
            if moving <= reach:
                common.append(name)
            else:
                reaches.append((name, reach))
    return frozenset(common), reaches


def _told_apart_as_sets(
    start: ClusterSet, reaches: Collection[tuple[str, ClusterSet]]
) -> Iterable[tuple[Names, ClusterSet]]:
    if not start:
        return ()
    return refine(start, reaches).items() if reaches else ((frozenset[str](), start),)


def between(before: Parts, after: Parts) -> Shift[ClusterSet]:
    """The shift from one partition to another."""
    found: dict[Step, ClusterSet] = {}
    come = dict(_left(after, before))
    for names, gone in _left(before, after):
        rest = gone
        for others, clusters in come.items():
            if rest.meets(clusters):
                found[names, others] = both = rest & clusters
                rest = rest - both
                if not rest:
                    break
        if rest:
            found[names, None] = rest
    joined = ClusterSet.union([each for (old, _), each in found.items() if old is not None])
    for names, clusters in come.items():
        if new := clusters - joined:
            found[None, names] = new
    return Shift(found, WHOLE)


def _left(before: Parts, after: Parts) -> Iterator[tuple[Names, ClusterSet]]:
    """Configurations with the clusters that were in them and are no more."""
    for names, clusters in before.items():
        now = after.get(names, EMPTY)
        if now is not clusters and (gone := clusters - now):
            yield names, gone


def moved(parts: Parts, shift: Shift[P]) -> Parts:
    """``parts`` after a shift, put together when somebody reads them."""
    return Later(partial(_moved, settled(parts), shift.sets)) if shift.steps else parts


def _moved(parts: Parts, steps: Callable[[], Mapping[Step, ClusterSet]]) -> dict[Names, ClusterSet]:
    sets = steps()
    gone, come = (
        _gathered((old, each) for (old, _), each in sets.items()),
        _gathered((new, each) for (_, new), each in sets.items()),
    )
    made = dict(parts)
    for names, leaving in gone.items():
        rest = made[names] - ClusterSet.union(leaving)
        if rest:
            made[names] = rest
        else:
            del made[names]
    for names, joining in come.items():
        held = made.get(names)
        made[names] = ClusterSet.union(joining if held is None else [held, *joining])
    return made


def _gathered(
    found: Iterable[tuple[Names | None, ClusterSet]],
) -> dict[Names, list[ClusterSet]]:
    by_names: dict[Names, list[ClusterSet]] = {}
    for names, clusters in found:
        if names is not None:
            by_names.setdefault(names, []).append(clusters)
    return by_names
