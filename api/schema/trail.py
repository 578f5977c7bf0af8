"""Trails: where a follower is in history, and what it has to be told to come further.

A trail belongs to one subscription field with its arguments, for one access. It is walked in two
ways that say the same: ``begin`` and ``to`` catch up at the walker's own pace, ``take`` goes along
with the log. The hub walks many subscribers on one trail; this module does not know of them.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Hashable,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from api.context import Context
from api.schema.change import Changeset as ShownChangeset
from api.schema.message import CaughtUp, Gained, Lost, Progress, ResyncRequired, Snapshot
from api.schema.names import Cursor as ShownCursor
from api.schema.selector import SelectorInput, read_selector
from graph.access import access_of, reader_scope
from graph.difference import MovingSet
from graph.model import errors
from graph.model.access import Actor, Grant
from graph.model.change import Change, Changeset, Cursor
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.errors import NotFound
from graph.model.names import Revision
from graph.model.selector import Selector
from graph.model.view import FleetView
from graph.record import LogEntry
from graph.rendering import RenderingStep


@dataclass(frozen=True, slots=True)
class Message:
    """Something to say: a value for the subscription's field, and the step it belongs to."""

    value: object
    context: Context
    revision: Revision
    """Of the step. Who has come this far has been told already."""
    cursor: Cursor | None
    """Where to resume behind it."""
    last: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a trail is: what another trail has to be told to be there too."""

    cursor: Cursor
    context: Context
    held: ClusterSet = EMPTY
    rendered: RenderingStep | None = None


class Trail(ABC):
    """Where one follower, or many of one shape, are."""

    after: Cursor | None
    """Where to begin; None for now. May be set until ``begin``."""
    place: Place
    paced: ClassVar[bool] = False
    """Whether a change may take so many messages that readers are waited for between them."""

    def __init__(self, context: Context, after: str | None) -> None:
        self.after = None if after is None else Cursor.parse(after)
        self.place = Place(context.view.cursor, context)
        self._spoke_seconds = time.monotonic()

    @property
    @abstractmethod
    def key(self) -> Hashable:
        """What the arguments mean: trails with equal keys say the same about the same change."""

    @abstractmethod
    def begin(self) -> AsyncGenerator[Message]:
        """What a new subscriber is told first, up to about now."""

    @abstractmethod
    def to(self, goal: Place) -> AsyncGenerator[Message]:
        """What is between here and ``goal``, which is not behind."""

    @abstractmethod
    def take(self, changeset: Changeset) -> Iterable[Message]:
        """What is to be said now that ``changeset`` is there; nothing about what is past.

        The place is the new one when it returns, also where messages are made one after the other.
        """

    def resync(self, error: errors.TrellisError) -> Message:
        """The last message of a trail that cannot go on."""
        context = self.place.context
        head = context.engine.view.cursor
        value = ResyncRequired(message=error.message, hint=error.hint, head=ShownCursor(str(head)))
        return Message(value, context, head.revision, None, last=True)

    def __aiter__(self) -> AsyncIterator[Any]:
        """What it begins with, as values; graphql-core asks that a subscription can be iterated."""
        return (message.value async for message in self.begin())

    def _now(self) -> Context:
        """The newest view, as this trail's access shows it."""
        context = self.place.context
        view = context.engine.view
        return replace(context, view=view, seen=context.engine.seen(context.access, view))

    async def _reached(self, after: Cursor) -> None:
        """Wait until this process has come as far as ``after``."""
        context = self.place.context
        if after.revision > context.engine.view.cursor.revision:
            await context.engine.at_least(
                after.revision, timeout_seconds=context.settings.at_least_seconds
            )

    def _has_been_quiet(self) -> bool:
        """Whether it is time to say how far one is; then the wait begins anew."""
        now = time.monotonic()
        if now - self._spoke_seconds < self.place.context.settings.progress_seconds:
            return False
        self._spoke_seconds = now
        return True


class ChangeTrail(Trail):
    """Every changeset, as far as it may be seen."""

    @property
    def key(self) -> Hashable:
        """There is one log."""
        return None

    async def begin(self) -> AsyncGenerator[Message]:
        """What was missed since ``after``, then how far that is."""
        said: Cursor | None = None
        if self.after is not None:
            await self._reached(self.after)
            self.place = replace(self.place, cursor=self.after)
            async with aclosing(self._walk(None)) as messages:
                async for message in messages:
                    said = message.cursor
                    yield message
                    if message.last:
                        return
        if said != self.place.cursor:
            yield self._progress()

    async def to(self, goal: Place) -> AsyncGenerator[Message]:
        """The changesets up to ``goal``."""
        async with aclosing(self._walk(goal.cursor)) as messages:
            async for message in messages:
                yield message

    def take(self, changeset: Changeset) -> Sequence[Message]:
        """The changeset, or now and then that there was nothing to see."""
        if changeset.revision <= self.place.cursor.revision:
            return ()
        found = self._step(changeset)
        if found is not None:
            self._spoke_seconds = time.monotonic()
            return (found,)
        return (self._progress(),) if self._has_been_quiet() else ()

    async def _walk(self, goal: Cursor | None) -> AsyncGenerator[Message]:
        """Up to ``goal``, or to the newest."""
        engine = self.place.context.engine
        if self.place.cursor == (goal or engine.view.cursor):
            return
        async with aclosing(engine.follow(self.place.cursor)) as log:
            async for changeset in log:
                if _gives_or_takes(changeset.changes, self.place.context.access.actor):
                    changed = "what you may see has changed since"
                    yield self.resync(errors.ResyncRequired(changed, hint="start again"))
                    return
                message = self._step(changeset)
                if message is not None:
                    yield message
                end = (goal or engine.view.cursor).revision
                if changeset.revision >= end:
                    return

    def _step(self, changeset: Changeset) -> Message | None:
        context = self._now()
        self.place = Place(changeset.cursor, context)
        shown = context.engine.seen_changeset(changeset, context.access)
        if shown is None:
            return None
        value = ShownChangeset(context=context, view=context.seen, entry=LogEntry.of(shown))
        return Message(value, context, changeset.revision, changeset.cursor)

    def _progress(self) -> Message:
        cursor = self.place.cursor
        value = Progress(cursor=ShownCursor(str(cursor)))
        return Message(value, self.place.context, cursor.revision, cursor)


