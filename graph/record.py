"""The record behind the view: the log, the archive behind the log, and one object's past in both.

Every state of an object names the revision that wrote it, so its history is followed changeset by
changeset without an index over the log. Only for an object that is gone must the log be searched
for its last state.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

from graph.model.change import Change, Changeset, ChangesetHeader, Cursor, change_of
from graph.model.errors import Invalid, NotFound, RevisionExpired
from graph.model.inventory import Cluster
from graph.model.names import GroupNumber, Revision, quoted
from graph.model.ref import Kind, Ref
from graph.store.archive import archives, read_archive, write_archive
from graph.store.backwards import changesets_back, headers_back
from graph.store.port import Store

CHANGESETS_A_FILE = 1_000
"""Changesets in one archive file: what is read, and kept in memory, to look one up."""

CHANGES_KEPT_MAX = 100_000
"""Changes in the changesets kept after they were read one by one; the last one is kept always."""


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One change of an object: when, by whom, why, and from what to what."""

    revision: Revision
    at: datetime
    actor: str
    reason: str
    change: Change
    on_behalf_of: str = ""
    """For whom, if for somebody else."""


def line_of(changeset: Changeset, change: Change) -> HistoryLine:
    """One change of ``changeset`` as a line of history."""
    return HistoryLine(
        changeset.revision,
        changeset.at,
        changeset.actor,
        changeset.reason,
        change,
        changeset.on_behalf_of,
    )


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One revision as a reader of the log gets it: its header, and its changes if at hand."""

    header: ChangesetHeader
    changeset: Changeset | None = None
    """All of it; None if nobody had to read the changes."""

    @staticmethod
    def of(changeset: Changeset) -> LogEntry:
        """An entry with its changes."""
        return LogEntry(changeset.header, changeset)


class Record:
    """The log of a store and, if there is one, the directory of what was compacted out of it.

    ``recent`` gives the changesets that are in memory anyway.
    """

    def __init__(
        self,
        store: Store,
        archive: Path | None,
        recent: Callable[[Revision], Changeset | None] = lambda _: None,
    ) -> None:
        self._store = store
        self._archive = archive
        self._recent = recent
        self._compacting = asyncio.Lock()
        self._kept: OrderedDict[Revision, Changeset] = OrderedDict()
        """Changesets read lately: a load of many objects is in the history of each."""
        self._changes_kept = 0
        self._read: tuple[Path, dict[Revision, Changeset]] | None = None
        """The archive file read last: history goes through one file many times in a row."""

    async def changeset(self, revision: Revision) -> Changeset:
        """One changeset, from memory, the log or the archive."""
        found = self._recent(revision)
        if found is not None:
            return found
        kept = self._kept
        if revision in kept:
            kept.move_to_end(revision)
            return kept[revision]
        found = await self._looked_up(revision)
        if kept is self._kept and revision not in kept:  # it may be another record by now
            self._keep(found)
        return found

    async def header(self, revision: Revision) -> ChangesetHeader:
        """One header, from memory, the log or the archive."""
        at_hand = self._recent(revision) or self._kept.get(revision)
        if at_hand is not None:
            return at_hand.header
        try:
            [found] = await self._store.headers(revision, 1)
        except RevisionExpired:
            return (await self.changeset(revision)).header
        return found

    def restart(self) -> None:
        """Forget what was read: the record was replaced."""
        self._kept = OrderedDict()
        self._changes_kept = 0
        self._read = None

    def _keep(self, changeset: Changeset) -> None:
        self._kept[changeset.revision] = changeset
        self._changes_kept += len(changeset.changes)
        while self._changes_kept > CHANGES_KEPT_MAX and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            self._changes_kept -= len(gone.changes)

    async def _looked_up(self, revision: Revision) -> Changeset:
        try:
            return await self._store.changeset(revision)
        except RevisionExpired:
            if self._archive is None or revision < 1:
                raise
        horizon = (await self._store.head()).horizon
        return await asyncio.to_thread(self._archived, self._archive, revision, horizon)

    def _archived(self, directory: Path, revision: Revision, horizon: Cursor) -> Changeset:
        if self._read is not None and revision in self._read[1]:
            return self._read[1][revision]
        for archive in archives(directory, horizon):
            if archive.after < revision <= archive.until.revision:
                held = {each.revision: each for each in read_archive(archive.path)}
                self._read = archive.path, held
                return held[revision]
        raise RevisionExpired(
            f"revision {revision:,} is neither in the log nor in {directory}",
            hint="bring back the archive that holds it",
        )

    async def has_change(self, entry: LogEntry, wanted: Callable[[Change], bool]) -> bool:
        """Whether an entry holds a change that is ``wanted``; one is enough to stop reading."""
        revision = entry.header.revision
        changeset = entry.changeset or self._recent(revision) or self._kept.get(revision)
        if changeset is None:
            try:
                return await self._store.has_change(revision, wanted)
            except RevisionExpired:
                changeset = await self.changeset(revision)
        return any(map(wanted, changeset.changes))

    async def backwards(
        self, newest: Revision, recent: Sequence[Changeset] = (), *, changes: bool
    ) -> AsyncGenerator[LogEntry]:
        """The record from ``newest`` back to where it begins, with the ``changes`` or without.

        ``recent`` is a stretch of the log that is at hand already.
        """
        at = int(newest)
        if recent and recent[0].revision <= at <= recent[-1].revision:
            for changeset in recent[at - recent[0].revision :: -1]:
                yield LogEntry.of(changeset)
            at = recent[0].revision - 1
        async with aclosing(self._log_back(Revision(at), changes=changes)) as entries:
            async for entry in entries:
                yield entry
                at = entry.header.revision - 1
        while at > 0:
            try:
                yield LogEntry.of(await self.changeset(Revision(at)))
            except RevisionExpired:
                return
            at -= 1

    async def _log_back(self, newest: Revision, *, changes: bool) -> AsyncGenerator[LogEntry]:
        """As far as the log of the store reaches."""
        if newest <= (await self._store.head()).horizon.revision:
            return
        if not changes:
            async with aclosing(headers_back(self._store, newest, first=4)) as headers:
                async for header in headers:
                    yield LogEntry(header)
            return
        yield LogEntry.of(await self.changeset(newest))  # often the only one, and then it is kept
        earlier = Revision(newest - 1)
        async with aclosing(changesets_back(self._store, earlier, first=4)) as changesets:
            async for changeset in changesets:
                yield LogEntry.of(changeset)

    async def touching(
        self, ref: Ref, newest: Revision, recent: Sequence[Changeset] = ()
    ) -> AsyncGenerator[LogEntry]:
        """As ``backwards``, passing over what is known not to have written ``ref``."""
        at: Revision | None = newest
        while at is not None:
            async with aclosing(self.backwards(at, recent, changes=True)) as entries:
                at = None
                async for entry in entries:
                    yield entry
                    assert entry.changeset is not None, "it was read with its changes"
                    if (earlier := written_before(entry.changeset, ref)) is not None:
                        at = earlier
                        break

    async def history(self, ref: Ref, newest: Revision) -> AsyncGenerator[tuple[Changeset, Change]]:
        """The changes of ``ref`` from revision ``newest`` back, as far as the record reaches.

        It ends where the object came to be: created, or brought back by a revert.
        """
        revision = newest
        while revision > 0:
            try:
                changeset = await self.changeset(revision)
            except RevisionExpired:
                return
            change = change_of(changeset.changes, ref)
            if change is None:
                return
            yield changeset, change
            if change.before is None:
                return
            revision = change.before.changed

    async def find_gone(
        self,
        kind: Kind,
        name: str,
        head: Revision,
        shows: Callable[[Changeset, Change], bool],
    ) -> tuple[Ref, Revision]:
        """The last object of this kind and name to be deleted, and the revision that did it.

        A deletion that may not be seen is passed over as if it were another name's.
        """
        for number in count(head, -1):
            try:
                changeset = await self.changeset(Revision(number))
            except (RevisionExpired, NotFound):
                break
            for change in changeset.changes:
                before = change.before
                if change.after is None and before is not None and before.name == name:
                    ref = change.ref
                    if ref.kind is kind and shows(changeset, change):
                        return ref, changeset.revision
        raise NotFound(
            f"no {kind} called {quoted(name)}, now or earlier",
            hint="check the name; the record may have been compacted without its archive",
        )

    async def member_since(
        self, cluster: Cluster, group: GroupNumber
    ) -> tuple[Changeset, Change] | None:
        """How ``cluster`` came to be a direct member; the oldest change known if that is lost."""
        found: tuple[Changeset, Change] | None = None
        history = self.history(Ref(Kind.CLUSTER, cluster.number), cluster.changed)
        async with aclosing(history):
            async for found in history:
                before = found[1].before
                if not isinstance(before, Cluster) or group not in before.memberships:
                    break
        return found

    async def compact(self, until: Revision) -> list[Path]:
        """Move changesets up to ``until`` from the log into the archive: the files first."""
        if self._archive is None:
            raise Invalid("there is no archive directory", hint="open the fleet with one")
        async with self._compacting:
            head = await self._store.head()
            after, chain = head.horizon, head.horizon_chain
            paths: list[Path] = []
            while after.revision < until:
                stop = min(until, after.revision + CHANGESETS_A_FILE)
                last = await self._store.changeset(Revision(stop))
                paths.append(
                    await write_archive(
                        self._archive,
                        self._store.changesets(after=after),
                        after=after.revision,
                        chain=chain,
                        until=last.cursor,
                    )
                )
                after, chain = last.cursor, last.chain
            if paths:
                await self._store.drop(after)
            self.restart()
            return paths


def written_before(changeset: Changeset, ref: Ref) -> Revision | None:
    """The revision that wrote ``ref`` before ``changeset`` did; None if that is not known."""
    change = change_of(changeset.changes, ref)
    return None if change is None or change.before is None else change.before.changed
