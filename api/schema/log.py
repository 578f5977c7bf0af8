"""The change log as it travels: changesets, newest first, a page at a time."""

from __future__ import annotations

import strawberry

from api.context import Context
from api.schema.change import Changeset
from api.schema.names import Cursor
from api.schema.page import PageInfo
from graph.logbook import ChangesetPage
from graph.model.change import Cursor as CoreCursor
from graph.model.ref import Ref
from graph.record import LogEntry


@strawberry.type(description="A changeset and its place in the log.")
class ChangesetEdge:
    """The Relay edge."""

    cursor: str = strawberry.field(description="Pass it as `after` to begin right behind.")
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
        return [self._shown(each) for each in self.page.entries]

    @strawberry.field(description="The changesets of this page with their cursors.")
    def edges(self) -> list[ChangesetEdge]:
        """The changesets with cursors."""
        return [
            ChangesetEdge(cursor=str(each.header.cursor), node=self._shown(each))
            for each in self.page.entries
        ]

    @strawberry.field(description="Where the page begins and ends.")
    def page_info(self) -> PageInfo:
        """The Relay page."""
        found, end = self.page.entries, self.page.end
        return PageInfo(
            has_next_page=self.page.more,
            has_previous_page=self.after is not None,
            start_cursor=str(found[0].header.cursor) if found else None,
            end_cursor=None if end is None else str(end),
        )

    def _shown(self, entry: LogEntry) -> Changeset:
        return Changeset(context=self.context, view=self.context.seen, entry=entry)


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
