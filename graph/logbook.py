"""The log as people read it: newest first, page by page, and what moved a set.

Looking is bounded. A page that looked far and found little says so and where to go on, so asking
for the few changesets of one actor in a log of millions costs many small answers, never one that
takes for ever.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from graph.difference import Diff, Movers, difference
from graph.feed import Feed, elsewhere
from graph.model.change import Changeset, Cursor, change_of
from graph.model.errors import Invalid, NotFound, RevisionExpired
from graph.model.names import Revision
from graph.model.ref import Ref
from graph.model.selector import Selector
from graph.model.view import FleetView, entity_of
from graph.record import Record, written_before
from graph.settings import GraphSettings

Seen = Callable[[Changeset], Awaitable[Changeset | None]]
"""What of a changeset its reader may see; None if nothing. Working that out may take a while."""


async def _all_of(changeset: Changeset) -> Changeset:
    return changeset


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which changesets: of one actor, touching one object, and no more than may be seen."""

    actor: str | None = None
    touching: Ref | None = None
    """Those that wrote this very object; not those that wrote what is in it."""
    seen: Seen = _all_of

    async def of(self, changeset: Changeset) -> Changeset | None:
        """What is wanted of ``changeset``. What may not be seen cannot be asked for either."""
        shown = await self.seen(changeset)
        if shown is None or not self._is_of_actor(shown):
            return None
        if self.touching is None or change_of(shown.changes, self.touching) is not None:
            return shown
        return None

    def _is_of_actor(self, changeset: Changeset) -> bool:
        """Whether it was made by the actor, or for them."""
        names = (changeset.actor, changeset.on_behalf_of or changeset.actor)
        return self.actor is None or self.actor in names


@dataclass(frozen=True, slots=True)
class ChangesetPage:
    """Some changesets, newest first."""

    changesets: tuple[Changeset, ...]
    end: Cursor | None
    """Where the next page goes on: the last changeset shown, or looked at when none was."""
    more: bool
    """Whether there are more, or may be: looking for them is bounded."""


@dataclass(frozen=True, slots=True)
class Logbook:
    """Reads the record backwards, its newest part from memory."""

    record: Record
    feed: Feed
    settings: GraphSettings

    async def page(
        self, wanted: Wanted, view: FleetView, *, first: int, after: Cursor | None
    ) -> ChangesetPage:
        """The next ``first`` changesets that are older than ``after``, or than ``view`` shows."""
        if not 0 <= first <= self.settings.changesets_page_max:
            raise Invalid(
                f"a page of {first:,} changesets",
                hint=f"ask for 0 to {self.settings.changesets_page_max:,}",
            )
        ref = wanted.touching
        if ref is not None and entity_of(view, ref) is None:
            ref = None  # no short cut, which would tell that there is something not to be seen
        found: list[Changeset] = []
        looked, last = 0, after
        newest = await self._newest(ref, view, after)
        async with aclosing(self._back(newest, ref)) as changesets:
            async for changeset in changesets:
                shown = await wanted.of(changeset)
                if shown is not None and len(found) == first:
                    return _page(found, after, more=True)
                if shown is not None:
                    found.append(shown)
                looked, last = looked + 1, changeset.cursor
                if looked == self.settings.changesets_looked_max and last.revision > 1:
                    return _page(found, last if len(found) < first else after, more=True)
        return _page(found, last, more=False)

    async def diff(
        self, selector: Selector, before: FleetView, after: FleetView, seen: Seen
    ) -> Diff:
        """What ``selector`` gained and lost between two views, and what can have done it."""
        start, stop = before.cursor.revision, after.cursor.revision
        moved = difference(before, after, selector)
        found: list[Changeset] = []
        complete = True
        if moved:
            movers = Movers.of(selector, before, after, moved.gained | moved.lost)
            complete = await self._gather(found, movers, min(start, stop), max(start, stop))
        judged = [await seen(each) for each in found]
        shown = tuple(each for each in judged if each is not None)
        return Diff(start, stop, moved.gained, moved.lost, shown, complete)

    async def _gather(
        self, found: list[Changeset], movers: Movers, oldest: Revision, newest: Revision
    ) -> bool:
        """Fill ``found`` with what ``movers`` made after ``oldest``; False if that is not all."""
        looked, reached = 0, newest + 1
        async with aclosing(self._back(newest, None)) as changesets:
            async for changeset in changesets:
                if changeset.revision <= oldest:
                    return True
                if any(map(movers.include, changeset.changes)):
                    if len(found) == self.settings.changesets_page_max:
                        return False
                    found.append(changeset)
                looked, reached = looked + 1, changeset.revision
                if looked == self.settings.changesets_looked_max:
                    break
        return reached == oldest + 1

    async def _newest(self, ref: Ref | None, view: FleetView, after: Cursor | None) -> Revision:
        """The revision a page begins with."""
        if after is None:
            entity = None if ref is None else entity_of(view, ref)
            return view.cursor.revision if entity is None else entity.changed
        if after.revision == 0:
            return Revision(0)
        try:
            changeset = await self.record.changeset(after.revision)
        except RevisionExpired:
            raise
        except NotFound as error:
            raise elsewhere(after) from error
        if changeset.cursor != after:
            raise elsewhere(after)
        earlier = None if ref is None else written_before(changeset, ref)
        return Revision(after.revision - 1) if earlier is None else earlier

    def _back(self, newest: Revision, ref: Ref | None) -> AsyncGenerator[Changeset]:
        recent = self.feed.recent()
        if ref is None:
            return self.record.backwards(newest, recent)
        return self.record.touching(ref, newest, recent)


def _page(found: list[Changeset], otherwise: Cursor | None, *, more: bool) -> ChangesetPage:
    """A page that ends with the last changeset found, or ``otherwise`` if it is further back."""
    shown = found[-1].cursor if found else otherwise
    further = shown is not None and otherwise is not None and otherwise.revision < shown.revision
    return ChangesetPage(tuple(found), otherwise if further else shown, more)
