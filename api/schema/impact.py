"""What a batch would do, as it travels: its changes, and the clusters and selectors they move."""

from __future__ import annotations

from typing import Annotated

import strawberry

from api.context import Context
from api.problems import told_path
from api.schema.change import AfterId, Change, changes_of
from api.schema.command import ApplyInput
from api.schema.dry_run import DryRun
from api.schema.errors import Conflict, Denied, Invalid, NotFound, Rejected, Unavailable
from api.schema.failure import failure_of
from api.schema.listing import LISTED, First
from api.schema.names import Name, Revision, RevisionOrTime
from api.schema.page import PAGE, After, ClusterConnection
from api.schema.revert import RevertScope, plan
from api.schema.workload_impact import Moving, WorkloadImpact
from graph.impact import SetMove
from graph.model.command import Batch
from graph.model.errors import TrellisError


@strawberry.type(description="A saved selector whose answer would differ.")
class SelectorMove:
    """What one saved selector gains and loses."""

    run: strawberry.Private[DryRun]
    move: strawberry.Private[SetMove]

    @strawberry.field(description="The saved selector.")
    def name(self) -> Name:
        """The name."""
        return Name(self.move.name)

    @strawberry.field(description="How many clusters it would gain.")
    def gained_count(self) -> int:
        """How many come in."""
        return len(self.move.gained)

    @strawberry.field(description="How many clusters it would lose.")
    def lost_count(self) -> int:
        """How many go out."""
        return len(self.move.lost)

    @strawberry.field(description="The clusters it would gain, as they would be.")
    def gained(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """What comes in."""
        return self.run.coming(self.move.gained, first, after)

    @strawberry.field(description="The clusters it would lose, as they are.")
    def lost(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """What goes out."""
        return self.run.going(self.move.lost, first, after)


@strawberry.type(description="What would differ for those who rely on the fleet.")
class Impact:
    """Clusters that come and go, and saved selectors that move."""

    run: strawberry.Private[DryRun]

    @strawberry.field(description="How many clusters would be registered.")
    def registered_count(self) -> int:
        """How many come."""
        return len(self.run.found.impact.registered)

    @strawberry.field(description="How many clusters would be retired.")
    def retired_count(self) -> int:
        """How many go."""
        return len(self.run.found.impact.retired)

    @strawberry.field(description="The clusters that would be registered, as they would be.")
    def registered(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """Who comes."""
        return self.run.coming(self.run.found.impact.registered, first, after)

    @strawberry.field(description="The clusters that would be retired, as they are.")
    def retired(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """Who goes."""
        return self.run.going(self.run.found.impact.retired, first, after)

    @strawberry.field(description="What would differ in what runs.")
    def workload(self) -> WorkloadImpact:
        """The consequences for applications."""
        return WorkloadImpact(moving=Moving(self.run))

    @strawberry.field(description="The saved selectors whose answer would differ, by name.")
    def moves(self) -> list[SelectorMove]:
        """Which saved selectors move."""
        return [SelectorMove(run=self.run, move=each) for each in self.run.found.impact.moves]


@strawberry.type(description="What a batch would do, computed and not written.")
class Preview:
    """A dry run."""

    run: strawberry.Private[DryRun]

    left: list[str] = strawberry.field(
        description="What a revert would leave as it is, a line each; else empty."
    )

    @strawberry.field(description="The revision it was computed on.")
    def base(self) -> Revision:
        """The revision before."""
        return Revision(self.run.found.base.revision)

    @strawberry.field(description="How many objects would change.")
    def change_count(self) -> int:
        """How many changes there are."""
        return len(self.run.found.changes)

    @strawberry.field(description="What would change, in a fixed order.")
    def changes(self, first: First = LISTED, after: AfterId = None) -> list[Change]:
        """The changes."""
        found, suffix = self.run.found, self.run.then.id_suffix
        return changes_of(found.after, found.changes, suffix, first, after)

    @strawberry.field(description="What would differ for those who rely on the fleet.")
    def impact(self) -> Impact:
        """The consequences."""
        return Impact(run=self.run)

    @strawberry.field(
        description="Why it would be refused for what it does to what runs; none: it would not."
    )
    def refusals(self) -> list[Rejected]:
        """What the guards say."""
        return [
            Rejected(
                code=each.code,
                message=each.message,
                hint=each.hint,
                path=told_path(each.path),
                reasons=list(each.reasons),
            )
            for each in self.run.found.refusals
        ]

    @strawberry.field(
        description="How many applications it would take from clusters in all: what to state as"
        " expectedLoss."
    )
    def expected_loss(self) -> int:
        """The loss to state."""
        return self.run.found.loss


PreviewResult = Annotated[
    Preview | Invalid | NotFound | Conflict | Denied | Rejected | Unavailable,
    strawberry.union("PreviewResult", description="What a batch would do, or why it would not."),
]


async def preview(context: Context, input: ApplyInput) -> PreviewResult:
    """What a batch would do, refused exactly where it would be."""
    try:
        return await _run(context, input.batch(context))
    except TrellisError as refusal:
        return failure_of(refusal, context.engine.view.cursor.revision)


async def preview_revert(context: Context, to: RevisionOrTime, scope: RevertScope) -> PreviewResult:
    """What a revert would do, and what it would leave."""
    try:
        found = await plan(context, to, scope)
        batch = Batch((found.command,), context.actor.name, "preview")
        return await _run(context, batch, found.left)
    except TrellisError as refusal:
        return failure_of(refusal, context.engine.view.cursor.revision)


async def _run(context: Context, batch: Batch, left: tuple[str, ...] = ()) -> Preview:
    found = await context.engine.preview(batch, context.actor)
    return Preview(run=DryRun.of(context, found), left=list(left))
