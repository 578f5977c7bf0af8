"""Counts along the business: children of a group, values of a label, trees and cross-tabs.

Everything is set algebra on closures that exist already: a count is one fused intersection, and a
tree is walked only where something is left to count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeVar, cast

from graph.model.cluster_set import ClusterSet
from graph.model.errors import Invalid
from graph.model.inventory import LabelValue
from graph.model.names import GroupNumber
from graph.model.view import FleetView, path_of

_P = TypeVar("_P", bound=tuple[LabelValue, object])


@dataclass(frozen=True, slots=True)
class ByGroup:
    """One bucket per group right below this one."""

    group: GroupNumber


@dataclass(frozen=True, slots=True)
class ByLabel:
    """One bucket per value of this label."""

    key: str


Dimension = ByGroup | ByLabel


class Bucket(NamedTuple):
    """One value of a dimension: a group's path or a label's value, and how many clusters."""

    value: LabelValue
    clusters: int


class RolledUp(NamedTuple):
    """One value of a dimension, and how many clusters of each part it has."""

    value: LabelValue
    clusters: tuple[int, ...]


class TreeRow(NamedTuple):
    """One group of a tree with the clusters in or below it. Trees are long: a tuple is cheap."""

    number: GroupNumber
    path: str
    depth: int
    clusters: int
    share: float
    """Of everything counted, between 0 and 1."""


@dataclass(frozen=True, slots=True)
class CrossTab:
    """Counts of two dimensions at once. A cluster in two columns counts in both."""

    rows: tuple[LabelValue, ...]
    columns: tuple[LabelValue, ...]
    counts: tuple[tuple[int, ...], ...]
    """One tuple per row, one count per column."""


def facet(view: FleetView, dimension: Dimension, within: ClusterSet) -> list[Bucket]:
    """How many of ``within`` fall in each bucket; empty buckets are left out."""
    counted = [(value, within.size_with(held)) for value, held in _buckets(view, dimension)]
    return [Bucket(value, count) for value, count in _ordered(counted) if count]


def roll_up(
    view: FleetView,
    dimension: Dimension,
    parts: Sequence[Sequence[ClusterSet]],
    *,
    buckets_max: int,
) -> list[RolledUp]:
    """How many of each part fall in each bucket; empty buckets are left out.

    A part is many sets, and a cluster counts in each of them. The buckets are walked once for all
    parts, and no further than to where they are too many.
    """
    everywhere = ClusterSet.union([each for part in parts for each in part]) & view.everything()
    met = list(islice(_meeting(view, dimension, everywhere, few=buckets_max), buckets_max + 1))
    if len(met) > buckets_max:
        raise too_many_buckets(buckets_max)
    return [
        RolledUp(value, tuple(sum(map(held.size_with, part)) for part in parts))
        for value, held in _ordered(met)
    ]


def too_many_buckets(buckets_max: int) -> Invalid:
    """The refusal of a roll-up that nobody reads."""
    return Invalid(
        f"the roll-up has more than {buckets_max:,} buckets",
        hint="choose a group with fewer children, or a label with fewer values",
    )


def tree(
    view: FleetView, root: GroupNumber, *, depth: int, within: ClusterSet, rows_max: int
) -> list[TreeRow]:
    """``root`` and the groups below it that hold any of ``within``, in path order."""
    rows: list[TreeRow] = []
    total = len(within) or 1
    count = within.size_with(view.members(root))
    waiting = [(root, path_of(view, root), 0, count)]
    while waiting:
        number, path, level, count = waiting.pop()
        rows.append(TreeRow(number, path, level, count, count / total))
        if len(rows) > rows_max:
            raise Invalid(
                f"the tree has more than {rows_max:,} rows",
                hint="choose a deeper root, a smaller depth or a narrower selector",
            )
        if level < depth and count:
            below = [
                (name, child, count)
                for name, child in view.children(number).items()
                if (count := within.size_with(view.members(child)))
            ]
            below.sort(reverse=True)
            waiting.extend((child, f"{path}/{name}", level + 1, n) for name, child, n in below)
    return rows


def cross_tab(
    view: FleetView, rows: Dimension, columns: Dimension, *, within: ClusterSet, cells_max: int
) -> CrossTab:
    """How many of ``within`` fall in each pair of buckets; empty rows and columns are left out."""
    tall = [(value, within & held) for value, held in _ordered(_buckets(view, rows))]
    wide = [(value, within & held) for value, held in _ordered(_buckets(view, columns))]
    tall = [(value, held) for value, held in tall if held]
    wide = [(value, held) for value, held in wide if held]
    if len(tall) * len(wide) > cells_max:
        raise Invalid(
            f"the table has {len(tall):,} x {len(wide):,} cells",
            hint=f"choose dimensions with at most {cells_max:,} cells",
        )
    counts = tuple(tuple(row.size_with(column) for _, column in wide) for _, row in tall)
    return CrossTab(tuple(value for value, _ in tall), tuple(value for value, _ in wide), counts)


def _buckets(view: FleetView, dimension: Dimension) -> Iterator[tuple[LabelValue, ClusterSet]]:
    match dimension:
        case ByGroup(group):
            path = path_of(view, group)
            for name, child in view.children(group).items():
                yield f"{path}/{name}", view.members(child)
        case ByLabel(key):
            yield from view.label_values(key)


def _meeting(
    view: FleetView, dimension: Dimension, chosen: ClusterSet, *, few: int
) -> Iterator[tuple[LabelValue, ClusterSet]]:
    """The buckets that have any of ``chosen``; in no particular order."""
    if isinstance(dimension, ByLabel) and len(chosen) <= few:
        # a label may have as many values as there are clusters: fewer clusters than that are asked
        return _labelled(view, dimension.key, chosen)
    return (each for each in _buckets(view, dimension) if each[1].meets(chosen))


def _labelled(
    view: FleetView, key: str, chosen: ClusterSet
) -> Iterator[tuple[LabelValue, ClusterSet]]:
    numbers = chosen.numbers()
    found: dict[LabelValue, list[int]] = {}
    for number, value in zip(numbers, view.label_column(key).many(numbers), strict=True):
        if value is not None:
            found.setdefault(value, []).append(number)
    return ((value, ClusterSet.of(held)) for value, held in found.items())


def _ordered(pairs: Iterable[_P]) -> list[_P]:
    # values of one dimension have one type, so they compare; the checker cannot know
    return sorted(pairs, key=lambda pair: cast(str, pair[0]))
