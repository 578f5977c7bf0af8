"""Reports along a hierarchy as they travel: how full clusters are, and who pays."""

from __future__ import annotations

from typing import Annotated

import strawberry

from api.schema.effective import Amounts, amounts_of
from api.schema.listing import LISTED, LISTED_MAX, First, behind, checked_first
from api.schema.names import GroupPath, Name
from api.schema.ref import without_suffix
from graph.effective import report as core
from graph.model.view import FleetView


@strawberry.type(description="What is asked of the clusters of a group, and what they have.")
class CapacityRow:
    """A line of the capacity report."""

    path: GroupPath = strawberry.field(description="The group.")
    title: str = strawberry.field(description="What people call it.")
    clusters: int = strawberry.field(description="How many clusters are in it or below it.")
    stated: int = strawberry.field(description="How many of them say what they have.")
    asked: Amounts = strawberry.field(
        description="What the applications placed on them ask for, of those you may see."
    )
    offered: Amounts = strawberry.field(description="What those that say so have.")
    oversubscribed: int = strawberry.field(
        description="On how many more is asked for than there is."
    )


@strawberry.type(description="How full the clusters of a group are, by the groups right below.")
class CapacityReport:
    """The capacity report."""

    view: strawberry.Private[FleetView]
    found: strawberry.Private[list[core.CapacityRow]]

    @strawberry.field(description="The group as a whole.")
    def total(self) -> CapacityRow:
        """The group itself."""
        return self._row(self.found[0])

    @strawberry.field(description="The groups right below, by path.")
    def rows(
        self,
        first: First = LISTED,
        after: Annotated[
            GroupPath | None, strawberry.argument(description="Begin behind this path.")
        ] = None,
    ) -> list[CapacityRow]:
        """The children."""
        count = checked_first(first, LISTED_MAX, "groups")
        rows = [each for each in self.found[1:] if after is None or each.path > after]
        return [self._row(each) for each in rows[:count]]

    def _row(self, row: core.CapacityRow) -> CapacityRow:
        group = self.view.group(row.group)
        assert group is not None, "a group of the view"
        return CapacityRow(
            path=GroupPath(row.path),
            title=group.title,
            clusters=row.clusters,
            stated=row.stated,
            asked=amounts_of(row.asked),
            offered=amounts_of(row.offered),
            oversubscribed=row.over,
        )


@strawberry.type(description="What the applications of a namespace take from a group's clusters.")
class ChargebackRow:
    """A line of the charge-back report."""

    id: strawberry.ID = strawberry.field(description="What tells the row from all others.")
    cost_center: str = strawberry.field(description="Who pays; empty if that is not known.")
    namespace: Name = strawberry.field(description="The namespace.")
    group: GroupPath = strawberry.field(description="The group.")
    clusters: int = strawberry.field(
        description="On how many of its clusters an application of the namespace is effective."
    )
    requested: Amounts = strawberry.field(
        description="What those applications request, on all these clusters together."
    )


@strawberry.type(
    description="Who pays for what runs, by cost centre, namespace and the groups right below one."
)
class Chargeback:
    """The charge-back report."""

    found: strawberry.Private[list[core.ChargebackRow]]
    id_suffix: strawberry.Private[str]

    @strawberry.field(description="How many rows there are in all.")
    def row_count(self) -> int:
        """The length of the report."""
        return len(self.found)

    @strawberry.field(description="The rows, by cost centre, namespace and path.")
    def rows(
        self,
        first: First = LISTED,
        after: Annotated[
            strawberry.ID | None, strawberry.argument(description="Begin behind this row's id.")
        ] = None,
    ) -> list[ChargebackRow]:
        """The report, a part at a time."""
        count = checked_first(first, LISTED_MAX, "rows")
        after = None if after is None else strawberry.ID(without_suffix(after))
        shown = behind(self.found, after, lambda row: row.key)
        return [
            ChargebackRow(
                id=strawberry.ID(f"{row.key}{self.id_suffix}"),
                cost_center=row.cost_center,
                namespace=Name(row.namespace),
                group=GroupPath(row.path),
                clusters=row.clusters,
                requested=amounts_of(row.requested),
            )
            for row in shown[:count]
        ]
