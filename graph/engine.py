"""The façade: one fleet, asked and changed.

Reads are answered from an immutable snapshot and never wait for the store; whoever asks several
things at one revision holds on to one ``view``. Writes go through one writer. Everything that
follows the fleet follows its log.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from graph.chronicle import Chronicle
from graph.consequence import consequence_of, seen_moves
from graph.decide.batch import check_batch
from graph.decide.revert import RevertPlan, Scope, plan_revert
from graph.disclosure import at_revision, disclosed
from graph.effective.moves import Move
from graph.effective.reading import Reading
from graph.effective.state import State
from graph.impact import Impact, impact
from graph.index.builder import edit
from graph.index.file import write_snapshot
from graph.index.snapshot import Snapshot
from graph.model.access import Actor, Role
from graph.model.change import Change, Cursor, Receipt
from graph.model.command import Batch
from graph.model.errors import (
    Invalid,
    NotFound,
    Rejected,
    ResyncRequired,
    Unavailable,
)
from graph.model.names import Revision, did_you_mean, nearest, quoted
from graph.model.publication import Publication, Report, check_report
from graph.model.view import FleetView
from graph.permission import decide_for, plan_for
from graph.seen import scoped
from graph.settings import GraphSettings
from graph.start import Progress, from_facts, from_file, frozen
from graph.states import read_through, whole_of
from graph.store.port import Store
from graph.trace import Trace, untraced
from graph.verify import Verification, verify
from graph.writer import Step, Writer

_log = logging.getLogger(__name__)

TRUSTED = "trellis"
"""Who reports when nobody else is named: this process itself."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a batch would do, computed and not written."""

    base: Cursor
    changes: tuple[Change, ...]
    impact: Impact
    moves: tuple[Move, ...]
    """What it would do to every application, as far as its author may see."""
    refusals: tuple[Rejected, ...]
    """Why it would be refused for what it does to what runs; empty if it would not."""
    before: FleetView
    """The fleet it was computed on, as its author may see it."""
    after: FleetView
    """The fleet as it would be, likewise. It is nobody else's, and of no revision."""
    reading: Reading
    """What would run where then, likewise."""
    loss: int
    """How many applications it takes from clusters in all: the expected loss to state."""


