"""Partition refinement: which clusters are reached by exactly the same layers.

Works on sets. Layers that have no cluster in common, as those on the states of a country, are a
family: a part meets each of them at most once, so a family splits a part in one pass. Where a
family is large and the parts are small, the clusters are asked which member reaches them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from graph.composition.numbering import Names
from graph.model.cluster_set import EMPTY, ClusterSet

Reached = tuple[str, ClusterSet]
"""A layer's name and the clusters it reaches."""
_Part = tuple[tuple[str, ...], ClusterSet]

MEET_COST, ASK_COST = 5, 1
"""What it costs to intersect two small sets, and to ask one cluster; in the same unit."""


def refine(start: ClusterSet, layers: Iterable[Reached]) -> dict[Names, ClusterSet]:
    """``start`` in disjoint parts, each with the names of the layers that reach it."""
    if not start:
        return {}
    met = [each for each in layers if each[1].meets(start)]
    if len(start) == 1:
        return {frozenset(name for name, _ in met): start}
    parts: list[_Part] = [((), start)]
    for family in _families(met):
        parts = list(family.split(parts))
    return {frozenset(names): part for names, part in parts}


@dataclass(slots=True)
class _Family:
    """Layers of which no two reach a common cluster."""

    members: list[Reached] = field(default_factory=list[Reached])
    reach: ClusterSet = EMPTY

    def split(self, parts: Sequence[_Part]) -> Iterator[_Part]:
        """Each part by the member that reaches it, and what none reaches."""
        touched = sum(len(part) for _, part in parts) + len(self.reach)
        if len(parts) * len(self.members) * MEET_COST <= touched * ASK_COST:
            return self._meet(parts)
        return self._ask(parts)

    def _meet(self, parts: Iterable[_Part]) -> Iterator[_Part]:
        for names, part in parts:
            rest = part
            for name, reach in self.members:
                inside = rest & reach
                if inside:
                    yield (*names, name), inside
                    rest = rest - reach
                    if not rest:
                        break
            if rest:
                yield names, rest

    def _ask(self, parts: Iterable[_Part]) -> Iterator[_Part]:
        of: dict[int, str] = {}
        for name, reach in self.members:
            of.update(dict.fromkeys(reach, name))
        for names, part in parts:
            found: dict[str | None, list[int]] = {}
            for cluster in part:
                found.setdefault(of.get(cluster), []).append(cluster)
            for member, clusters in found.items():
                inside = part if len(found) == 1 else ClusterSet.of(clusters)
                yield (names if member is None else (*names, member)), inside


def _families(layers: Sequence[Reached]) -> list[_Family]:
    """``layers`` in as few families as the first fit gives, largest layers first."""
    families: list[_Family] = []
    for name, reach in sorted(layers, key=lambda each: -len(each[1])):
        for family in families:
            if not family.reach.meets(reach):
                break
        else:
            family = _Family()
            families.append(family)
        family.members.append((name, reach))
        family.reach = family.reach | reach
    return families
