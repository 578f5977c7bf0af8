"""Counts along the business: facets, trees, cross-tabs."""

from __future__ import annotations

from collections.abc import Sequence

import strawberry

from api.columns import COLUMN, Column
from api.schema.names import GroupPath, LabelValue, Name
from graph.facets import CrossTab as CoreCrossTab
from graph.facets import TreeRow as CoreTreeRow
from graph.model.ref import Kind


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
    count: int = strawberry.field(description="How many clusters.")
    share: float = strawberry.field(description="Of the clusters chosen, between 0 and 1.")


@strawberry.type(description="Counts by one dimension. A cluster in two groups counts in both.")
class Facet:
    """A counted dimension."""

    group: GroupPath | None = strawberry.field(description="The group whose children are counted.")
    label: Name | None = strawberry.field(description="The label whose values are counted.")
    buckets: list[Bucket] = strawberry.field(description="The values, in order; none is empty.")


def _ids(_: object, rows: Sequence[CoreTreeRow]) -> list[str]:
    return [f"{Kind.GROUP}:{row.number}" for row in rows]


def _paths(_: object, rows: Sequence[CoreTreeRow]) -> list[str]:
    return [row.path for row in rows]


def _depths(_: object, rows: Sequence[CoreTreeRow]) -> list[int]:
    return [row.depth for row in rows]


def _counts(_: object, rows: Sequence[CoreTreeRow]) -> list[int]:
    return [row.clusters for row in rows]


def _shares(_: object, rows: Sequence[CoreTreeRow]) -> list[float]:
    return [row.share for row in rows]


@strawberry.type(description="A group of a tree, and the clusters in it or below it.")
class TreeRow:
    """A line of a tree. Trees are long, so every field is a column."""

    row: strawberry.Private[CoreTreeRow]

    @strawberry.field(description="The group's global id.", metadata={COLUMN: Column(_ids)})
    def id(self) -> strawberry.ID:
        """Which group."""
        return strawberry.ID(_ids(None, [self.row])[0])

    @strawberry.field(description="Where the group is.", metadata={COLUMN: Column(_paths)})
    def path(self) -> GroupPath:
        """The path."""
        return GroupPath(self.row.path)

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


def tree_row(row: CoreTreeRow) -> TreeRow:
    """A line of a tree as it travels."""
    return TreeRow(row=row)


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
