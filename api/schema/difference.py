"""How a set differs between two revisions, as it travels."""

from __future__ import annotations

import strawberry

from api.context import Context
from api.schema.change import Changeset
from api.schema.history import AfterRevision
from api.schema.listing import First, checked_first
from api.schema.names import Revision
from api.schema.page import PAGE, After, Asked, ClusterConnection
from graph.logbook import Diff
from graph.model.selector import Selector
from graph.model.view import FleetView
from graph.page import Order

CHANGESETS = 20
CHANGESETS_MAX = 500


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
    def gained(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """What came."""
        asked = Asked(self.context, self.later, self.diff.gained, first, Order.NAME, after)
        return ClusterConnection(asked=asked)

    @strawberry.field(description="Clusters that were in the set, as they were, and are not now.")
    def lost(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """What went."""
        context = self.context.showing(self.diff.before)
        asked = Asked(context, self.earlier, self.diff.lost, first, Order.NAME, after)
        return ClusterConnection(asked=asked)

    @strawberry.field(
        description="The changesets that can have moved the set, newest first: they touched a"
        " cluster that came or went, a group that holds one, or what the selector names."
    )
    def changesets(self, first: First = CHANGESETS, after: AfterRevision = None) -> list[Changeset]:
        """What did it."""
        count = checked_first(first, CHANGESETS_MAX, "changesets")
        older = [
            each for each in self.diff.entries if after is None or each.header.revision < after
        ]
        return [
            Changeset(context=self.context, view=self.later, entry=each) for each in older[:count]
        ]

    @strawberry.field(description="Whether `changesets` can be all of them: looking is bounded.")
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return self.diff.complete


async def diff_of(
    context: Context, earlier: FleetView, later: FleetView, selector: Selector
) -> SetDiff:
    """How ``selector`` differs between two views."""
    diff = await context.engine.diff(selector, earlier, later, context.access)
    return SetDiff(context=context, earlier=earlier, later=later, diff=diff)
