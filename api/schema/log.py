"""The change log as it travels: changesets, newest first, a page at a time."""

from __future__ import annotations

import strawberry

from api.context import Context
from api.schema.change import Changeset
from api.schema.names import Cursor
from graph.logbook import ChangesetPage
from graph.model.change import Cursor as CoreCursor
from graph.model.ref import Ref


@strawberry.type(description="Where a page of the log ends, and whether more follow.")
class LogPageInfo:
    """The Relay page."""

    has_next_page: bool = strawberry.field(
        description="Whether older ones follow, or may: looking for them is bounded, so a page"
        " may be short, or empty, and still have a next one."
    )
    has_previous_page: bool = strawberry.field(description="Whether the page began after another.")
    start_cursor: Cursor | None = strawberry.field(description="The cursor of the first.")
    end_cursor: Cursor | None = strawberry.field(
        description="Pass it as `after` for the next page."
    )


@strawberry.type(description="A changeset and its place in the log.")
class ChangesetEdge:
    """The Relay edge."""

    cursor: Cursor = strawberry.field(description="Pass it as `after` to begin right behind.")
    node: Changeset = strawberry.field(description="The changeset.")


@strawberry.type(description="Changesets, newest first, a page at a time.")
class ChangesetConnection:
    """The Relay connection."""

    context: strawberry.Private[Context]
    page: strawberry.Private[ChangesetPage]
    after: strawberry.Private[Cursor | None]

    @strawberry.field(description="The changesets of this page.")
    def nodes(self) -> list[Changeset]:
        """The changesets, without cursors."""
        view = self.context.seen
        return [Changeset(view=view, changeset=each) for each in self.page.changesets]

    @strawberry.field(description="The changesets of this page with their cursors.")
    def edges(self) -> list[ChangesetEdge]:
        """The changesets with cursors."""
        view = self.context.seen
        return [
            ChangesetEdge(
                cursor=Cursor(str(each.cursor)), node=Changeset(view=view, changeset=each)
            )
            for each in self.page.changesets
        ]

    @strawberry.field(description="Where the page begins and ends.")
    def page_info(self) -> LogPageInfo:
        """The Relay page."""
        found, end = self.page.changesets, self.page.end
        return LogPageInfo(
            has_next_page=self.page.more,
            has_previous_page=self.after is not None,
            start_cursor=Cursor(str(found[0].cursor)) if found else None,
            end_cursor=None if end is None else Cursor(str(end)),
        )


async def changesets(
    context: Context, *, first: int, after: Cursor | None, actor: str | None, touching: Ref | None
) -> ChangesetConnection:
    """A page of the log, as far as the actor may see it."""
    page = await context.engine.changesets(
        first=first,
        after=None if after is None else CoreCursor.parse(after),
        actor=actor,
        touching=touching,
        access=context.access,
    )
    return ChangesetConnection(context=context, page=page, after=after)
