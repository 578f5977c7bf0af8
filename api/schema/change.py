"""The record as it travels: changes, changesets, and the history of one object."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import strawberry

from api.schema.names import Cursor, Instant, Revision
from graph.describe import describe
from graph.model.change import Change as CoreChange
from graph.model.change import Changeset as CoreChangeset
from graph.model.errors import Invalid
from graph.model.view import FleetView
from graph.record import HistoryLine as CoreHistoryLine

CHANGES_MAX = 10_000
"""Changes shown of one changeset."""


@strawberry.enum(description="What happened to an object.")
class Action(Enum):
    """Created, changed or removed."""

    CREATED = strawberry.enum_value("created", description="It was not there before.")
    CHANGED = strawberry.enum_value("changed", description="It was there, and still is.")
    REMOVED = strawberry.enum_value("removed", description="It is not there any more.")


@strawberry.enum(description="The kinds of object the record keeps.")
class ObjectKind(Enum):
    """As ``graph.model.ref.Kind``."""

    HIERARCHY = strawberry.enum_value("hierarchy", description="A named tree of groups.")
    LABEL_KEY = strawberry.enum_value("label_key", description="A label's name and type.")
    GROUP = strawberry.enum_value("group", description="A place in one hierarchy.")
    CLUSTER = strawberry.enum_value("cluster", description="One cluster.")
    SAVED_SELECTOR = strawberry.enum_value("saved_selector", description="A selector by name.")
    GRANT = strawberry.enum_value("grant", description="A role over a scope, given to somebody.")


@strawberry.type(description="One object, before and after.")
class Change:
    """A change as it is shown."""

    view: strawberry.Private[FleetView]
    change: strawberry.Private[CoreChange]

    @strawberry.field(description="The object's global id.")
    def id(self) -> strawberry.ID:
        """Which object."""
        return strawberry.ID(str(self.change.ref))

    @strawberry.field(description="What kind of object it is.")
    def kind(self) -> ObjectKind:
        """The kind of object."""
        return ObjectKind(self.change.ref.kind.value)

    @strawberry.field(description="The object's name at the time.")
    def name(self) -> str:
        """The name people know it by."""
        entity = self.change.after if self.change.after is not None else self.change.before
        assert entity is not None, "a change has a before or an after"
        return entity.name

    @strawberry.field(description="What happened to it.")
    def action(self) -> Action:
        """Created, changed or removed."""
        if self.change.before is None:
            return Action.CREATED
        return Action.REMOVED if self.change.after is None else Action.CHANGED

    @strawberry.field(description="What happened, in words, a line each.")
    def lines(self) -> list[str]:
        """The change as a person would tell it."""
        return describe(self.change, self.view)


@strawberry.type(description="One revision: who, when, why, and what changed.")
class Changeset:
    """A changeset as it is shown; ``changeset`` holds only what the actor may see."""

    view: strawberry.Private[FleetView]
    changeset: strawberry.Private[CoreChangeset]

    @strawberry.field(description="Its revision.")
    def revision(self) -> Revision:
        """The position in the log."""
        return Revision(self.changeset.revision)

    @strawberry.field(description="Its place in history: what a follower resumes after.")
    def cursor(self) -> Cursor:
        """The cursor of this changeset."""
        return Cursor(str(self.changeset.cursor))

    @strawberry.field(description="When it was made.")
    def at(self) -> Instant:
        """The moment."""
        return Instant(self.changeset.at)

    @strawberry.field(description="Who made it.")
    def actor(self) -> str:
        """Who."""
        return self.changeset.actor

    @strawberry.field(description="Why, in its author's words.")
    def reason(self) -> str:
        """Why."""
        return self.changeset.reason

    @strawberry.field(description="How many objects changed, of those that may be seen.")
    def change_count(self) -> int:
        """How many changes there are."""
        return len(self.changeset.changes)

    @strawberry.field(description="What changed, in a fixed order.")
    def changes(
        self, first: Annotated[int, strawberry.argument(description="How many at most.")] = 100
    ) -> list[Change]:
        """The changes."""
        if not 0 <= first <= CHANGES_MAX:
            raise Invalid(f"the first {first:,} changes", hint=f"ask for 0 to {CHANGES_MAX:,}")
        return [Change(view=self.view, change=each) for each in self.changeset.changes[:first]]


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

    @strawberry.field(description="Why, in its author's words.")
    def reason(self) -> str:
        """Why."""
        return self.line.reason

    @strawberry.field(description="The object before and after.")
    def change(self) -> Change:
        """What changed."""
        return Change(view=self.view, change=self.line.change)