class Engine(Chronicle):
    """One fleet behind one store. Make it with ``Engine.open``."""

    def __init__(
        self,
        store: Store,
        view: Snapshot,
        *,
        settings: GraphSettings,
        snapshot_file: Path | None,
        archive: Path | None,
        checkpoints: Path | None,
        now: Callable[[], datetime],
        trace: Trace = untraced,
    ) -> None:
        super().__init__(
            view,
            store,
            settings=settings,
            archive=archive,
            checkpoints=checkpoints,
            trace=trace,
        )
        self._snapshot_file = snapshot_file
        self._archive = archive
        self._now = now
        self._filed: Cursor | None = None
        self._settled = False
        """Whether a state of the head was frozen: the first lives on in all that follow from it."""
        self._turn = asyncio.Lock()
        self._writer = Writer(
            store,
            settings,
            view=lambda: self.view,
            state=lambda: self._state_of(self.view),
            advance=self._advance,
            catch_up=self._catch_up,
            turn=self._turn,
            now=now,
            trace=trace,
        )

    @staticmethod
    async def open(
        store: Store,
        *,
        settings: GraphSettings | None = None,
        snapshot_file: Path | None = None,
        archive: Path | None = None,
        checkpoints: Path | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        progress: Progress = lambda _: None,
        trace: Trace = untraced,
    ) -> Engine:
        """An engine that shows the store's head.

        ``snapshot_file`` saves reading every fact at the next start. It is a copy, never the
        record: one that cannot be used is said so, ignored and written anew. ``archive`` is the
        directory that keeps what compaction takes out of the log, ``checkpoints`` the one for
        files of earlier revisions, which are copies as well.
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
            checkpoints=checkpoints,
            now=now,
            trace=trace,
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

    async def reading(self, view: FleetView) -> Reading:
        """What runs where in a view of one revision, as far as it shows that."""
        return read_through(await self._state_of(whole_of(view)), view)

    # changes

    async def execute(self, batch: Batch, actor: Actor | None = None) -> Receipt:
        """Make every change of ``batch`` or none; the receipt means it is durable and visible.

        It is made in the name of ``actor`` as far as their grants allow; None is a trusted caller.
        """
        return await self._writer.execute(_signed(batch, actor), actor)

    async def preview(self, batch: Batch, actor: Actor | None = None) -> Preview:
        """What ``batch`` would do now.

        Refused where ``execute`` would refuse it, but for the guards of what runs: what they say
        is shown beside what it would do.
        """
        batch = _signed(batch, actor)
        check_batch(batch)
        base = self.view
        draft = edit(base)
        access = None if actor is None else self.access(actor)
        state = await self._state_of(base)
        changes = decide_for(access, batch, base, draft, lambda: edit(base))
        done = consequence_of(access, batch, changes, state, draft, self._settings)
        loss = sum(len(move.lost) for move in done.moves)
        if access is None or access.sees_all:
            return Preview(
                base.cursor,
                changes,
                impact(base, draft),
                done.moves,
                done.refusals,
                base,
                draft,
                read_through(done.state, draft),
                loss,
            )
        before, after = (scoped(each, access) for each in (base, draft))
        judges = at_revision(before), at_revision(after)
        seen = (disclosed(change, *judges) for change in changes)
        shown = tuple(change for change in seen if change is not None)
        return Preview(
            base.cursor,
            shown,
            impact(before, after),
            tuple(seen_moves(done.moves, before, after)),
            done.refusals,
            before,
            after,
            read_through(done.state, after),
            loss,
        )

    async def plan_revert(
        self, scope: Scope, to: Revision | datetime, actor: Actor | None = None
    ) -> RevertPlan:
        """The command that takes ``scope`` back to an earlier state, and what cannot come back.

        Refused where ``execute`` would refuse the command. An object that ``actor`` cannot see is
        taken for one that was never there.
        """
        then = await self.as_of(to)
        touched = await self._timeline.touched_since(then.cursor.revision)
        now = self.view  # both are immutable, so a large plan need not hold the others up
        access = None if actor is None else self.access(actor)
        if access is None:
            return await asyncio.to_thread(
                plan_revert, scope, then, now, touched, lambda: edit(now)
            )
        views = self.seen(access, then), self.seen(access, now)
        return await asyncio.to_thread(plan_for, access, scope, then, now, touched, views)

    # what became of it

    async def report_published(self, report: Report, actor: Actor | None = None) -> Publication:
        """Keep what a worker has brought out, and return what is then kept under that name.

        That is an earlier report if it is further on. It takes an editor of everything: others
        are told by it whether their change has arrived.
        """
        if actor is not None:
            self.access(actor).need_everywhere(Role.EDITOR)
        check_report(report)
        name = TRUSTED if actor is None else actor.name
        moment = self._now()
        at = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
        made = Publication(
            report.name, report.cursor, report.commit, report.held, actor=name, at=at
        )
        return await self._store.keep_publication(made)

    async def forget_publication(self, name: str, actor: Actor | None = None) -> None:
        """Forget what was reported under a name that is no longer published to."""
        if actor is not None:
            self.access(actor).need_everywhere(Role.EDITOR)
        if not await self._store.forget_publication(name):
            known = [each.name for each in await self._store.publications()]
            raise NotFound(
                f"nothing was published under {quoted(name)}",
                hint=did_you_mean(nearest(name, known)) or "ask for publications to see what was",
            )

    # the record

    async def compact(self, until: Revision) -> list[Path]:
        """Move changesets up to ``until`` from the log into the archive, and name the new files.

        Those revisions can then no longer be read, and cursors older than them must start again;
        the history of an object still can.
        """
        paths = await self._record.compact(until)
        await self._checkpoints.tidy()
        return paths

    async def verify(self, progress: Progress = lambda _: None) -> Verification:
        """Prove that log, facts, index and files agree, naming the first difference of each."""
        await self.catch_up()
        return await verify(
            self._store,
            self._at,
            snapshot_file=self._snapshot_file,
            archive=self._archive,
            checkpoints=await self._checkpoints.listed(),
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
        await self._timeline.close()
        if self._snapshot_file is not None and self._filed != self.view.cursor:
            try:
                await asyncio.to_thread(write_snapshot, self.view, self._snapshot_file)
            except Unavailable as error:  # a slower start next time, and nothing lost
                _log.warning("%s", error.message)
        await self._store.close()

    def _advance(self, steps: Sequence[Step], *, own: bool = True) -> None:
        for step in steps:
            self._states.follow(step.snapshot, step.changeset.changes, step.state)
            self._timeline.advance(
                step.snapshot,
                changes=len(step.changeset.changes),
                own=own,
                now_seconds=time.monotonic(),
            )
            self._answers.advance(step.snapshot, step.changeset.changes)
            self._seen.advance(step.changeset.changes)
            self._feed.announce(step.changeset)

    async def _catch_up(self) -> None:
        asked = time.monotonic()
        try:
            async for changeset in self._store.changesets(after=self.view.cursor):
                draft = edit(self.view)
                draft.apply(changeset.changes)
                self._advance([Step(changeset, draft.freeze(changeset.cursor))], own=False)
                self._writer.saw(changeset.at)
        except ResyncRequired:
            await self._restart()
        self._pulse.answered(asked)

    async def _restart(self) -> None:
        view = await from_facts(self._store, lambda _: None)
        self._writer.saw((await self._store.head()).at)
        self._timeline.restart(view, now_seconds=time.monotonic())
        self._answers.restart(view)
        self._seen.restart()
        self._states.restart()
        self._record.restart()
        self._feed.restart(view.cursor)

    async def _state_of(self, view: FleetView) -> State:
        """What runs where; the first time that takes a while, and not from the others."""
        if self._settled or view.cursor != self.view.cursor:
            return await self._states.soon(view)
        self._settled = True
        with frozen():
            return await self._states.soon(view)

    async def _at(self, revision: Revision) -> Snapshot:
        if revision > self.view.cursor.revision:
            await self.catch_up()
        return await self._timeline.at(revision)


def _signed(batch: Batch, actor: Actor | None) -> Batch:
    """The batch in the name of whoever sends it, and of whom they act for, whatever it carries."""
    if actor is None:
        return batch
    if actor.signed_by:
        return replace(batch, actor=actor.signed_by, on_behalf_of=actor.name)
    return replace(batch, actor=actor.name, on_behalf_of="")
