"""Earlier revisions: the newest kept whole, older ones reconstructed from the nearest one known.

A snapshot is immutable and shares almost everything with its neighbours, so keeping the last few
costs little. Anything older is made from whichever is nearest of those, of earlier reconstructions
and of the checkpoint files: changesets are undone or replayed from there, never past the horizon.

T1  One reconstruction runs at a time, beside the event loop; whoever asks for the same revision
    waits for the same one.
T2  It goes on when those who asked have given up, and what it finds is kept. Whoever only waits
    for its turn has nothing running, and leaves nothing behind.
T3  What is kept is bounded in number and in bytes.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from graph.checkpoints import Checkpoint, Checkpoints
from graph.index.builder import Draft, edit
from graph.index.snapshot import Snapshot
from graph.model.change import Changeset, Cursor
from graph.model.errors import NotFound, ResyncRequired, RevisionExpired
from graph.model.names import Revision
from graph.model.ref import Ref
from graph.settings import GraphSettings
from graph.store.backwards import changesets_back, headers_back
from graph.store.port import Head, Store
from graph.trace import Trace, untraced

_YOUNG_FACTOR = 4
"""How far beyond the count young revisions may be kept."""

BYTES_AN_OBJECT = 640
"""What a cluster or group takes in a snapshot that shares nothing with others; as measured."""

BYTES_READ_A_CHANGE = 2_500
"""Bytes of a checkpoint read in the time of undoing or replaying one change; as measured."""

CHANGESETS_AT_ONCE = 100
"""Changesets made or undone in one piece of work beside the event loop."""


_P = TypeVar("_P", Snapshot, Checkpoint)


@dataclass(frozen=True, slots=True)
class _Kept:
    snapshot: Snapshot
    since_seconds: float


@dataclass(frozen=True, slots=True)
class _Work:
    """A reconstruction under way."""

    revision: Revision
    task: asyncio.Task[Snapshot]


class Timeline:
    """The newest snapshot and the way back."""

    def __init__(
        self,
        head: Snapshot,
        store: Store,
        settings: GraphSettings,
        checkpoints: Checkpoints,
        trace: Trace = untraced,
    ) -> None:
        self._store = store
        self._settings = settings
        self._checkpoints = checkpoints
        self._trace = trace
        self._recent: deque[_Kept] = deque([_Kept(head, 0.0)])
        self._rebuilt: OrderedDict[Revision, Snapshot] = OrderedDict()
        self._work: _Work | None = None

    @property
    def head(self) -> Snapshot:
        """The newest snapshot."""
        return self._recent[-1].snapshot

    def advance(self, snapshot: Snapshot, *, changes: int, own: bool, now_seconds: float) -> None:
        """Make ``snapshot`` the newest; forget what is both old and beyond the count.

        It is ``changes`` away from the one before; ``own`` says whether this process wrote them.
        """
        before = self.head
        assert snapshot.cursor.revision == before.cursor.revision + 1, "one revision at a time"
        self._recent.append(_Kept(snapshot, now_seconds))
        kept_max = self._settings.snapshots_kept_max
        oldest = now_seconds - self._settings.snapshots_kept_seconds
        while len(self._recent) > kept_max and (
            self._recent[1].since_seconds < oldest or len(self._recent) > kept_max * _YOUNG_FACTOR
        ):
            self._recent.popleft()
        self._checkpoints.grew(before, changes, own=own)

    def restart(self, head: Snapshot, *, now_seconds: float) -> None:
        """Begin again at ``head``: what was kept belongs to another history."""
        self._recent = deque([_Kept(head, now_seconds)])
        self._rebuilt.clear()
        self._checkpoints.restart()

    async def close(self) -> None:
        """Stop a reconstruction that is under way, and finish the checkpoints."""
        if self._work is not None:
            self._work.task.cancel()
            await asyncio.wait([self._work.task])
        await self._checkpoints.close()

    def held(self, revision: Revision) -> Snapshot | None:
        """The fleet as of ``revision`` if it is at hand; None if it would have to be made."""
        return self._kept(revision) if 0 <= revision <= self.head.cursor.revision else None

    async def at(self, revision: Revision) -> Snapshot:
        """The fleet as of ``revision``."""
        while (found := self._kept(revision)) is None:
            work = self._work or self._begin(revision)
            if work.revision == revision:
                return await asyncio.shield(work.task)  # T2
            await asyncio.wait([work.task])  # T1: another's, whatever comes of it
        return found

    async def touched_since(self, revision: Revision) -> frozenset[Ref]:
        """Every object some changeset after ``revision`` wrote."""
        found: set[Ref] = set()
        head = self.head.cursor
        for number in range(revision + 1, head.revision + 1):
            changeset = await self._store.changeset(Revision(number))
            found.update(change.ref for change in changeset.changes)
        await self._check(head)
        return frozenset(found)

    def _kept(self, revision: Revision) -> Snapshot | None:
        head = self.head.cursor.revision
        if revision > head or revision < 0:
            raise NotFound(
                f"there is no revision {revision:,}", hint=f"the newest is revision {head:,}"
            )
        index = revision - self._recent[0].snapshot.cursor.revision
        if 0 <= index < len(self._recent):
            return self._recent[index].snapshot
        if revision in self._rebuilt:
            self._rebuilt.move_to_end(revision)
        return self._rebuilt.get(revision)

    def _keep(self, revision: Revision, snapshot: Snapshot) -> None:
        self._rebuilt[revision] = snapshot
        kept_max, bytes_max = (
            self._settings.reconstructions_kept_max,
            self._settings.reconstructions_kept_bytes,
        )
        while len(self._rebuilt) > 1 and (
            len(self._rebuilt) > kept_max or sum(map(_size, self._rebuilt.values())) > bytes_max
        ):
            self._rebuilt.popitem(last=False)

    # reconstruction

    def _begin(self, revision: Revision) -> _Work:
        work = self._work = _Work(revision, asyncio.create_task(self._make(revision)))
        work.task.add_done_callback(self._done)
        return work

    def _done(self, task: asyncio.Task[Snapshot]) -> None:
        self._work = None
        if not task.cancelled():
            task.exception()  # those who asked may be gone, and nobody else would look

    async def _make(self, revision: Revision) -> Snapshot:
        history = self._recent
        with self._trace("reconstruct", revision=revision):
            found = await self._reconstruct(revision)
        if history is self._recent:  # else it began again meanwhile, with another history
            self._keep(revision, found)
        return found

    async def _reconstruct(self, revision: Revision) -> Snapshot:
        head = await self._store.head()
        if revision < head.horizon.revision:
            raise RevisionExpired(
                f"revision {revision:,} is older than the log keeps",
                hint=f"the oldest revision that can be read is {head.horizon.revision:,}",
            )
        cursor = await self._cursor(revision)
        base = await self._nearest(revision, head)
        found = await self._lead(base, cursor)
        await self._check(base.cursor)
        return found

    async def _nearest(self, revision: Revision, head: Head) -> Snapshot:
        """The snapshot from which ``revision`` is reached soonest."""
        oldest = self._recent[0].snapshot
        await self._check(oldest.cursor)  # then so is what was rebuilt before it
        known = [oldest, *self._rebuilt.values()]
        if head.horizon.revision == 0:
            known.append(Snapshot.empty(head.horizon))
        files = [
            each
            for each in await self._checkpoints.listed()
            if head.horizon.revision <= each.cursor.revision <= head.cursor.revision
        ]
        while True:
            candidates: list[tuple[int, Snapshot | Checkpoint]] = [
                *((0, each) for each in _around(known, revision)),
                *((_read_cost(each), each) for each in _around(files, revision)),
            ]
            chosen = await self._cheapest(candidates, revision)
            if isinstance(chosen, Snapshot):
                return chosen
            if not await self._is_ours(chosen.cursor):
                await self._checkpoints.discard(chosen)
            elif (found := await self._checkpoints.read(chosen)) is not None:
                return found
            files.remove(chosen)

    async def _cheapest(
        self, candidates: Sequence[tuple[int, Snapshot | Checkpoint]], revision: Revision
    ) -> Snapshot | Checkpoint:
        """What takes the fewest changes, where reading a file counts as some."""
        best, least = candidates[0][1], float("inf")
        for cost, each in sorted(candidates, key=lambda one: abs(_revision(one[1]) - revision)):
            between = sorted((_revision(each), revision))
            total = cost + await self._changes_between(*between, at_most=least - cost)
            if total < least:
                best, least = each, total
        return best

    async def _changes_between(self, after: Revision, until: Revision, *, at_most: float) -> int:
        """Changes after one revision and up to another; counting stops beyond ``at_most``."""
        found = 0
        async with aclosing(headers_back(self._store, until)) as headers:
            async for header in headers:
                if header.revision <= after or found > at_most:
                    break
                found += header.change_count
        return found

    async def _lead(self, base: Snapshot, goal: Cursor) -> Snapshot:
        """The snapshot at ``goal``, from ``base``; a long way leaves checkpoints behind."""
        draft, walked, total = edit(base), 0, 0
        waiting: list[Changeset] = []
        undo = goal.revision < base.cursor.revision
        distance = self._checkpoints.distance(self.head)
        async with aclosing(self._way(base.cursor, goal.revision)) as way:
            async for at, changeset in way:
                if walked >= distance:
                    await _apply(draft, waiting, undo=undo)
                    snapshot = draft.freeze(at)
                    await self._checkpoints.write(snapshot)
                    draft, total, walked = edit(snapshot), total + walked, 0
                waiting.append(changeset)
                walked += len(changeset.changes)
                if len(waiting) >= CHANGESETS_AT_ONCE:
                    await _apply(draft, waiting, undo=undo)
        await _apply(draft, waiting, undo=undo)
        found = draft.freeze(goal)
        if total + walked >= distance:
            await self._checkpoints.write(found)
        return found

    async def _way(self, start: Cursor, goal: Revision) -> AsyncGenerator[tuple[Cursor, Changeset]]:
        """The changesets to be made, or undone, on the way from ``start`` to ``goal``.

        Each comes with the place where one is before that.
        """
        if goal > start.revision:
            at = start
            async for changeset in self._store.changesets(after=start):
                yield at, changeset
                at = changeset.cursor
                if changeset.revision == goal:
                    return
        elif goal < start.revision:
            async with aclosing(changesets_back(self._store, start.revision)) as changesets:
                async for changeset in changesets:
                    yield changeset.cursor, changeset
                    if changeset.revision == goal + 1:
                        return

    async def _check(self, cursor: Cursor) -> None:
        """Refuse unless ``cursor`` is in the store's history: then so is all before it (S7)."""
        if not await self._is_ours(cursor):
            raise ResyncRequired(
                f"the record no longer holds {cursor}: it was replaced",
                hint="ask again; this process reads the new record first",
            )

    async def _is_ours(self, cursor: Cursor) -> bool:
        try:
            return await self._cursor(cursor.revision) == cursor
        except (ResyncRequired, RevisionExpired):
            return False

    async def _cursor(self, revision: Revision) -> Cursor:
        horizon = (await self._store.head()).horizon
        if revision == horizon.revision:
            return horizon
        try:
            [header] = await self._store.headers(revision, 1)
        except RevisionExpired:
            raise
        except NotFound as error:
            raise ResyncRequired(
                f"the record no longer holds revision {revision:,}",
                hint="ask again; this process reads the new record first",
            ) from error
        return header.cursor


async def _apply(draft: Draft, waiting: list[Changeset], *, undo: bool) -> None:
    """Make or undo what waits, one changeset after the other, beside the event loop."""

    def work() -> None:
        for changeset in waiting:
            changes = changeset.changes
            draft.apply([each.undone() for each in changes] if undo else changes)

    await asyncio.to_thread(work)
    waiting.clear()


def _around(known: Iterable[_P], revision: Revision) -> list[_P]:
    """The last that is not after ``revision``, and the first that is."""
    ordered = sorted(known, key=_revision)
    first = bisect_right(ordered, revision, key=_revision)
    return ordered[max(first - 1, 0) : first + 1]


def _revision(each: Snapshot | Checkpoint) -> Revision:
    return each.cursor.revision


def _read_cost(checkpoint: Checkpoint) -> int:
    return checkpoint.size_bytes // BYTES_READ_A_CHANGE


def _size(snapshot: Snapshot) -> int:
    numbers = snapshot.numbers
    return (numbers.cluster + numbers.group) * BYTES_AN_OBJECT
