"""The record as it travels: changes and changesets."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Annotated

import strawberry

from api.context import Context
from api.schema.field_change import FieldChange, field_changes, group_path
from api.schema.listing import LISTED, First, behind, checked_first
from api.schema.names import Cursor, GroupPath, Instant, Revision
from api.schema.ref import without_suffix
from graph.describe import describe
from graph.feed import elsewhere
from graph.model.change import Change as CoreChange
from graph.model.change import Entity
from graph.model.inventory import Group
from graph.model.view import FleetView
from graph.record import LogEntry

CHANGES_MAX = 10_000
"""Changes shown of one changeset."""

AfterId = Annotated[
    strawberry.ID | None,
    strawberry.argument(description="Begin behind the object with this id."),
]


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
    NAMESPACE = strawberry.enum_value("namespace", description="Applications that travel together.")
    APPLICATION = strawberry.enum_value("application", description="What runs.")
    ASSIGNMENT = strawberry.enum_value(
        "assignment", description="Applications, and the clusters they are for."
    )
    PROHIBITION = strawberry.enum_value(
        "prohibition", description="Applications, and clusters they may not run on."
    )
    LAYER = strawberry.enum_value("layer", description="Values, and where they apply.")
    POLICY = strawberry.enum_value("policy", description="Rules for the workload.")


@strawberry.type(description="One object, before and after.")
class Change:
    """A change as it is shown."""

    view: strawberry.Private[FleetView]
    change: strawberry.Private[CoreChange]
    id_suffix: strawberry.Private[str]

    @strawberry.field(
        description="Which change: the id of the object at the revision that made it. `node` reads"
        " the object there, as the change left it."
    )
    def id(self) -> strawberry.ID:
        """Which change of which object."""
        return strawberry.ID(f"{self.change.ref}{self.id_suffix}")

    @strawberry.field(description="The object's global id; `node` reads it as it is today.")
    def object_id(self) -> strawberry.ID:
        """Which object."""
        return strawberry.ID(str(self.change.ref))

    @strawberry.field(description="What kind of object it is.")
    def kind(self) -> ObjectKind:
        """The kind of object."""
        return ObjectKind(self.change.ref.kind.value)

    @strawberry.field(description="The object's name at the time.")
    def name(self) -> str:
        """The name people know it by."""
        return self._entity().name

    @strawberry.field(
        description="Of a group: where it is, or was below its parent if it is gone. Null for other"
        " kinds, and where that cannot be seen."
    )
    def path(self) -> GroupPath | None:
        """The path of a group."""
        entity = self._entity()
        path = group_path(entity, self.view) if isinstance(entity, Group) else None
        return None if path is None else GroupPath(path)

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

    @strawberry.field(
        description="What changed, field by field, for programs. Groups are paths and selectors are"
        " text, as far as they are there and may be seen."
    )
    def fields(self) -> list[FieldChange]:
        """The change as a program reads it."""
        return field_changes(self.change, self.view)

    def _entity(self) -> Entity:
        entity = self.change.after if self.change.after is not None else self.change.before
        assert entity is not None, "a change has a before or an after"
        return entity


def changes_of(
    view: FleetView, changes: Sequence[CoreChange], id_suffix: str, first: int, after: str | None
) -> list[Change]:
    """A part of ``changes``, which have a fixed order."""
    count = checked_first(first, CHANGES_MAX, "changes")
    shown = behind_object(changes, after)[:count]
    return [Change(view=view, change=each, id_suffix=id_suffix) for each in shown]


def behind_object(changes: Sequence[CoreChange], after: str | None) -> Sequence[CoreChange]:
    """The changes behind that of the object whose id is ``after``, whatever it is read at."""
    after = None if after is None else without_suffix(after)
    return behind(changes, after, lambda change: str(change.ref))


@strawberry.type(description="One revision: who, when, why, and what changed.")
class Changeset:
    """A changeset as it is shown; ``entry`` holds only what the actor may see."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]
    entry: strawberry.Private[LogEntry]

    @strawberry.field(description="Its revision.")
    def revision(self) -> Revision:
        """The position in the log."""
        return Revision(self.entry.header.revision)

    @strawberry.field(description="Its place in history: what a follower resumes after.")
    def cursor(self) -> Cursor:
        """The cursor of this changeset."""
        return Cursor(str(self.entry.header.cursor))

    @strawberry.field(description="When it was made.")
    def at(self) -> Instant:
        """The moment."""
        return Instant(self.entry.header.at)

    @strawberry.field(description="Who made it.")
    def actor(self) -> str:
        """Who."""
        return self.entry.header.actor

    @strawberry.field(
        description="The subject for whom, and under whose grants, the actor made it; null where"
        " they made it for nobody else."
    )
    def on_behalf_of(self) -> str | None:
        """For whom."""
        return self.entry.header.on_behalf_of or None

    @strawberry.field(description="Why, in its author's words.")
    def reason(self) -> str:
        """Why."""
        return self.entry.header.reason

    @strawberry.field(
        description="How many applications on clusters it took away with its author's leave,"
        " counting each application once for every cluster; 0 where no expectedLoss was stated."
    )
    def accepted_loss(self) -> int:
        """The loss under what its author stated."""
        return self.entry.header.accepted_loss

    @strawberry.field(description="How many objects changed, of those that may be seen.")
    def change_count(self) -> int:
        """How many changes there are."""
        return self.entry.header.change_count

    @strawberry.field(description="What changed, in a fixed order.")
    def changes(self, first: First = LISTED, after: AfterId = None) -> list[Change]:
        """The changes; only where nobody has read them yet does this wait."""
        changeset = self.entry.changeset
        if changeset is None:
            return self._read_changes(first, after)  # type: ignore[return-value]  # the executor awaits it
        return self._shown(changeset.changes, first, after)

    async def _read_changes(self, first: int, after: str | None) -> list[Change]:
        engine, header = self.context.engine, self.entry.header
        changeset = await engine.changeset(header.revision)
        if changeset.cursor != header.cursor:
            raise elsewhere(header.cursor)
        seen = engine.seen_changeset(changeset, self.context.access)
        return self._shown(() if seen is None else seen.changes, first, after)

    def _shown(self, changes: Sequence[CoreChange], first: int, after: str | None) -> list[Change]:
        suffix = f"@{self.entry.header.revision}"
        return changes_of(self.view, changes, suffix, first, after)
