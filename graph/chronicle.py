"""The half of the engine that reads the log: pages, differences, history, and what comes next.

Under an access nothing is told but what may be seen; without one the caller is trusted.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from graph.access import Access
from graph.checkpoints import Checkpoints
from graph.difference import Read
from graph.disclosure import STRETCH
from graph.feed import Feed
from graph.following import Following, GrantedBy, ScopeOf, SetStep, all_grants
from graph.index.snapshot import Snapshot
from graph.logbook import ChangesetPage, Diff, Logbook, Seen, Wanted
from graph.model.change import (
    Change,
    Changeset,
    ChangesetHeader,
    Cursor,
    Relation,
    change_of,
)
from graph.model.errors import NotFound
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.publication import Publication
from graph.model.ref import Kind, Ref
from graph.model.selector import Selector
from graph.model.view import FleetView, entity_of
from graph.pulse import Pulse
from graph.questions import Questions
from graph.record import HistoryLine, LogEntry, Record, line_of
from graph.rendering import Rendering
from graph.settings import GraphSettings
from graph.states import States
from graph.store.port import Store
from graph.timeline import Timeline
from graph.trace import Trace


class Chronicle(Questions):
    """Questions about the views of one store, and about how they came to be."""

    def __init__(
        self,
        view: Snapshot,
        store: Store,
        *,
        settings: GraphSettings,
        archive: Path | None,
        checkpoints: Path | None,
        trace: Trace,
    ) -> None:
        self._feed = Feed(view.cursor, kept_max=settings.changesets_kept_max)
        states = States(settings.states_kept_max, self._feed.after)
        self._checkpoints = Checkpoints(checkpoints, store, settings)
        timeline = Timeline(view, store, settings, self._checkpoints, trace)
        super().__init__(timeline, states, settings)
        self._store = store
        self._record = Record(store, archive, self._feed.at)
        self._pulse = Pulse(self.catch_up, poll_seconds=settings.poll_seconds)
        self._logbook = Logbook(self._record, self._feed, settings)
        self._following = Following(
            store, self._timeline, self._feed, self._pulse, settings, self.catch_up
        )
        self.rendering = Rendering(self._following, store, self._timeline, self._feed, self._states)
        """What runs where, followed by whoever renders it."""

    @abstractmethod
    async def catch_up(self) -> None:
        """Take in what other processes have written."""

    # what comes next

    def follow(self, after: Cursor) -> AsyncGenerator[Changeset]:
        """Every changeset after ``after``, in order, for ever; ResyncRequired if that is gone.

        Nothing is queued per follower: a slow one reads from the store what memory has let go.
        """
        return self._following.changesets(after)

    def follow_set(
        self,
        selector: Selector | str | Read,
        after: Cursor | None = None,
        scope_of: ScopeOf | None = None,
        granted_by: GrantedBy = all_grants,
    ) -> AsyncGenerator[SetStep]:
        """A set and then its moves, for ever; after a cursor, the moves since then.

        The selector is bound when the stream begins, so it follows its groups through renames and
        moves. ``ResyncRequired`` where what the follower has cannot be known for certain: see
        ``graph.following``. Without ``scope_of`` the follower sees all, whatever is granted; with
        it ``granted_by`` tells whether it saw through the same scope where it left.
        """
        read, resolve = self._read(selector), self._answers.resolve
        if scope_of is None:
            return self._following.steps(read, after, _whole, resolve, lambda _: None)
        return self._following.steps(read, after, scope_of, resolve, granted_by)

    async def keep_up(self) -> None:
        """Take in what other processes write as they write it, until the engine is closed.

        For the background of a process that serves. It outlives a store that is away, which is
        said once; whoever stops it before closing the engine cancels it.
        """
        await self._pulse.keep(self._feed)

    @property
    def age_seconds(self) -> float:
        """How far behind the store this view may be: the time since the last look at it began."""
        return self._pulse.age_seconds

    async def identity(self) -> str:
        """What stands for the store in cursors."""
        return await self._store.identity()

    async def relation(self, cursor: Cursor, commit: str = "") -> Relation:
        """How a cursor that somebody kept relates to this history.

        Where the log no longer reaches back to it, the archive is asked; and ``commit``, where
        somebody published it, is known to be of this history if it was reported here.
        """
        if cursor.revision > self.view.cursor.revision:
            await self.catch_up()
        found = await self._store.relation(cursor)
        if found is not Relation.FORGOTTEN:
            return found
        if commit and any(each.commit == commit for each in await self._store.publications()):
            return Relation.CONTAINED
        try:
            archived = await self._record.changeset(cursor.revision)
        except NotFound:
            return found
        return Relation.CONTAINED if archived.cursor == cursor else Relation.OTHER

    # what became of it

    async def publications(self) -> tuple[Publication, ...]:
        """What was last brought out under each name, by name.

        What is held back of it names applications, and is for those who see all of them.
        """
        return await self._store.publications()

    # what was

    async def changesets(
        self,
        *,
        first: int,
        after: Cursor | None = None,
        actor: str | None = None,
        touching: Ref | None = None,
        access: Access | None = None,
    ) -> ChangesetPage:
        """A page of the log, newest first; ``after`` is where the page before it ended.

        Whoever sees all gets headers, and reads the changes of one with ``changeset``; under a
        scope the changes have to be read to tell what may be seen. ``touching`` asks for those
        that wrote this very object.
        """
        if after is not None and after.revision > self.view.cursor.revision:
            await self.catch_up()
        view = self.view if access is None else self.seen(access)
        by_changes = access is not None and not access.sees_all
        wanted = Wanted(actor, touching, self._shown(access), by_changes)
        return await self._logbook.page(wanted, view, first=first, after=after)

    async def diff(
        self,
        selector: Selector | str,
        before: FleetView,
        after: FleetView | None = None,
        access: Access | None = None,
    ) -> Diff:
        """What a selector, read at ``after``, gained and lost since ``before``, and by what."""
        now = self.view if after is None else after
        shown = self._shown(access)
        return await self._logbook.diff(self._read(selector)(now), before, now, shown)

    async def changeset(self, revision: Revision) -> Changeset:
        """One changeset, whole; ask ``seen_changeset`` before it is shown."""
        return await self._record.changeset(revision)

    async def history(self, ref: Ref, access: Access | None = None) -> list[HistoryLine]:
        """The changes of one object, newest first, bounded, as far back as the record reaches."""
        entity = entity_of(self.view if access is None else self.seen(access), ref)
        if entity is None:
            raise NotFound(f"{ref} is not in the fleet", hint="its history may be found by name")
        return await self._history(ref, entity.changed, access)

    async def history_of_gone(
        self, kind: Kind, name: str, access: Access | None = None
    ) -> list[HistoryLine]:
        """The history of something that is no longer there, found by its last name."""

        def shows(changeset: Changeset, change: Change) -> bool:
            return self._seen_line(changeset, change, access) is not None

        head = self.view.cursor.revision
        return await self._history(*await self._record.find_gone(kind, name, head, shows), access)

    async def member_since(
        self, cluster: ClusterNumber, group: GroupNumber, access: Access | None = None
    ) -> HistoryLine | None:
        """How a cluster came to be a direct member of a group; None if it is not one."""
        view = self.view if access is None else self.seen(access)
        entity = view.cluster(cluster)
        if entity is None or group not in entity.memberships:
            return None
        found = await self._record.member_since(entity, group)
        return None if found is None else self._seen_line(*found, access)

    async def written_by(
        self, ref: Ref, revision: Revision, access: Access | None = None
    ) -> HistoryLine | None:
        """How a revision wrote an object; None if it did not, or that can no longer be told."""
        try:
            changeset = await self._record.changeset(revision)
        except NotFound:
            return None
        change = change_of(changeset.changes, ref)
        return None if change is None else self._seen_line(changeset, change, access)

    async def _history(
        self, ref: Ref, newest: Revision, access: Access | None
    ) -> list[HistoryLine]:
        lines: list[HistoryLine | None] = []
        async with aclosing(self._record.history(ref, newest)) as changes:
            async for changeset, change in changes:
                lines.append(self._seen_line(changeset, change, access))
                if len(lines) >= self._settings.history_max:
                    break
        return [line for line in lines if line is not None]

    def _seen_line(
        self, changeset: Changeset, change: Change, access: Access | None
    ) -> HistoryLine | None:
        if access is None:
            return line_of(changeset, change)
        sight = self._sight(changeset, access)
        seen = None if sight is None else sight.of(change)
        return None if seen is None else line_of(changeset, seen)

    def _read(self, selector: Selector | str | Read) -> Read:
        if callable(selector):
            return selector
        if isinstance(selector, str):
            return lambda view: self._answers.parse(selector, view)
        return lambda _: selector

    def _shown(self, access: Access | None) -> Seen:
        """What may be seen of each changeset of a page; now and then others have their turn."""
        judged = 0

        async def shown(entry: LogEntry) -> LogEntry | None:
            nonlocal judged
            if access is None:
                return entry
            if entry.changeset is None and access.sees_all:
                return self._seen_header(entry.header, access)
            changeset = entry.changeset or await self._record.changeset(entry.header.revision)
            sight = self._sight(changeset, access)
            if sight is None:
                return None
            judged += len(changeset.changes)
            for _ in sight.stretches():
                await asyncio.sleep(0)
            if judged >= STRETCH:
                judged = 0
                await asyncio.sleep(0)
            seen = sight.of_all()
            return None if seen is None else LogEntry.of(seen)

        return shown

    def _seen_header(self, header: ChangesetHeader, access: Access) -> LogEntry | None:
        """What somebody who sees the whole fleet may see of a changeset, without its changes."""
        if not self._is_ours(header.cursor):
            return None
        if access.reads_grants or not header.grant_count:
            return LogEntry(header)
        left = header.change_count - header.grant_count
        return LogEntry(replace(header, change_count=left, grant_count=0)) if left else None


def _whole(snapshot: Snapshot) -> FleetView:
    return snapshot
