"""What the caller of a batch gets, as it travels: a receipt, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

import strawberry

from api.context import Context
from api.schema.change import AfterId, behind_object
from api.schema.errors import Conflict, Denied, Invalid, NotFound, Rejected, Unavailable
from api.schema.listing import LISTED, First, checked_first
from api.schema.names import Cursor, Revision
from api.schema.query import NODES_MAX, node_of
from api.schema.ref import Node
from api.schema.view import Fleet
from graph.model.change import Receipt

GONE = " Null, with an error, if you may not read it any more."


@strawberry.type(description="The batch holds: every command of it took effect, durably.")
class Applied:
    """A receipt, and the way to what it is about."""

    context: strawberry.Private[Context]
    receipt: strawberry.Private[Receipt]

    left: list[str] = strawberry.field(
        description="What a revert left as it is, with the reason, a line each; else empty."
    )

    @strawberry.field(description="The revision at which the batch holds.")
    def revision(self) -> Revision:
        """The position in the log."""
        return Revision(self.receipt.revision)

    @strawberry.field(description="That revision's place in history, to follow changes from.")
    def cursor(self) -> Cursor:
        """The cursor."""
        return Cursor(str(self.receipt.cursor))

    @strawberry.field(description="false: everything was so already, and nothing was written.")
    def changed(self) -> bool:
        """Whether there is a new revision."""
        return self.receipt.changed

    @strawberry.field(
        description="The objects the batch wrote and did not remove, in a fixed order, as they are"
        " today: at that revision or a newer one." + GONE
    )
    async def objects(self, first: First = LISTED, after: AfterId = None) -> list[Node] | None:
        """What changed and is still there, as far as it may be seen."""
        count = checked_first(first, NODES_MAX, "objects")
        if not self.receipt.changed:
            return []
        fleet = await self._fleet()
        changeset = await self.context.engine.changeset(self.receipt.revision)
        found = (
            node_of(fleet.context, fleet.view, change.ref)
            for change in behind_object(changeset.changes, after)
            if change.after is not None
        )
        return list(islice(_there(found), count))

    @strawberry.field(
        description="The fleet with the batch in it, as it is today: at that revision or a newer"
        " one." + GONE
    )
    async def fleet(self) -> Fleet | None:
        """Where to read on."""
        return await self._fleet()

    async def _fleet(self) -> Fleet:
        """With the access of now: the batch itself may have changed it.

        A receipt may be old, where a batch was sent again. What it leads to carries the ids of
        today, so it has to be of today: clients overwrite what they have under these ids.
        """
        engine, settings = self.context.engine, self.context.settings
        await engine.at_least(self.receipt.revision, timeout_seconds=settings.at_least_seconds)
        now = Context.pin(engine, settings, self.context.identified)
        return Fleet(context=now, view=now.seen)


def _there(nodes: Iterator[Node | None]) -> Iterator[Node]:
    return (node for node in nodes if node is not None)


ApplyResult = Annotated[
    Applied | Invalid | NotFound | Conflict | Denied | Rejected | Unavailable,
    strawberry.union("ApplyResult", description="The receipt of a batch, or why there is none."),
]