class SetTrail(Trail):
    """The clusters of one selector."""

    def __init__(self, context: Context, where: SelectorInput, after: str | None) -> None:
        super().__init__(context, after)
        self._where = where
        self._moving = MovingSet(self._read, context.seen, context.engine.resolve)

    @property
    def key(self) -> Hashable:
        """The selector's meaning: the same text may come to mean something else."""
        return self._moving.selector

    async def begin(self) -> AsyncGenerator[Message]:
        """The whole set, or what it gained and lost since ``after``; then that this is all."""
        context, after = self.place.context, self.after
        if after is not None:
            await self._reached(after)
        steps = context.engine.follow_set(
            self._read,
            after,
            lambda view: context.engine.seen(context.access, view),
            lambda view: reader_scope(context.access.actor, view),
        )
        async with aclosing(steps):
            step = await anext(steps)
        # nothing else has run since the step was made, so the newest view is still its view
        context = self._now()
        self._moving = MovingSet(self._read, context.seen, context.engine.resolve)
        self.place = Place(step.cursor, context, self._moving.held)
        if step.whole:
            for part in self._parts(step.gained):
                yield Message(
                    Snapshot(context=context, numbers=part, cursor=None),
                    context,
                    step.cursor.revision,
                    None,
                )
        elif after is not None and (step.gained or step.lost):
            before = await self._before(after)
            for message in self._moved(step.gained, step.lost, before, after, self.place):
                yield message
        yield self._caught_up(self.place)

    async def to(self, goal: Place) -> AsyncGenerator[Message]:
        """What the set gained and lost on the way to ``goal``."""
        here, self.place = self.place, goal
        gained, lost = goal.held - here.held, here.held - goal.held
        for message in self._moved(gained, lost, here.context.seen, here.cursor, goal):
            yield message

    def take(self, changeset: Changeset) -> Sequence[Message]:
        """What moved up to the newest view, which may be further than ``changeset``."""
        here = self.place
        if changeset.revision <= here.cursor.revision:
            return ()
        context = self._now()
        cursor = context.view.cursor
        next_one = changeset.revision == cursor.revision == here.cursor.revision + 1
        moved = self._moving.move(context.seen, [changeset] if next_one else None)
        self.place = Place(cursor, context, self._moving.held)
        if moved:
            self._spoke_seconds = time.monotonic()
            return list(
                self._moved(moved.gained, moved.lost, here.context.seen, here.cursor, self.place)
            )
        return (self._caught_up(self.place),) if self._has_been_quiet() else ()

    def _moved(
        self, gained: ClusterSet, lost: ClusterSet, before: FleetView, since: Cursor, goal: Place
    ) -> Iterator[Message]:
        """One step, in as many messages as it takes; only the last says how far it has come."""
        parts = [(part, True) for part in self._parts(gained)]
        parts += [(part, False) for part in self._parts(lost)]
        for position, (numbers, came) in enumerate(parts, start=1):
            cursor = goal.cursor if position == len(parts) else since
            shown = ShownCursor(str(cursor))
            value: object = Lost(before=before, numbers=numbers, cursor=shown)
            if came:
                value = Gained(context=goal.context, numbers=numbers, cursor=shown)
            yield Message(value, goal.context, goal.cursor.revision, cursor)

    def _caught_up(self, place: Place) -> Message:
        value = CaughtUp(cursor=ShownCursor(str(place.cursor)), count=len(place.held))
        return Message(value, place.context, place.cursor.revision, place.cursor)

    def _parts(self, chosen: ClusterSet) -> Iterator[Sequence[Any]]:
        size = self.place.context.settings.chunk_clusters
        numbers = chosen.numbers()
        return (numbers[start : start + size] for start in range(0, len(numbers), size))

    async def _before(self, after: Cursor) -> FleetView:
        """What was seen at ``after``: names of what is lost are read from there."""
        context = self.place.context
        try:
            then = await context.engine.as_of(after.revision)
        except NotFound as error:
            raise errors.ResyncRequired(error.message, hint="start again") from error
        return context.engine.seen(context.access, then)

    def _read(self, view: FleetView) -> Selector:
        return read_selector(self._where, self.place.context, view)


def _gives_or_takes(changes: Sequence[Change], actor: Actor) -> bool:
    """Whether any of ``changes`` is of a grant to ``actor``."""
    states = (state for change in changes for state in (change.before, change.after))
    grants = [state for state in states if isinstance(state, Grant)]
    return bool(grants) and access_of(actor, grants).key != access_of(actor, []).key
