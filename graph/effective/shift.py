"""Who goes from one configuration of an application to another.

A shift says it pair by pair, so that whoever asks what differs looks at as many pairs as there are,
and not at every configuration left with every one joined.
"""

from __future__ import annotations

from collections.abc import (
    Collection,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    ValuesView,
)
from dataclasses import dataclass

from graph.effective.refine import Names, refine
from graph.model.cluster_set import EMPTY, ClusterSet

Parts = Mapping[Names, ClusterSet]
"""Clusters by the layers that reach them."""

Step = tuple[Names | None, Names | None]
"""From one configuration to another; None is where the application is not placed."""
Shift = Mapping[Step, ClusterSet]

FEW = 256
"""Clusters that are cheaper to look at one by one than as sets."""


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


def shifted(parts: Parts, was: Side, now: Side, turned: Collection[str]) -> Shift:
    """Who goes from which configuration to which; ``parts`` are those before.

    Layers that have not ``turned`` reach whom they did: who stays placed keeps them.
    """
    if len(was.placed) <= 1 and len(now.placed) <= 1:
        there = was.placed or now.placed
        if not (was.placed and now.placed) or was.placed == now.placed:
            return _of_one(there, was, now, turned) if there else {}
    both = was.placed if was.placed is now.placed else was.placed & now.placed
    moving = EMPTY if both is was.placed else was.placed ^ now.placed
    if both and turned:
        stirred = ((was.reach(name) & both) ^ (now.reach(name) & both) for name in turned)
        moving = ClusterSet.union([moving, *stirred])
    if not moving:
        return {}
    if len(moving) <= FEW:
        return _one_by_one(moving, was, now, turned)
    return _in_parts(moving, parts, was, now, turned)


def _of_one(alone: ClusterSet, was: Side, now: Side, turned: Collection[str]) -> Shift:
    """The shift of a single cluster; most changes are about one."""
    (cluster,) = alone
    if not now.placed:
        return {(was.names(cluster), None): alone}
    if not was.placed:
        return {(None, now.names(cluster)): alone}
    flipped = [
        each for each in turned if (cluster in was.reach(each)) != (cluster in now.reach(each))
    ]
    if not flipped:
        return {}
    names = was.names(cluster)
    return {(names, names.symmetric_difference(flipped)): alone}


def _one_by_one(moving: ClusterSet, was: Side, now: Side, turned: Collection[str]) -> Shift:
    """The shift of a few clusters."""
    then = names_of(moving & was.placed, was.reached())
    come = moving - was.placed if then else moving
    there = names_of(come, now.reached()) if come else {}
    others, sets = frozenset(turned), {name: now.reach(name) for name in turned}
    alike: dict[_Alike, list[int]] = {}
    for cluster in moving:
        left, joined = then.get(cluster), there.get(cluster)
        if left is not None and cluster in now.placed:
            joined = tuple(ClusterSet.holding(cluster, turned, sets))
        alike.setdefault((left, joined), []).append(cluster)
    found: dict[Step, ClusterSet] = {}
    for (names, reached), clusters in alike.items():
        old = None if names is None else frozenset(names)
        new = None if reached is None else frozenset(reached)
        if old is not None and new is not None:
            new = (old - others) | new
        found[old, new] = ClusterSet.of(clusters) if len(alike) > 1 else moving
    return found


_Alike = tuple[tuple[str, ...] | None, tuple[str, ...] | None]
"""What clusters have in common that go the same way: layers before, and those that came or new."""


def _in_parts(
    moving: ClusterSet, parts: Parts, was: Side, now: Side, turned: Collection[str]
) -> Shift:
    """The same for any number of clusters, as sets."""
    found: dict[Step, ClusterSet] = {}
    others, reaches = frozenset(turned), [(name, now.reach(name)) for name in turned]
    reaches = [each for each in reaches if each[1].meets(moving)]
    for names, whole in parts.items():
        if not whole.meets(moving):
            continue
        part = whole & moving
        for added, clusters in refine(part & now.placed, reaches).items():
            found[names, (names - others) | added] = clusters
        if gone := part - now.placed:
            found[names, None] = gone
    for names, part in refine(moving - was.placed, now.reached()).items():
        found[None, names] = part
    return found


