"""The record behind the view: the log, the archive behind the log, and one object's past in both.

Every state of an object names the revision that wrote it, so its history is followed changeset by
changeset without an index over the log. Only for an object that is gone must the log be searched
for its last state.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

from graph.model.change import Change, Changeset
from graph.model.errors import Invalid, NotFound, RevisionExpired
from graph.model.inventory import Cluster
from graph.model.names import GroupNumber, Revision, quoted
from graph.model.ref import Kind, Ref
from graph.store.archive import archived, write_archive
from graph.store.port import Store


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One change of an object: when, by whom, why, and from what to what."""

    revision: Revision
    at: datetime
    actor: str
    reason: str
    change: Change


class Record:
    """The log of a store and, if there is one, the directory of what was compacted out of it."""

    def __init__(self, store: Store, archive: Path | None) -> None:
        self._store = store
        self._archive = archive

    async def changeset(self, revision: Revision) -> Changeset:
        """One changeset, from the log or from the archive."""
        try:
            return await self._store.changeset(revision)
        except RevisionExpired:
            if self._archive is None:
                raise
            return await asyncio.to_thread(archived, self._archive, revision)

    async def history(self, ref: Ref, newest: Revision) -> AsyncIterator[HistoryLine]:
        """The changes of ``ref`` from revision ``newest`` back, as far as the record reaches."""
        revision = newest
        while revision > 0:
            try:
                changeset = await self.changeset(revision)
            except RevisionExpired:
                return
            change = next((each for each in changeset.changes if each.ref == ref), None)
            if change is None:
                return
            yield HistoryLine(
                changeset.revision, changeset.at, changeset.actor, changeset.reason, change
            )
            if change.before is None:
                return
            revision = change.before.changed

    async def find_gone(self, kind: Kind, name: str, head: Revision) -> tuple[Ref, Revision]:
        """The last object of this kind and name to be deleted, and the revision that did it."""
        for number in count(head, -1):
            try:
                changeset = await self.changeset(Revision(number))
            except (RevisionExpired, NotFound):
                break
            for change in changeset.changes:
                before = change.before
                if change.after is None and before is not None and before.name == name:
                    ref = change.ref
                    if ref.kind is kind:
                        return ref, changeset.revision
        raise NotFound(
            f"no {kind} called {quoted(name)}, now or earlier",
            hint="check the name; the record may have been compacted without its archive",
        )

    async def member_since(self, cluster: Cluster, group: GroupNumber) -> HistoryLine | None:
        """How ``cluster`` came to be a direct member; the oldest change known if that is lost."""
        found: HistoryLine | None = None
        async for line in self.history(Ref(Kind.CLUSTER, cluster.number), cluster.changed):
            found = line
            before = line.change.before
            if not isinstance(before, Cluster) or group not in before.memberships:
                break
        return found

    async def compact(self, until: Revision) -> Path | None:
        """Move changesets up to ``until`` from the log into the archive: the file first."""
        if self._archive is None:
            raise Invalid("there is no archive directory", hint="open the fleet with one")
        head = await self._store.head()
        if until <= head.horizon.revision:
            return None
        cursor = (await self._store.changeset(until)).cursor
        path = await write_archive(
            self._archive,
            self._store.changesets(after=head.horizon),
            after=head.horizon.revision,
            chain=head.horizon_chain,
            until=cursor,
        )
        await self._store.drop(cursor)
        return path
