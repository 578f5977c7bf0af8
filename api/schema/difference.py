"""How a set differs between two revisions, as it travels."""

from __future__ import annotations

from typing import Annotated

import strawberry

from api.context import Context
from api.schema.change import Changeset
from api.schema.names import Revision
from api.schema.page import Asked, ClusterConnection
from graph.difference import Diff
from graph.model.cluster_set import ClusterSet
from graph.model.selector import Selector
from graph.model.view import FleetView
from graph.page import Order

First = Annotated[int, strawberry.argument(description="How many in the page.")]
After = Annotated[str | None, strawberry.argument(description="The endCursor of the page before.")]


@strawberry.type(description="How a set has changed between two revisions, and by what.")
class SetDiff:
    """A set at two revisions."""

    context: strawberry.Private[Context]
    earlier: strawberry.Private[FleetView]
    later: strawberry.Private[FleetView]
    diff: strawberry.Private[Diff]

    @strawberry.field(description="The earlier revision.")
    def before(self) -> Revision:
        """Where it begins."""
        return Revision(self.diff.before)

    @strawberry.field(description="The later revision.")
    def after(self) -> Revision:
        """Where it ends."""
        return Revision(self.diff.after)

    @strawberry.field(description="Clusters in the set now that were not in it.")
    def gained(self, first: First = 50, after: After = None) -> ClusterConnection:
        """What came."""
        return self._page(self.diff.gained, self.later, first, after)

    @strawberry.field(description="Clusters that were in the set, as they were, and are not now.")
    def lost(self, first: First = 50, after: After = None) -> ClusterConnection:
        """What went."""
        return self._page(self.diff.lost, self.earlier, first, after)

    @strawberry.field(
        description="The changesets that can have moved the set, newest first: they touched a"
        " cluster that came or went, a group that holds one, or what the selector names."
    )
    def changesets(
        self, first: Annotated[int, strawberry.argument(description="How many at most.")] = 20
    ) -> list[Changeset]:
        """What did it."""
        shown = self.diff.changesets[: max(first, 0)]
        return [Changeset(view=self.later, changeset=each) for each in shown]

    @strawberry.field(description="Whether `changesets` can be all of them: looking is bounded.")
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return self.diff.complete

    def _page(
        self, chosen: ClusterSet, view: FleetView, first: int, after: str | None
    ) -> ClusterConnection:
        asked = Asked(self.context, view, chosen, first, Order.NAME, after)
        return ClusterConnection(asked=asked)


async def diff_of(
    context: Context, earlier: FleetView, later: FleetView, selector: Selector
) -> SetDiff:
    """How ``selector`` differs between two views."""
    diff = await context.engine.diff(selector, earlier, later, context.access)
    return SetDiff(context=context, earlier=earlier, later=later, diff=diff)
