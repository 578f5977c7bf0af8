"""Earlier revisions: the newest kept whole, older ones reconstructed from the log.

A snapshot is immutable and shares almost everything with its neighbours, so keeping the last few
costs little. Anything older is made by undoing changesets from the oldest kept one, one
reconstruction at a time, never past the horizon.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from dataclasses import dataclass

from graph.index.builder import edit
from graph.index.snapshot import Snapshot
from graph.model.change import Change, Changeset, Cursor
from graph.model.errors import NotFound, ResyncRequired, RevisionExpired
from graph.model.names import Revision
from graph.model.ref import Ref
from graph.settings import GraphSettings
from graph.store.port import Store

_YOUNG_FACTOR = 4
"""How far beyond the count young revisions may be kept."""


@dataclass(frozen=True, slots=True)
class _Kept:
    snapshot: Snapshot
    since_seconds: float


class Timeline:
    """The newest snapshot and the way back."""

    def __init__(self, head: Snapshot, store: Store, settings: GraphSettings) -> None:
        self._store = store
        self._settings = settings
        self._recent: deque[_Kept] = deque([_Kept(head, 0.0)])
        self._rebuilt: OrderedDict[Revision, Snapshot] = OrderedDict()
        self._turn = asyncio.Lock()

    @property
    def head(self) -> Snapshot:
        """The newest snapshot."""
        return self._recent[-1].snapshot

    def advance(self, snapshot: Snapshot, *, now_seconds: float) -> None:
        """Make ``snapshot`` the newest; forget what is both old and beyond the count."""
        assert snapshot.cursor.revision == self.head.cursor.revision + 1, "one revision at a time"
        self._recent.append(_Kept(snapshot, now_seconds))
        kept_max = self._settings.snapshots_kept_max
        oldest = now_seconds - self._settings.snapshots_kept_seconds
        while len(self._recent) > kept_max and (
            self._recent[1].since_seconds < oldest or len(self._recent) > kept_max * _YOUNG_FACTOR
        ):
            self._recent.popleft()

    def restart(self, head: Snapshot, *, now_seconds: float) -> None:
        """Begin again at ``head``: what was kept belongs to another history."""
        self._recent = deque([_Kept(head, now_seconds)])
        self._rebuilt.clear()

    def held(self, revision: Revision) -> Snapshot | None:
        """The fleet as of ``revision`` if it is at hand; None if it would have to be made."""
        return self._kept(revision) if 0 <= revision <= self.head.cursor.revision else None

    async def at(self, revision: Revision) -> Snapshot:
        """The fleet as of ``revision``."""
        if (found := self._kept(revision)) is not None:
            return found
        async with self._turn:
            if (found := self._kept(revision)) is None:
                history = self._recent
                found = await self._reconstruct(revision)
                if history is self._recent:  # else it began again meanwhile, with another history
                    self._keep(revision, found)
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

    async def _reconstruct(self, revision: Revision) -> Snapshot:
        store_head = await self._store.head()
        if revision < store_head.horizon.revision:
            raise RevisionExpired(
                f"revision {revision:,} is older than the log keeps",
                hint=f"the oldest revision that can be read is {store_head.horizon.revision:,}",
            )
        base = self._base_for(revision)
        await self._check(base.cursor)
        draft = edit(base)
        for number in range(base.cursor.revision, revision, -1):
            changeset = await self._store.changeset(Revision(number))
            await asyncio.to_thread(draft.apply, _undone(changeset))
        cursor = await self._cursor(revision)
        await self._check(base.cursor)
        return draft.freeze(cursor)

    async def _check(self, cursor: Cursor) -> None:
        """Refuse unless ``cursor`` is in the store's history: then so is all before it (S7)."""
        if await self._cursor(cursor.revision) != cursor:
            raise ResyncRequired(
                f"the record no longer holds {cursor}: it was replaced",
                hint="ask again; this process reads the new record first",
            )

    async def _cursor(self, revision: Revision) -> Cursor:
        horizon = (await self._store.head()).horizon
        if revision == horizon.revision:
            return horizon
        try:
            return (await self._store.changeset(revision)).cursor
        except NotFound as error:
            raise ResyncRequired(
                f"the record no longer holds revision {revision:,}",
                hint="ask again; this process reads the new record first",
            ) from error

    def _keep(self, revision: Revision, snapshot: Snapshot) -> None:
        self._rebuilt[revision] = snapshot
        while len(self._rebuilt) > self._settings.reconstructions_kept_max:
            self._rebuilt.popitem(last=False)

    def _base_for(self, revision: Revision) -> Snapshot:
        """The kept snapshot with the fewest changesets to undo."""
        later = [each for number, each in self._rebuilt.items() if number > revision]
        return min((self._recent[0].snapshot, *later), key=lambda each: each.cursor.revision)


def _undone(changeset: Changeset) -> tuple[Change, ...]:
    return tuple(change.undone() for change in changeset.changes)
