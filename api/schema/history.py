"""What happened to one object, as it travels: every object of the record can tell its past."""

from __future__ import annotations

from typing import Annotated

import strawberry

from api.context import Context
from api.schema.change import Change
from api.schema.listing import First, checked_first
from api.schema.names import Instant, Revision
from api.schema.ref import ID, Node
from graph.model.view import FleetView
from graph.record import HistoryLine as CoreHistoryLine

LINES = 50
LINES_MAX = 1_000
"""Lines of one history in one answer."""

AfterRevision = Annotated[
    Revision | None,
    strawberry.argument(description="Begin behind this revision: only what is older."),
]


@strawberry.type(description="One change of an object: when, by whom, why, and what.")
class HistoryLine:
    """A line of an object's history."""

    view: strawberry.Private[FleetView]
    line: strawberry.Private[CoreHistoryLine]

    @strawberry.field(description="The revision that made it.")
    def revision(self) -> Revision:
        """The position in the log."""
        return Revision(self.line.revision)

    @strawberry.field(description="When it was made.")
    def at(self) -> Instant:
        """The moment."""
        return Instant(self.line.at)

    @strawberry.field(description="Who made it.")
    def actor(self) -> str:
        """Who."""
        return self.line.actor

    @strawberry.field(
        description="The subject for whom, and under whose grants, the actor made it; null where"
        " they made it for nobody else."
    )
    def on_behalf_of(self) -> str | None:
        """For whom."""
        return self.line.on_behalf_of or None

    @strawberry.field(description="Why, in its author's words.")
    def reason(self) -> str:
        """Why."""
        return self.line.reason

    @strawberry.field(description="The object before and after.")
    def change(self) -> Change:
        """What changed."""
        suffix = f"@{self.line.revision}"
        return Change(view=self.view, change=self.line.change, id_suffix=suffix)


@strawberry.type(description="An object of the record.")
class Recorded(Node):
    """What every object has: the view it was read from, and a past."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]

    @strawberry.field(description=ID)
    def id(self) -> strawberry.ID:
        """The global id."""
        return strawberry.ID(f"{self.ref()}{self.context.id_suffix}")

    @strawberry.field(
        description="What happened to it up to the revision it is read at, newest first."
    )
    async def history(self, first: First = LINES, after: AfterRevision = None) -> list[HistoryLine]:
        """Its past."""
        count = checked_first(first, LINES_MAX, "changes")
        lines = await self.context.engine.history(self.ref(), self.context.access)
        return told(lines, self.view, count, after)


def told(
    lines: list[CoreHistoryLine], view: FleetView, count: int, after: Revision | None
) -> list[HistoryLine]:
    """The newest lines that ``view`` can know of, and that are older than ``after``."""
    newest = view.cursor.revision if after is None else min(view.cursor.revision, after - 1)
    known = [line for line in lines if line.revision <= newest]
    return [HistoryLine(view=view, line=line) for line in known[:count]]
