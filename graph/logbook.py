"""The log as people read it: newest first, page by page, and what moved a set.

Looking is bounded. A page that looked far and found little says so and where to go on, so asking
for the few changesets of one actor in a log of millions costs many small answers, never one that
takes for ever.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from graph.difference import Movers, difference
from graph.feed import Feed, elsewhere
from graph.model.change import ChangesetHeader, Cursor, change_of
from graph.model.cluster_set import ClusterSet
from graph.model.errors import Invalid, NotFound, RevisionExpired
from graph.model.names import Revision
from graph.model.ref import Ref
from graph.model.selector import Selector
from graph.model.view import FleetView, entity_of
from graph.record import LogEntry, Record, written_before
from graph.settings import GraphSettings

Seen = Callable[[LogEntry], Awaitable[LogEntry | None]]
"""What of an entry its reader may see; None if nothing. Working that out may take a while."""


async def _all_of(entry: LogEntry) -> LogEntry:
    return entry


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which changesets: of one actor, touching one object, and no more than may be seen."""

    actor: str | None = None
    touching: Ref | None = None
    """Those that wrote this very object; not those that wrote what is in it."""
    seen: Seen = _all_of
    by_changes: bool = False
    """Whether ``seen`` looks at the changes: then they are read together with the headers."""

    async def of(self, entry: LogEntry) -> LogEntry | None:
        """What is wanted of ``entry``. What may not be seen cannot be asked for either."""
        if not self._is_of_actor(entry.header):
            return None
        shown = await self.seen(entry)
        if shown is None or self.touching is None:
            return shown
        assert shown.changeset is not None, "who asks for an object reads the changes"
        found = change_of(shown.changeset.changes, self.touching)
        return None if found is None else shown

    def _is_of_actor(self, header: ChangesetHeader) -> bool:
        """Whether it was made by the actor, or for them."""
        names = (header.actor, header.on_behalf_of or header.actor)
        return self.actor is None or self.actor in names


@dataclass(frozen=True, slots=True)
class ChangesetPage:
    """Some changesets, newest first; their changes only where they had to be read."""

    entries: tuple[LogEntry, ...]
    end: Cursor | None
    """Where the next page goes on: the last changeset shown, or looked at when none was."""
    more: bool
    """Whether there are more, or may be: looking for them is bounded."""


@dataclass(frozen=True, slots=True)
class Diff:
    """A set at two revisions, and the changesets in between that can have moved it."""

    before: Revision
    after: Revision
    gained: ClusterSet
    lost: ClusterSet
    entries: tuple[LogEntry, ...]
    """Newest first. Each made a change that ``Movers`` names; not every one need have moved the
    set by itself."""
    complete: bool
    """False when there may be more such changesets than were looked for."""


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
        found: list[LogEntry] = []
        looked, last = 0, after
        newest = await self._newest(ref, view, after)
        changes = wanted.by_changes or wanted.touching is not None
        async with aclosing(self._back(newest, ref, changes=changes)) as entries:
            async for entry in entries:
                shown = await wanted.of(entry)
                if shown is not None and len(found) == first:
                    return _page(found, after, more=True)
                if shown is not None:
                    found.append(shown)
                looked, last = looked + 1, entry.header.cursor
                if looked == self.settings.changesets_looked_max and last.revision > 1:
                    return _page(found, last if len(found) < first else after, more=True)
        return _page(found, last, more=False)

    async def diff(
        self, selector: Selector, before: FleetView, after: FleetView, seen: Seen
    ) -> Diff:
        """What ``selector`` gained and lost between two views, and what can have done it."""
        start, stop = before.cursor.revision, after.cursor.revision
        moved = difference(before, after, selector)
        found: list[LogEntry] = []
        complete = True
        if moved:
            movers = Movers.of(selector, before, after, moved.gained | moved.lost)
            complete = await self._gather(found, movers, min(start, stop), max(start, stop))
        judged = [await seen(each) for each in found]
        shown = tuple(each for each in judged if each is not None)
        return Diff(start, stop, moved.gained, moved.lost, shown, complete)

    async def _gather(
        self, found: list[LogEntry], movers: Movers, oldest: Revision, newest: Revision
    ) -> bool:
        """Fill ``found`` with what ``movers`` made after ``oldest``; False if that is not all."""
        looked, reached = 0, newest + 1
        async with aclosing(self._back(newest, None, changes=False)) as entries:
            async for entry in entries:
                if entry.header.revision <= oldest:
                    return True
                if await self.record.has_change(entry, movers.include):
                    if len(found) == self.settings.changesets_page_max:
                        return False
                    found.append(entry)
                looked, reached = looked + 1, entry.header.revision
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
            header = await self.record.header(after.revision)
            if header.cursor != after:
                raise elsewhere(after)
            if ref is None:
                return Revision(after.revision - 1)
            changeset = await self.record.changeset(after.revision)
        except RevisionExpired:
            raise
        except NotFound as error:
            raise elsewhere(after) from error
        earlier = written_before(changeset, ref)
        return Revision(after.revision - 1) if earlier is None else earlier

    def _back(
        self, newest: Revision, ref: Ref | None, *, changes: bool
    ) -> AsyncGenerator[LogEntry]:
        recent = self.feed.recent()
        if ref is None:
            return self.record.backwards(newest, recent, changes=changes)
        return self.record.touching(ref, newest, recent)


def _page(found: list[LogEntry], otherwise: Cursor | None, *, more: bool) -> ChangesetPage:
    """A page that ends with the last changeset found, or ``otherwise`` if it is further back."""
    shown = found[-1].header.cursor if found else otherwise
    further = shown is not None and otherwise is not None and otherwise.revision < shown.revision
    return ChangesetPage(tuple(found), otherwise if further else shown, more)
