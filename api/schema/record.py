"""The record as a whole: which store it is, how far it has come, what a kept cursor is in it."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import strawberry

from api.context import Context
from api.schema.names import Cursor
from graph.model.change import Cursor as CoreCursor
from graph.model.change import Relation
from graph.model.errors import Invalid

CURSORS_MAX = 20
"""Cursors that are judged at once."""


@strawberry.enum(description="How a cursor that somebody kept relates to this fleet's history.")
class CursorRelation(Enum):
    """As ``graph.model.change.Relation``."""

    CONTAINED = strawberry.enum_value(
        Relation.CONTAINED.value, description="It is a place in this history."
    )
    AHEAD = strawberry.enum_value(
        Relation.AHEAD.value,
        description="It is of a revision this fleet has not reached: this process or its store is"
        " behind, or was restored from a backup.",
    )
    OTHER = strawberry.enum_value(
        Relation.OTHER.value, description="It is a place in another history, or of another store."
    )
    FORGOTTEN = strawberry.enum_value(
        Relation.FORGOTTEN.value,
        description="It is older than log and archive reach: nobody here can tell.",
    )


@strawberry.type(description="The record of this fleet: which store, and how far it has come.")
class Record:
    """One history."""

    context: strawberry.Private[Context]

    @strawberry.field(
        description="What stands for the store in cursors: the same in its backups, and in no"
        " other store."
    )
    async def store(self) -> str:
        """Its identity."""
        return await self.context.engine.identity()

    @strawberry.field(description="The newest place in history.")
    def cursor(self) -> Cursor:
        """Where it stands."""
        return Cursor(str(self.context.engine.view.cursor))

    @strawberry.field(
        description="How cursors that somebody kept relate to this history, in their order. A"
        " renderer asks before it goes on from what is published."
    )
    async def relations(
        self,
        cursors: Annotated[
            list[Cursor], strawberry.argument(description=f"At most {CURSORS_MAX}.")
        ],
        commit: Annotated[
            str | None,
            strawberry.argument(
                description="Where the first of them was published: one that was reported here is"
                " of this history, however old it is."
            ),
        ] = None,
    ) -> list[CursorRelation]:
        """What they are here."""
        if len(cursors) > CURSORS_MAX:
            raise Invalid(f"{len(cursors):,} cursors", hint=f"ask about at most {CURSORS_MAX}")
        engine = self.context.engine
        found = [
            await engine.relation(CoreCursor.parse(each), "" if place else commit or "")
            for place, each in enumerate(cursors)
        ]
        return [CursorRelation(each.value) for each in found]
