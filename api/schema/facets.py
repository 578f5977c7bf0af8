"""Counts along the business: facets, trees, cross-tabs.

A label may have as many values as there are clusters, so buckets come a part at a time, and a
table of two dimensions is refused before it is too large to be read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from enum import Enum
from functools import partial
from typing import Annotated, cast

import strawberry

from api.columns import COLUMN, Column, Rows
from api.context import Context
from api.schema.intent import inside
from api.schema.listing import LISTED, LISTED_MAX, First, checked_first
from api.schema.names import GroupPath, LabelValue, Name, label_value
from graph.engine import Engine
from graph.facets import Bucket as CoreBucket
from graph.facets import ByGroup, ByLabel, Dimension
from graph.facets import CrossTab as CoreCrossTab
from graph.facets import TreeRow as CoreTreeRow
from graph.model.cluster_set import ClusterSet
from graph.model.errors import Invalid, NotFound, SelectorNotFound
from graph.model.inventory import LabelValue as CoreLabelValue
from graph.model.names import GroupNumber, quoted, split_path
from graph.model.ref import Kind
from graph.model.selector import Under
from graph.model.view import FleetView

CELLS_MAX = 10_000
"""Counts in one table."""


@strawberry.input(one_of=True, description="What to count by. Exactly one field.")
class FacetInput:
    """A dimension of a count."""

    group: GroupPath | None = strawberry.field(
        default=strawberry.UNSET, description="One bucket per group right below this one."
    )
    label: Name | None = strawberry.field(
        default=strawberry.UNSET, description="One bucket per value of this label."
    )


@strawberry.type(description="One value of a dimension, and how many clusters have it.")
class Bucket:
    """A counted value."""

    value: LabelValue = strawberry.field(description="The path of a group, or a label's value.")
    title: str = strawberry.field(description="What people call the group; empty for a label.")
    count: int = strawberry.field(description="How many clusters.")
    share: float = strawberry.field(description="Of the clusters chosen, between 0 and 1.")


@strawberry.enum(description="What buckets are ordered by.")
class BucketOrder(Enum):
    """Both orders are total."""

    VALUE = strawberry.enum_value("value", description="By path or value.")
    COUNT = strawberry.enum_value("count", description="The largest first, then by value.")


@strawberry.type(description="Counts by one dimension. A cluster in two groups counts in both.")
class Facet:
    """A counted dimension."""

    view: strawberry.Private[FleetView]
    dimension: strawberry.Private[Dimension]
    counted: strawberry.Private[Sequence[CoreBucket]]
    total: strawberry.Private[int]

    group: GroupPath | None = strawberry.field(description="The group whose children are counted.")
    label: Name | None = strawberry.field(description="The label whose values are counted.")

    @strawberry.field(description="How many buckets there are in all; none is empty.")
    def bucket_count(self) -> int:
        """How many values there are."""
        return len(self.counted)

    @strawberry.field(
        description="The values with their counts; none is empty. Not more than `first` of them:"
        " where bucketCount is larger, ask again with `after`."
    )
    def buckets(
        self,
        order_by: Annotated[
            BucketOrder, strawberry.argument(description="By value by default.")
        ] = BucketOrder.VALUE,
        first: First = LISTED,
        after: Annotated[
            LabelValue | None,
            strawberry.argument(description="Begin behind the bucket of this value."),
        ] = None,
    ) -> list[Bucket]:
        """The counted values, a part at a time."""
        count = checked_first(first, LISTED_MAX, "buckets")
        shown = self.counted
        if order_by is BucketOrder.COUNT:
            shown = sorted(shown, key=lambda each: -each.clusters)
        if after is not None:
            shown = _behind(shown, order_by, label_value(after))
        return [self._bucket(each) for each in shown[:count]]

    def _bucket(self, found: CoreBucket) -> Bucket:
        return Bucket(
            value=LabelValue(found.value),
            title=self._title(found.value),
            count=found.clusters,
            share=found.clusters / (self.total or 1),
        )

    def _title(self, value: CoreLabelValue) -> str:
        if not isinstance(self.dimension, ByGroup):
            return ""
        name = str(value).rpartition("/")[2]
        return _title(self.view, self.view.children(self.dimension.group)[name])


def _behind(
    buckets: Sequence[CoreBucket], order: BucketOrder, after: CoreLabelValue
) -> Sequence[CoreBucket]:
    """What follows the bucket of a value; by value also where that bucket is gone."""
    if buckets and isinstance(buckets[0].value, str) is not isinstance(after, str):
        raise _no_value(after)
    if order is BucketOrder.VALUE:
        # values of one dimension have one type, so they compare; the checker cannot know
        place = bisect_right(buckets, cast(str, after), key=lambda each: cast(str, each.value))
        return buckets[place:]
    for place, each in enumerate(buckets, start=1):
        if each.value == after:
            return buckets[place:]
    raise _no_value(after)


def _no_value(after: CoreLabelValue) -> Invalid:
    return Invalid(
        f"there is no bucket of {quoted(str(after))}",
        hint="pass the value of the last bucket received, or begin again without `after`",
        path=("after",),
    )


def _title(view: FleetView, number: GroupNumber) -> str:
    group = view.group(number)
    assert group is not None, "a group of the view"
    return group.title


def _ids(_: object, rows: Sequence[CoreTreeRow], *, id_suffix: str = "") -> list[str]:
    return [f"{Kind.GROUP}:{row.number}{id_suffix}" for row in rows]


def _paths(_: object, rows: Sequence[CoreTreeRow]) -> list[str]:
    return [row.path for row in rows]


def _titles(view: FleetView, rows: Sequence[CoreTreeRow]) -> list[str]:
    return [_title(view, row.number) for row in rows]


def _depths(_: object, rows: Sequence[CoreTreeRow]) -> list[int]:
    return [row.depth for row in rows]


def _counts(_: object, rows: Sequence[CoreTreeRow]) -> list[int]:
    return [row.clusters for row in rows]


def _shares(_: object, rows: Sequence[CoreTreeRow]) -> list[float]:
    return [row.share for row in rows]


@strawberry.type(description="A group of a tree, and the clusters in it or below it.")
class TreeRow:
    """A line of a tree. Trees are long, so every field is a column."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]
    row: strawberry.Private[CoreTreeRow]

    @strawberry.field(
        description="The group's global id. The row has none: its count depends on what was asked.",
        metadata={COLUMN: Column(_ids, identifies=True)},
    )
    def group_id(self) -> strawberry.ID:
        """Which group."""
        return strawberry.ID(_ids(None, [self.row], id_suffix=self.context.id_suffix)[0])

    @strawberry.field(description="Where the group is.", metadata={COLUMN: Column(_paths)})
    def path(self) -> GroupPath:
        """The path."""
        return GroupPath(self.row.path)

    @strawberry.field(description="What people call the group.", metadata={COLUMN: Column(_titles)})
    def title(self) -> str:
        """The title."""
        return _title(self.view, self.row.number)

    @strawberry.field(
        description="How far below the root of this tree.", metadata={COLUMN: Column(_depths)}
    )
    def depth(self) -> int:
        """The level."""
        return self.row.depth

    @strawberry.field(description="How many clusters.", metadata={COLUMN: Column(_counts)})
    def count(self) -> int:
        """The count."""
        return self.row.clusters

    @strawberry.field(
        description="Of the clusters chosen, between 0 and 1.", metadata={COLUMN: Column(_shares)}
    )
    def share(self) -> float:
        """The share."""
        return self.row.share


