"""Publications as they travel: what was brought out, and whether a change is in it."""

from __future__ import annotations

from typing import Annotated

import strawberry

from api.context import Context
from api.schema.errors import Conflict, Denied, Invalid, NotFound, Rejected, Unavailable
from api.schema.names import Cursor, Instant, Name, Revision
from graph.model import publication as core
from graph.model.change import Cursor as CoreCursor
from graph.model.names import Revision as CoreRevision

APPLICATION = "The application; null: the fleet's own settings."
REASON = (
    "A word for programs: failed (an overlay does not render), blocked, wave (too much would go)."
)
CLUSTERS = "How many clusters it concerns."
SINCE = "The revision at which it began."


@strawberry.type(description="An application of which something is not published as it should be.")
class HeldBack:
    """As ``graph.model.publication.HeldBack``; so for all below."""

    application: Name | None = strawberry.field(description=APPLICATION)
    reason: str = strawberry.field(description=REASON)
    message: str = strawberry.field(description="What is wrong, in words.")
    clusters: int = strawberry.field(description=CLUSTERS)
    since: Revision = strawberry.field(description=SINCE)


@strawberry.type(
    description="What a renderer has last brought out under one name: all changes up to a revision,"
    " but for what is held back."
)
class Publication:
    """A publication as one may see it."""

    context: strawberry.Private[Context]
    publication: strawberry.Private[core.Publication]
    asked: strawberry.Private[CoreRevision]

    @strawberry.field(description="Which output, as a branch.")
    def name(self) -> Name:
        """Its name."""
        return Name(self.publication.name)

    @strawberry.field(description="The newest place in history whose changes are in it.")
    def cursor(self) -> Cursor:
        """How far it goes."""
        return Cursor(str(self.publication.cursor))

    @strawberry.field(description="The revision of that place.")
    def revision(self) -> Revision:
        """The same as a number."""
        return Revision(self.publication.cursor.revision)

    @strawberry.field(description="Where it is: a commit, or the digest of what was pushed.")
    def commit(self) -> str:
        """Where to find it."""
        return self.publication.commit

    @strawberry.field(
        description="How many revisions are not in it yet, up to the one asked about or else the"
        " newest. 0: all of them are."
    )
    def behind(self) -> int:
        """What is missing."""
        return self.publication.behind(self.asked)

    @strawberry.field(description="When it was reported.")
    def at(self) -> Instant:
        """When."""
        return Instant(self.publication.at)

    @strawberry.field(description="Who reported it; null for those who do not see everything.")
    def actor(self) -> str | None:
        """Who."""
        return self.publication.actor if self.context.access.sees_all else None

    @strawberry.field(
        description="What is not published as it should be; null for those who do not see"
        " everything."
    )
    def held(self) -> list[HeldBack] | None:
        """What is held back."""
        if not self.context.access.sees_all:
            return None
        return [_held_of(each) for each in self.publication.held]


@strawberry.input(description="An application of which something is not published as it should be.")
class HeldBackInput:
    """An entry of a report."""

    application: Name | None = strawberry.field(default=strawberry.UNSET, description=APPLICATION)
    reason: str = strawberry.field(description=REASON)
    message: str = strawberry.field(
        description=f"What is wrong, in one line of at most {core.MESSAGE_LENGTH_MAX:,} characters."
    )
    clusters: int = strawberry.field(description=CLUSTERS)
    since: Revision = strawberry.field(description=SINCE)


@strawberry.input(description="What a renderer has brought out.")
class ReportPublishedInput:
    """A report."""

    name: Name = strawberry.field(description="Which output, as a branch.")
    cursor: Cursor = strawberry.field(
        description="The newest place in history whose changes are in it."
    )
    commit: str = strawberry.field(
        description="Where it is: a commit, or the digest of what was pushed."
    )
    held: list[HeldBackInput] = strawberry.field(
        default_factory=list[HeldBackInput],
        description=f"What is not published as it should be; at most {core.HELD_MAX:,}.",
    )

    def report(self) -> core.Report:
        """The core's report."""
        held = tuple(map(_given, self.held))
        return core.Report(self.name, CoreCursor.parse(self.cursor), self.commit, held)


@strawberry.type(description="A report was taken.")
class PublishedReport:
    """What is kept now."""

    publication: Publication = strawberry.field(
        description="What is kept under that name: the report, or one before it that is further on."
    )
    revision: Revision = strawberry.field(description="The revision of what is kept.")


ReportPublishedResult = Annotated[
    PublishedReport | Invalid | NotFound | Conflict | Denied | Rejected | Unavailable,
    strawberry.union(
        "ReportPublishedResult", description="What is kept of a report, or why nothing is."
    ),
]


@strawberry.input(description="An output that is no longer published to.")
class ForgetPublicationInput:
    """Which report is forgotten."""

    name: Name = strawberry.field(description="Which output, as a branch.")


@strawberry.type(description="A publication was forgotten.")
class ForgottenPublication:
    """What is gone."""

    name: Name = strawberry.field(description="Which output it was.")
    revision: Revision = strawberry.field(description="The newest revision of the fleet.")


ForgetPublicationResult = Annotated[
    ForgottenPublication | Invalid | NotFound | Conflict | Denied | Rejected | Unavailable,
    strawberry.union(
        "ForgetPublicationResult", description="That a publication is forgotten, or why it is not."
    ),
]


async def publications_of(context: Context, asked: CoreRevision) -> list[Publication]:
    """Every publication, seen from a revision. They change without one, so nothing is kept."""
    context.usage.fresh = True
    found = await context.engine.publications()
    return [Publication(context=context, publication=each, asked=asked) for each in found]


async def report_published(context: Context, report: core.Report) -> PublishedReport:
    """Keep a report."""
    kept = await context.engine.report_published(report, context.actor)
    asked = context.engine.view.cursor.revision
    return PublishedReport(
        publication=Publication(context=context, publication=kept, asked=asked),
        revision=Revision(kept.cursor.revision),
    )


async def forget_publication(
    context: Context, input: ForgetPublicationInput
) -> ForgottenPublication:
    """Forget what was reported under a name."""
    await context.engine.forget_publication(input.name, context.actor)
    return ForgottenPublication(
        name=input.name, revision=Revision(context.engine.view.cursor.revision)
    )


def _held_of(held: core.HeldBack) -> HeldBack:
    return HeldBack(
        application=Name(held.application) if held.application else None,
        reason=held.reason,
        message=held.message,
        clusters=held.clusters,
        since=Revision(held.since),
    )


def _given(held: HeldBackInput) -> core.HeldBack:
    return core.HeldBack(
        application=held.application or "",
        reason=held.reason,
        message=held.message,
        clusters=held.clusters,
        since=CoreRevision(held.since),
    )
