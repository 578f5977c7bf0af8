"""The Neo4j store: the record as a graph that people can read as well.

Its neighbours know the Cypher (clock, commit, facts, rows, log) and how to reach a server
(connection); this one puts them together, and answers "did my commit happen?" when the connection
broke before the server told.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from graph.model.change import Change, Changeset, ChangesetHeader, Cursor, Receipt, Relation
from graph.model.errors import Conflict, Invalid, NotFound, OutcomeUnknown, Unavailable
from graph.model.names import Revision
from graph.model.publication import Publication
from graph.store.neo4j_clock import Ask, Unsettled, lock_clock, read_clock, read_identity
from graph.store.neo4j_commit import Commit, commit_entries
from graph.store.neo4j_connection import CONNECTIONS_MAX, Connection, Timeouts
from graph.store.neo4j_log import (
    find_change,
    find_kept,
    find_relation,
    find_revision,
    raise_horizon,
    read_after,
    read_changeset,
    read_headers,
    sweep_changesets,
)
from graph.store.neo4j_publications import (
    forget_publication,
    keep_publication,
    read_publications,
)
from graph.store.neo4j_rows import load_facts
from graph.store.neo4j_upgrade import bring_up_to_date
from graph.store.port import RECEIPTS_KEPT_DAYS, Entry, Facts, Head, Kept
from graph.trace import Trace, untraced

T = TypeVar("T")

LOADS_UNLOCKED_MAX = 2
"""Loads that writers may disturb before one makes them wait."""


class Neo4jStore:
    """A record in one Neo4j database. Made by ``open``."""

    def __init__(self, connection: Connection, receipts_kept_days: int) -> None:
        self._connection = connection
        self._timeouts = connection.timeouts
        self._receipts_kept_days = receipts_kept_days
        self._turn = asyncio.Lock()
        self._commits: set[asyncio.Task[tuple[Receipt, ...]]] = set()
        self._last: Cursor | None = None
        """Where the newest commit of this store left the record."""

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        user: str = "",
        password: str = "",
        database: str | None = None,
        create: bool = True,
        timeouts: Timeouts | None = None,
        connections_max: int = CONNECTIONS_MAX,
        receipts_kept_days: int = RECEIPTS_KEPT_DAYS,
        trace: Trace = untraced,
    ) -> Neo4jStore:
        """Open the record at ``url`` and migrate an older one.

        In an empty database a record is begun, unless ``create`` is false.
        """
        connection = Connection(
            url,
            user=user,
            password=password,
            database=database,
            timeouts=timeouts or Timeouts(),
            connections_max=connections_max,
            trace=trace,
        )
        store = cls(connection, receipts_kept_days)
        try:
            seconds = connection.timeouts.load_seconds
            await bring_up_to_date(connection.run, create=create, seconds=seconds)
        except BaseException:
            await store.close()
            raise
        return store

    def check_available(self) -> None:
        """Refuse what would be written while the server is known to be away; it is not asked."""
        self._connection.check_available()

    async def head(self) -> Head:
        """Where the record stands now."""
        return (await self._exactly(read_clock)).head

    async def load(self) -> Facts:
        """Every fact, read at one revision.

        Who holds the lock knows that no commit is under way. Locked for a moment before and after,
        and the Clock unmoved: then none was in between either, and what was read is one state.
        """
        for _ in range(LOADS_UNLOCKED_MAX):
            before = await self._connection.run(_locked(read_clock))
            entities = await self._load()
            if entities is not None and before == await self._connection.run(_locked(read_clock)):
                return Facts(before.head, entities)

        async def undisturbed(ask: Ask) -> Facts:
            return Facts((await read_clock(ask)).head, await load_facts(ask))

        return await self._connection.run(_locked(undisturbed), seconds=self._timeouts.load_seconds)

    async def commit(
        self, entries: Sequence[Entry], *, expected: Cursor, now: datetime
    ) -> tuple[Receipt, ...]:
        """Write ``entries`` in one transaction; a caller that goes away does not stop it."""
        commit = Commit(entries, expected, now, self._receipts_kept_days)
        task = asyncio.create_task(self._commit(commit))
        self._commits.add(task)
        task.add_done_callback(self._committed)
        return await asyncio.shield(task)

    async def kept(self, actor: str, key: str) -> Kept | None:
        """The receipt first given for an actor's idempotency key; no doubt remains about None."""

        async def find(ask: Ask) -> Kept | None:
            return await find_kept(ask, actor, key)

        return await self._connection.run(find) or await self._connection.run(_locked(find))

    async def changeset(self, revision: Revision) -> Changeset:
        """One changeset; ``RevisionExpired`` up to the horizon, ``NotFound`` past the head."""
        return await self._exactly(lambda ask: read_changeset(ask, revision))

    async def headers(self, last: Revision, count: int) -> list[ChangesetHeader]:
        """The ``count`` headers that end with ``last``, oldest first; fewer at the horizon."""
        return await self._exactly(lambda ask: read_headers(ask, last, count))

    async def has_change(self, revision: Revision, wanted: Callable[[Change], bool]) -> bool:
        """Whether a changeset holds a change that is ``wanted``."""
        return await self._exactly(lambda ask: find_change(ask, revision, wanted))

    async def changesets(self, *, after: Cursor) -> AsyncIterator[Changeset]:
        """Changesets after ``after``, a bounded read at a time, each checked against the last."""
        while found := await self._read_after(after):
            for changeset in found:
                yield changeset
            after = found[-1].cursor

    async def identity(self) -> str:
        """What stands for this store in cursors."""
        return await self._exactly(read_identity)

    async def relation(self, cursor: Cursor) -> Relation:
        """How ``cursor`` relates to this history; from under the lock unless it is in it."""
        found = await self._exactly(lambda ask: find_relation(ask, cursor))
        if found is Relation.CONTAINED:
            return found
        return await self._connection.run(_locked(lambda ask: find_relation(ask, cursor)))

    async def revision_at(self, moment: datetime) -> Revision:
        """The last revision made at or before ``moment``; ``RevisionExpired`` below the horizon."""
        return await self._exactly(lambda ask: find_revision(ask, moment))

    async def drop(self, until: Cursor) -> None:
        """Forget changesets up to and including ``until``, which becomes the horizon."""
        await self._connection.run(_locked(lambda ask: raise_horizon(ask, until)))
        while await self._connection.run(_locked(sweep_changesets)):
            pass

    async def keep_publication(self, publication: Publication) -> Publication:
        """Keep what a worker reports; what is then kept under its name."""
        return await self._connection.run(_locked(lambda ask: keep_publication(ask, publication)))

    async def forget_publication(self, name: str) -> bool:
        """Forget the report of a name; whether there was one."""
        return await self._connection.run(_locked(lambda ask: forget_publication(ask, name)))

    async def publications(self) -> tuple[Publication, ...]:
        """The last report of every name, by name."""
        return await self._exactly(read_publications)

    async def close(self) -> None:
        """Let commits under way end, then the connections go; everything committed stays."""
        if self._commits:
            await asyncio.wait(self._commits)
        await self._connection.close()

    # commit

    async def _commit(self, commit: Commit) -> tuple[Receipt, ...]:
        """One commit at a time: others would wait for the Clock and hold connections meanwhile.

        What one of ours overtook while it waited is stale, and the server need not be asked.
        """
        changes = sum(len(each.changeset.changes) for each in commit.entries if each.changeset)
        seconds = self._timeouts.commit_seconds
        seconds += self._timeouts.commit_milliseconds_a_change * changes / 1000
        seen = self._last
        async with self._turn:
            last = self._last
            if last is not None and last != seen and last.revision > commit.expected.revision:
                raise _overtaken(commit.expected, last)
            work = _locked(lambda ask: commit_entries(ask, commit))
            try:
                receipts = await self._connection.run_until_known(work, seconds=seconds)
            except Unavailable as error:
                # with receipts, an earlier try had only COMMIT left to send
                raise error if commit.receipts is None else _unknown(error) from error.__cause__
            self._last = receipts[-1].cursor if receipts else self._last
            return receipts

    def _committed(self, task: asyncio.Task[tuple[Receipt, ...]]) -> None:
        self._commits.discard(task)
        if not task.cancelled():
            task.exception()  # the caller may be gone, and nobody else would look

    # transactions

    async def _exactly(self, read: Callable[[Ask], Awaitable[T]]) -> T:
        """An answer is taken as it comes; a refusal is only given from under the lock."""
        try:
            return await self._connection.run(read)
        except (Unsettled, NotFound, Conflict):
            return await self._connection.run(_locked(read))

    async def _read_after(self, cursor: Cursor) -> list[Changeset]:
        return await self._exactly(lambda ask: read_after(ask, cursor))

    async def _load(self) -> Sequence[Any] | None:
        try:
            return await self._connection.run(load_facts, seconds=self._timeouts.load_seconds)
        except Unsettled:
            return None


def _locked(work: Callable[[Ask], Awaitable[T]]) -> Callable[[Ask], Awaitable[T]]:
    async def locked(ask: Ask) -> T:
        await lock_clock(ask)
        try:
            return await work(ask)
        except Unsettled as error:
            raise Invalid(
                "the record in Neo4j does not fit together",
                hint="another program changed it; restore it from a dump",
            ) from error

    return locked


def _overtaken(expected: Cursor, last: Cursor) -> Conflict:
    return Conflict(
        f"the record stands at {last} or later, not at {expected}",
        hint="read what changed since, decide again and commit on the new head",
    )


def _unknown(error: Unavailable) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"the connection to Neo4j broke during a commit: {error.message}",
        hint="it may have happened: ask by idempotency key, or read the head, then try again",
    )
