"""The façade: one fleet, asked and changed.

Reads are answered from an immutable snapshot and never wait for the store; whoever asks several
things at one revision holds on to one ``view``. Writes go through one writer. Everything that
follows the fleet follows its log.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from graph.decide.batch import check_batch, decide_batch
from graph.decide.revert import RevertPlan, Scope, plan_revert
from graph.feed import Feed
from graph.impact import Impact, impact
from graph.index.builder import edit
from graph.index.file import write_snapshot
from graph.index.snapshot import Snapshot
from graph.model.change import Change, Changeset, Cursor, Receipt
from graph.model.command import Batch
from graph.model.errors import (
    Invalid,
    NotFound,
    ResyncRequired,
    Unavailable,
)
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.ref import Kind, Ref
from graph.model.view import entity_of
from graph.questions import Questions
from graph.record import HistoryLine, Record
from graph.settings import GraphSettings
from graph.start import Progress, from_facts, from_file, frozen
from graph.store.port import Store
from graph.timeline import Timeline
from graph.verify import Verification, verify
from graph.writer import Step, Writer

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a batch would do, computed and not written."""

    base: Cursor
    changes: tuple[Change, ...]
    impact: Impact


class Engine(Questions):
    """One fleet behind one store. Make it with ``Engine.open``."""

    def __init__(
        self,
        store: Store,
        view: Snapshot,
        *,
        settings: GraphSettings,
        snapshot_file: Path | None,
        archive: Path | None,
        now: Callable[[], datetime],
    ) -> None:
        super().__init__(Timeline(view, store, settings), settings)
        self._store = store
        self._snapshot_file = snapshot_file
        self._archive = archive
        self._record = Record(store, archive)
        self._filed: Cursor | None = None
        self._turn = asyncio.Lock()
        self._polled_seconds = 0.0
        self._feed = Feed(view.cursor, kept_max=settings.changesets_kept_max)
        self._writer = Writer(
            store,
            settings,
            view=lambda: self.view,
            advance=self._advance,
            catch_up=self._catch_up,
            turn=self._turn,
            now=now,
        )

    @staticmethod
    async def open(
        store: Store,
        *,
        settings: GraphSettings | None = None,
        snapshot_file: Path | None = None,
        archive: Path | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        progress: Progress = lambda _: None,
    ) -> Engine:
        """An engine that shows the store's head.

        ``snapshot_file`` saves reading every fact at the next start. It is a copy, never the
        record: one that cannot be used is said so, ignored and written anew. ``archive`` is the
        directory that keeps what compaction takes out of the log.
        """
        with frozen():
            filed = await asyncio.to_thread(from_file, snapshot_file, progress)
            view = filed or await from_facts(store, progress)
        engine = Engine(
            store,
            view,
            settings=settings or GraphSettings(),
            snapshot_file=snapshot_file,
            archive=archive,
            now=now,
        )
        engine._filed = filed.cursor if filed else None
        engine._writer.saw((await store.head()).at)
        await engine.catch_up()
        progress(f"ready at revision {engine.view.cursor.revision:,}")
        return engine

    # the fleet at a revision

    async def as_of(self, when: Revision | datetime) -> Snapshot:
        """The fleet at an earlier revision or time, as far back as the log reaches."""
        if isinstance(when, datetime):
            if when.tzinfo is None:
                raise Invalid("the time has no zone", hint="write 2026-11-01T00:00Z")
            when = await self._store.revision_at(when)
        try:
            return await self._at(when)
        except ResyncRequired:  # the record was replaced under this process; look again
            await self.catch_up()
            return await self._at(when)

    async def at_least(self, revision: Revision, *, timeout_seconds: float) -> Snapshot:
        """The newest view once it is at ``revision`` or later; Unavailable if that takes longer."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while self.view.cursor.revision < revision:
                    await self.catch_up()
                    if self.view.cursor.revision < revision:
                        await asyncio.sleep(self._settings.poll_seconds)
        except TimeoutError:
            raise Unavailable(
                f"this process is at revision {self.view.cursor.revision:,}, "
                f"not yet at {revision:,}",
                hint="try again in a moment",
            ) from None
        return self.view

    # changes

    async def execute(self, batch: Batch) -> Receipt:
        """Make every change of ``batch`` or none; the receipt means it is durable and visible."""
        return await self._writer.execute(batch)

    async def preview(self, batch: Batch) -> Preview:
        """What ``batch`` would do now, refused exactly where ``execute`` would refuse it."""
        check_batch(batch)
        base = self.view
        draft = edit(base)
        changes = decide_batch(batch, base, draft)
        return Preview(base.cursor, changes, impact(base, draft))

    async def plan_revert(self, scope: Scope, to: Revision | datetime) -> RevertPlan:
        """The command that takes ``scope`` back to an earlier state, and what cannot come back."""
        then = await self.as_of(to)
        touched = await self._timeline.touched_since(then.cursor.revision)
        return plan_revert(scope, then, self.view, touched)

    # the record

    async def follow(self, after: Cursor) -> AsyncIterator[Changeset]:
        """Every changeset after ``after``, in order, for ever; ResyncRequired if that is gone.

        Nothing is queued per follower: a slow one reads from the store what memory has let go.
        """
        cursor = after
        if cursor.revision > self.view.cursor.revision:
            await self.catch_up()
        while True:
            if self._feed.closed:
                return
            head = self._feed.head
            recent = self._feed.after(cursor)
            if recent is None:
                async for changeset in self._store.changesets(after=cursor):
                    if changeset.revision > self.view.cursor.revision:
                        break
                    cursor = changeset.cursor
                    yield changeset
            else:
                for changeset in recent:
                    cursor = changeset.cursor
                    yield changeset
            while not await self._feed.more_than(head, timeout_seconds=self._settings.poll_seconds):
                await self._poll()

    async def history(self, ref: Ref) -> list[HistoryLine]:
        """The changes of one object, newest first, bounded, as far back as the record reaches."""
        entity = entity_of(self.view, ref)
        if entity is None:
            raise NotFound(f"{ref} is not in the fleet", hint="its history may be found by name")
        return await self._history(ref, entity.changed)

    async def history_of_gone(self, kind: Kind, name: str) -> list[HistoryLine]:
        """The history of something that is no longer there, found by its last name."""
        return await self._history(
            *await self._record.find_gone(kind, name, self.view.cursor.revision)
        )

    async def member_since(self, cluster: ClusterNumber, group: GroupNumber) -> HistoryLine | None:
        """How a cluster came to be a direct member of a group; None if it is not one."""
        entity = self.view.cluster(cluster)
        if entity is None or group not in entity.memberships:
            return None
        return await self._record.member_since(entity, group)

    async def compact(self, until: Revision) -> list[Path]:
        """Move changesets up to ``until`` from the log into the archive, and name the new files.

        Those revisions can then no longer be read, and cursors older than them must start again;
        the history of an object still can.
        """
        return await self._record.compact(until)

    async def verify(self, progress: Progress = lambda _: None) -> Verification:
        """Prove that log, facts, index and files agree, naming the first difference of each."""
        await self.catch_up()
        return await verify(
            self._store,
            self._at,
            snapshot_file=self._snapshot_file,
            archive=self._archive,
            progress=progress,
        )

    # keeping up

    async def catch_up(self) -> None:
        """Take in what other processes have written."""
        async with self._turn:
            await self._catch_up()

    async def reload(self) -> None:
        """Begin again from the facts: the record under this engine was replaced."""
        async with self._turn:
            await self._restart()

    async def close(self) -> None:
        """Finish writing, keep the snapshot file for the next start, let go of the store."""
        await self._writer.close()
        self._feed.close()
        if self._snapshot_file is not None and self._filed != self.view.cursor:
            try:
                await asyncio.to_thread(write_snapshot, self.view, self._snapshot_file)
            except Unavailable as error:  # a slower start next time, and nothing lost
                _log.warning("%s", error.message)
        await self._store.close()

    def _advance(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self._timeline.advance(step.snapshot, now_seconds=time.monotonic())
            self._answers.advance(step.snapshot, step.changeset.changes)
            self._feed.announce(step.changeset)

    async def _catch_up(self) -> None:
        try:
            async for changeset in self._store.changesets(after=self.view.cursor):
                draft = edit(self.view)
                draft.apply(changeset.changes)
                self._advance([Step(changeset, draft.freeze(changeset.cursor))])
                self._writer.saw(changeset.at)
        except ResyncRequired:
            await self._restart()

    async def _restart(self) -> None:
        view = await from_facts(self._store, lambda _: None)
        self._writer.saw((await self._store.head()).at)
        self._timeline.restart(view, now_seconds=time.monotonic())
        self._answers.restart(view)
        self._feed.restart(view.cursor)

    async def _at(self, revision: Revision) -> Snapshot:
        if revision > self.view.cursor.revision:
            await self.catch_up()
        return await self._timeline.at(revision)

    async def _poll(self) -> None:
        """Look for other writers' changes, at most once in a while for all who wait."""
        now = time.monotonic()
        if now - self._polled_seconds >= self._settings.poll_seconds:
            self._polled_seconds = now
            try:
                await self.catch_up()
            except Unavailable as error:
                _log.warning("following goes on when the store is back: %s", error.message)

    async def _history(self, ref: Ref, newest: Revision) -> list[HistoryLine]:
        lines: list[HistoryLine] = []
        async for line in self._record.history(ref, newest):
            lines.append(line)
            if len(lines) >= self._settings.history_max:
                break
        return lines
