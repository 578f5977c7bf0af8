"""What comes next: the log, and sets, followed from a cursor for as long as one likes.

Nothing is queued for a follower. The log is read from memory where that is recent and from the
store otherwise. A set is followed by its difference to what the follower has, so a slow one gets
fewer and larger steps and ends with the same set.

A follower of a set that returns with a cursor has, by promise, the set its selector chose there
under what its reader might see there. Where that can no longer be known, because the log is too
short, names have come to mean something else, or what the reader may see was granted otherwise, it
is told to start again: never a guess.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

from graph.difference import MovingSet, Read, Resolve
from graph.feed import Feed, elsewhere
from graph.index.snapshot import Snapshot
from graph.model.change import Changeset, Cursor
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.errors import NotFound, ResyncRequired, TrellisError
from graph.model.view import FleetView
from graph.pulse import Pulse
from graph.settings import GraphSettings
from graph.store.port import Store
from graph.timeline import Timeline

ScopeOf = Callable[[Snapshot], FleetView]
"""What of a revision a follower may see."""

GrantedBy = Callable[[FleetView], object]
"""What the grants of a revision gave a follower: equal where it saw through the same scope."""


def all_grants(view: FleetView) -> object:
    """Every grant: for a follower of whom it is not known which are theirs."""
    return tuple(view.grants())


@dataclass(frozen=True, slots=True)
class SetStep:
    """What a set gained and lost on the way to ``cursor``.

    A step without either says how far the follower has come, so that it may return to there.
    """

    cursor: Cursor
    gained: ClusterSet
    lost: ClusterSet
    whole: bool = False
    """``gained`` is the whole set: what the follower had before counts no longer."""


@dataclass(frozen=True, slots=True)
class Following:
    """Follows one engine's log."""

    store: Store
    timeline: Timeline
    feed: Feed
    pulse: Pulse
    settings: GraphSettings
    catch_up: Callable[[], Awaitable[None]]

    async def changesets(self, after: Cursor) -> AsyncGenerator[Changeset]:
        """Every changeset after ``after``, in order, until the feed is closed."""
        cursor = after
        if cursor.revision > self.timeline.head.cursor.revision:
            await self.catch_up()
        while not self.feed.closed:
            head = self.feed.head
            recent = self.feed.after(cursor)
            if recent is None:
                async for changeset in self.store.changesets(after=cursor):
                    if changeset.revision > self.timeline.head.cursor.revision:
                        break
                    cursor = changeset.cursor
                    yield changeset
            else:
                for changeset in recent:
                    cursor = changeset.cursor
                    yield changeset
            await self._news(head)

    async def steps(
        self,
        read: Read,
        after: Cursor | None,
        scope_of: ScopeOf,
        resolve: Resolve,
        granted_by: GrantedBy = all_grants,
    ) -> AsyncGenerator[SetStep]:
        """The set that ``read`` stands for, as ``scope_of`` shows it, until the feed is closed.

        Without ``after`` the first step is the whole set, otherwise what moved since then.
        """
        restarts = self.feed.restarts
        then = None if after is None else await self.snapshot(after)
        self._check(restarts)
        if then is not None and granted_by(then) != granted_by(self.timeline.head):
            raise _changed("grants", then.cursor)
        moving, step = self._begin(read, then, scope_of, resolve)
        yield step
        told = at = step.cursor
        while True:
            await self._news(at)
            if self.feed.closed:
                return
            self._check(restarts)
            view = self.timeline.head
            moved = moving.move(scope_of(view), self.feed.after(at))
            at = view.cursor
            if moved or at.revision - told.revision >= self.settings.snapshots_kept_max:
                told = at
                yield SetStep(at, moved.gained, moved.lost)

    def _begin(
        self, read: Read, then: Snapshot | None, scope_of: ScopeOf, resolve: Resolve
    ) -> tuple[MovingSet, SetStep]:
        view = self.timeline.head
        now = scope_of(view)
        if then is None:
            moving = MovingSet(read, now, resolve)
            return moving, SetStep(view.cursor, moving.held, EMPTY, whole=True)
        read(now)  # what cannot be read now is refused as any question would be
        before = scope_of(then)
        try:
            moving = MovingSet(read, before, resolve)
        except TrellisError as error:
            raise _changed("names in the selector", then.cursor) from error
        moved = moving.move(now, None)
        return moving, SetStep(view.cursor, moved.gained, moved.lost)

    async def snapshot(self, after: Cursor) -> Snapshot:
        """The fleet where a follower left it; ``ResyncRequired`` if that cannot be known."""
        if after.revision > self.timeline.head.cursor.revision:
            await self.catch_up()
        behind = self.timeline.head.cursor.revision - after.revision
        if behind > self.settings.resume_changesets_max:
            raise ResyncRequired(
                f"{after} is {behind:,} changesets behind", hint="start again from a snapshot"
            )
        try:
            then = await self.timeline.at(after.revision)
        except NotFound as error:
            raise elsewhere(after) from error
        if then.cursor != after:
            raise elsewhere(after)
        return then

    def _check(self, restarts: int) -> None:
        if self.feed.restarts != restarts:
            raise ResyncRequired("the record was replaced", hint="start again from a snapshot")

    async def _news(self, head: Cursor) -> None:
        """Wait until ``head`` is the newest no longer, or the feed is closed."""
        while not await self.feed.more_than(head, timeout_seconds=self.pulse.wait_seconds):
            await self.pulse.look()


def _changed(what: str, since: Cursor) -> ResyncRequired:
    return ResyncRequired(
        f"{what} have changed since revision {since.revision:,}",
        hint="start again from a snapshot",
    )