def names_of(
    clusters: ClusterSet, reached: Iterable[tuple[str, ClusterSet]]
) -> dict[int, tuple[str, ...]]:
    """The layers that reach each of a few clusters, in their order."""
    found: dict[int, list[str]] = {cluster: [] for cluster in clusters}
    for name, reach in reached:
        if reach.meets(clusters):
            for cluster in reach & clusters:
                found[cluster].append(name)
    return {cluster: tuple(names) for cluster, names in found.items()}


def between(before: Parts, after: Parts) -> Shift:
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
    return found


def _left(before: Parts, after: Parts) -> Iterator[tuple[Names, ClusterSet]]:
    """Configurations with the clusters that were in them and are no more."""
    for names, clusters in before.items():
        now = after.get(names, EMPTY)
        if now is not clusters and (gone := clusters - now):
            yield names, gone


class Moved(Mapping[Names, ClusterSet]):
    """A partition after a shift, put together when somebody reads it.

    Who only wants to know what a change would do never does.
    """

    __slots__ = ("_made", "_source")

    def __init__(self, parts: Parts, shift: Shift) -> None:
        self._made: dict[Names, ClusterSet] = {}
        self._source: tuple[Parts, Shift] | None = (_settled(parts), shift)

    def parts(self) -> dict[Names, ClusterSet]:
        """The partition."""
        source = self._source
        if source is not None:
            self._made = _moved(*source)
            self._source = None  # after the parts are there: another thread may be reading
        return self._made

    def __getitem__(self, names: Names) -> ClusterSet:
        return self.parts()[names]

    def __iter__(self) -> Iterator[Names]:
        return iter(self.parts())

    def __len__(self) -> int:
        return len(self.parts())

    def __contains__(self, names: object) -> bool:
        return names in self.parts()

    def keys(self) -> KeysView[Names]:
        """As of a dict, and as fast; so are the others."""
        return self.parts().keys()

    def values(self) -> ValuesView[ClusterSet]:
        """The parts themselves."""
        return self.parts().values()

    def items(self) -> ItemsView[Names, ClusterSet]:
        """The parts with their names."""
        return self.parts().items()


def _settled(parts: Parts) -> Parts:
    """The parts as a dict, so that what is put off is never put off twice."""
    return parts.parts() if type(parts) is Moved else parts


def emptied(parts: Parts, shift: Shift) -> frozenset[Names]:
    """The configurations of ``parts`` that nobody has after a shift."""
    left = {old: 0 for old, _ in shift if old is not None}
    joined = {new for _, new in shift}
    for (old, _), clusters in shift.items():
        if old is not None:
            left[old] += len(clusters)
    return frozenset(
        names for names, count in left.items() if names not in joined and count == len(parts[names])
    )


def _moved(parts: Parts, shift: Shift) -> dict[Names, ClusterSet]:
    """``parts`` after a shift."""
    gone, come = (
        _gathered((old, each) for (old, _), each in shift.items()),
        _gathered((new, each) for (_, new), each in shift.items()),
    )
    made = dict(parts)
    for names, sets in gone.items():
        rest = made[names] - ClusterSet.union(sets)
        if rest:
            made[names] = rest
        else:
            del made[names]
    for names, sets in come.items():
        held = made.get(names)
        made[names] = ClusterSet.union(sets if held is None else [held, *sets])
    return made


def _gathered(
    found: Iterable[tuple[Names | None, ClusterSet]],
) -> dict[Names, list[ClusterSet]]:
    by_names: dict[Names, list[ClusterSet]] = {}
    for names, clusters in found:
        if names is not None:
            by_names.setdefault(names, []).append(clusters)
    return by_names
