"""How two sets of clusters differ in what runs on them: two clusters, groups or environments.

Applications are compared where they are effective. Where a side has several configurations, the
distinct values of each leaf are listed with how many clusters have each, a few of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from graph.composition.numbering import Names
from graph.composition.problem import Path
from graph.effective.configuration import late_told, told
from graph.effective.definition import Definition
from graph.effective.reading import Reading
from graph.model.cluster_set import ClusterSet
from graph.model.value_path import value_path, written_path
from graph.model.values import Value

CONFIGURATIONS_MAX = 200
"""Configurations looked at on a side of one application, the largest first."""
LEAVES_MAX = 200
"""Differing leaves told of one application."""
VALUES_MAX = 10
"""Distinct values told of one leaf on a side."""


@dataclass(frozen=True, slots=True)
class Has:
    """How many clusters of a side an application is effective on."""

    application: str
    namespace: str
    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Variant:
    """One value of a leaf on a side."""

    value: Value
    layer: str
    """The layer that gave it; empty for the application itself, or where there is no value."""
    clusters: int
    absent: bool = False
    """Whether these clusters have no value there."""


@dataclass(frozen=True, slots=True)
class DifferingLeaf:
    """A leaf whose values are not the same on both sides; most clusters first."""

    key: str
    left: tuple[Variant, ...]
    right: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """An application that both sides have, with other values."""

    leaves: tuple[DifferingLeaf, ...]
    complete: bool
    """Whether every configuration was looked at, and every differing leaf is told."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Which applications differ between two sets of clusters. Make it with ``compare``."""

    reading: Reading
    left: ClusterSet
    right: ClusterSet
    only_left: tuple[Has, ...]
    only_right: tuple[Has, ...]
    differing: tuple[Has, ...]
    same: tuple[Has, ...]

    def difference(self, has: Has) -> Difference:
        """How the values of an application differ."""
        definition = self.reading.state.definitions[has.application]
        late = _bound(self.left, self.right)
        left, right = (
            _Side.of(definition, side, self.reading, late=late) for side in (self.left, self.right)
        )
        paths = sorted(left.leaves.keys() | right.leaves.keys())
        differing = [path for path in paths if left.texts(path) != right.texts(path)]
        leaves = [
            DifferingLeaf(written_path(path), left.variants(path), right.variants(path))
            for path in differing[:LEAVES_MAX]
        ]
        complete = left.complete and right.complete and len(leaves) == len(differing)
        return Difference(tuple(leaves), complete)


def compare(reading: Reading, left: ClusterSet, right: ClusterSet) -> Comparison:
    """Which applications differ between two sets of clusters that may be seen."""
    only_left: list[Has] = []
    only_right: list[Has] = []
    differing: list[Has] = []
    same: list[Has] = []
    for definition in reading.definitions():
        application = definition.application
        effective = reading.state.placements[application.name].effective
        counts = effective.size_with(left), effective.size_with(right)
        has = Has(application.name, application.namespace, *counts)
        match has:
            case Has(left=0, right=0):
                continue
            case Has(right=0):
                only_left.append(has)
            case Has(left=0):
                only_right.append(has)
            case _ if _is_same(definition, left, right, reading):
                same.append(has)
            case _:
                differing.append(has)
    found = (only_left, only_right, differing, same)
    return Comparison(reading, left, right, *map(tuple, found))


def _is_same(definition: Definition, left: ClusterSet, right: ClusterSet, reading: Reading) -> bool:
    """Whether both sides have the same values, however many clusters have each."""
    one, other = (
        {_digest(definition, names, reading) for names, _ in _parts(definition, side, reading)}
        for side in (left, right)
    )
    if one != other or not _bound(left, right):
        return one == other
    bound, others = (
        {path: text for path, (text, _) in _late(definition, side, reading)}
        for side in (left, right)
    )
    return bound == others


def _digest(definition: Definition, names: Names, reading: Reading) -> str:
    """The same for the same values, as far as they may be told."""
    if reading.covers_all:
        return definition.stack.digest(names)
    return told(definition.stack, names, reading).digest


def _bound(left: ClusterSet, right: ClusterSet) -> bool:
    """Whether late-bound values are compared: those of many clusters differ by their nature."""
    return len(left) == len(right) == 1


def _parts(definition: Definition, side: ClusterSet, reading: Reading) -> list[tuple[Names, int]]:
    """The configurations of a side with how many of its clusters have each."""
    placement = reading.state.placements[definition.application.name]
    among = placement.effective & side
    met = (
        (names, clusters.size_with(among)) for names, clusters in placement.configurations.items()
    )
    return [(names, count) for names, count in met if count]


_Given = tuple[str, str]
"""A value as text, so that true is not 1, and the layer that gave it."""


@dataclass(frozen=True, slots=True)
class _Side:
    """The values of one application on one side."""

    clusters: int
    """How many were looked at."""
    leaves: Mapping[Path, Mapping[_Given, int]]
    complete: bool

    @staticmethod
    def of(definition: Definition, side: ClusterSet, reading: Reading, *, late: bool) -> _Side:
        parts = _parts(definition, side, reading)
        parts.sort(key=lambda each: (-each[1], sorted(each[0])))
        shown = parts[:CONFIGURATIONS_MAX]
        leaves: dict[Path, Counter[_Given]] = {}
        for names, count in shown:
            for leaf in told(definition.stack, names, reading).leaves:
                leaves.setdefault(leaf.path, Counter())[_text(leaf.value), leaf.layer] += count
        for path, given in _late(definition, side, reading) if late else ():
            leaves.setdefault(path, Counter())[given] += 1
        return _Side(sum(count for _, count in shown), leaves, len(shown) == len(parts))

    def texts(self, path: Path) -> set[str | None]:
        """The distinct values of a leaf; None where some clusters have none."""
        found = self.leaves.get(path, {})
        texts: set[str | None] = {text for text, _ in found}
        return texts | {None} if sum(found.values()) < self.clusters else texts

    def variants(self, path: Path) -> tuple[Variant, ...]:
        """The distinct values of a leaf, those of most clusters first."""
        found = self.leaves.get(path, {})
        ordered = sorted(found.items(), key=lambda each: (-each[1], each[0]))
        variants = [Variant(json.loads(text), layer, count) for (text, layer), count in ordered]
        if without := self.clusters - sum(found.values()):
            variants.append(Variant(None, "", without, absent=True))
        return tuple(variants[:VALUES_MAX])


def _late(
    definition: Definition, side: ClusterSet, reading: Reading
) -> Iterator[tuple[Path, _Given]]:
    """The late-bound values of a side that is one cluster."""
    for late in late_told(definition, next(iter(side)), reading):
        if late.value is not None:
            yield value_path(late.key), (_text(late.value), late.layer)


def _text(value: Value) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