def tree_rows(context: Context, view: FleetView, rows: Sequence[CoreTreeRow]) -> list[TreeRow]:
    """The lines of a tree, for the executor to read column by column."""
    make = partial(_tree_row, context, view)
    made = Rows(view, rows, make, kept=False, id_suffix=context.id_suffix)
    return made  # type: ignore[return-value]  # a list to whoever reads it


def _tree_row(context: Context, view: FleetView, row: CoreTreeRow) -> TreeRow:
    return TreeRow(context=context, view=view, row=row)


@strawberry.type(description="Counts of two dimensions at once.")
class CrossTab:
    """A table of counts."""

    table: strawberry.Private[CoreCrossTab]

    @strawberry.field(description="The values of the rows, in order.")
    def rows(self) -> list[LabelValue]:
        """The row heads."""
        return [LabelValue(each) for each in self.table.rows]

    @strawberry.field(description="The values of the columns, in order.")
    def columns(self) -> list[LabelValue]:
        """The column heads."""
        return [LabelValue(each) for each in self.table.columns]

    @strawberry.field(description="For each row, the count in each column.")
    def counts(self) -> list[list[int]]:
        """The counts."""
        return [list(row) for row in self.table.counts]


def group_number(context: Context, view: FleetView, path: str) -> GroupNumber:
    """The group at ``path`` of a request's view."""
    return group_at_path(context.engine, view, path)


def group_at_path(engine: Engine, view: FleetView, path: str) -> GroupNumber:
    """The group at ``path``; refused as a path, not as a selector, if it leads nowhere."""
    split_path(path)  # refuses what can be no path
    try:
        found = engine.parse(path, view)
    except SelectorNotFound as missing:
        raise NotFound(missing.message, hint=missing.hint) from None
    assert isinstance(found, Under), "a path means the group it leads to"
    return found.group


def dimension_of(context: Context, view: FleetView, given: FacetInput) -> Dimension:
    """What a dimension of a count stands for."""
    if given.group is not strawberry.UNSET and given.group is not None:
        with inside("group"):
            return ByGroup(group_number(context, view, given.group))
    assert given.label is not None, "the input has exactly one field"
    return ByLabel(given.label)


def facet_of(context: Context, view: FleetView, given: FacetInput, within: ClusterSet) -> Facet:
    """``within`` counted by one dimension."""
    dimension = dimension_of(context, view, given)
    return Facet(
        view=view,
        dimension=dimension,
        counted=context.engine.facet(dimension, within=within, view=view),
        total=len(within),
        group=given.group if isinstance(dimension, ByGroup) else None,
        label=given.label if isinstance(dimension, ByLabel) else None,
    )


def cross_tab_of(
    context: Context, view: FleetView, rows: Dimension, columns: Dimension, within: ClusterSet
) -> CrossTab:
    """``within`` counted by two dimensions; its size is known before it is worked out."""
    engine = context.engine
    tall, wide = (len(engine.facet(each, within=within, view=view)) for each in (rows, columns))
    if tall * wide > CELLS_MAX:
        raise Invalid(
            f"the table has {tall:,} x {wide:,} cells",
            hint=f"choose dimensions with at most {CELLS_MAX:,} cells, or a narrower selector",
        )
    return CrossTab(table=engine.cross_tab(rows, columns, within=within, view=view))
