"""The Neo4j store: the record as a graph that people can read as well.

The only module that knows the driver. Its neighbours know the Cypher (clock, commit, facts, rows,
log); this one knows how to reach a server and what to do when that fails: short timeouts, managed
transactions that repeat what is transient for a bounded time, and an answer to "did my commit
happen?" when the connection broke before the server told.

Every transaction is a write transaction to the driver, so that in a cluster the leader answers: a
follower may lag, and a lagging answer cannot be told from another history. The record is off the
request path; nothing is lost by it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString, TypeVar
from urllib.parse import urlsplit

import neo4j
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    DatabaseError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
)

from graph.model.change import Changeset, Cursor, Receipt, Relation
from graph.model.errors import Conflict, Invalid, NotFound, Unavailable
from graph.model.names import Revision, quoted
from graph.model.publication import Publication
from graph.store.neo4j_clock import Ask, Row, Unsettled, lock_clock, read_clock, read_identity
from graph.store.neo4j_commit import Commit, commit_entries
from graph.store.neo4j_log import (
    find_kept,
    find_relation,
    find_revision,
    raise_horizon,
    read_after,
    read_changeset,
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

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
CONNECTIONS_MAX = 20
FIRST_RETRY_SECONDS = 0.1
"""The wait before what is transient is tried again; it doubles each time."""
IDLE_SECONDS_UNCHECKED = 15.0
"""A connection that was idle for longer is tried before it is used."""
LOST_ANSWERS_MAX = 3
"""Answers to one read that may get lost on the way."""
LOADS_UNLOCKED_MAX = 2
"""Loads that writers may disturb before one makes them wait."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait for what. The driver's own defaults are minutes."""

    connect_seconds: float = 3.0
    acquire_seconds: float = 5.0
    """For a free connection of the pool."""
    retry_seconds: float = 8.0
    """How long what is transient is repeated, and how long a lost commit is looked for."""
    read_seconds: float = 10.0
    commit_seconds: float = 10.0
    commit_milliseconds_a_change: float = 5.0
    """On top, for large batches: 10,000 changes may take a minute."""
    load_seconds: float = 180.0


class Neo4jStore:
    """A record in one Neo4j database. Made by ``open``."""

    def __init__(
        self,
        driver: neo4j.AsyncDriver,
        database: str | None,
        timeouts: Timeouts,
        receipts_kept_days: int,
        trace: Trace = untraced,
    ) -> None:
        self._driver = driver
        self._database = database
        self._timeouts = timeouts
        self._receipts_kept_days = receipts_kept_days
        self._trace = trace
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
        timeouts = timeouts or Timeouts()
        driver = _driver(url, user, password, timeouts, connections_max)
        store = cls(driver, database, timeouts, receipts_kept_days, trace)
        try:
            await bring_up_to_date(store._run, create=create, seconds=timeouts.load_seconds)
        except BaseException:
            await store.close()
            raise
        return store

    async def head(self) -> Head:
        """Where the record stands now."""
        return (await self._exactly(read_clock)).head

    async def load(self) -> Facts:
        """Every fact, read at one revision.

        Who holds the lock knows that no commit is under way. Locked for a moment before and after,
        and the Clock unmoved: then none was in between either, and what was read is one state.
        """
        for _ in range(LOADS_UNLOCKED_MAX):
            before = await self._run(_locked(read_clock))
            entities = await self._load()
            if entities is not None and before == await self._run(_locked(read_clock)):
                return Facts(before.head, entities)

        async def undisturbed(ask: Ask) -> Facts:
            return Facts((await read_clock(ask)).head, await load_facts(ask))

        return await self._run(_locked(undisturbed), seconds=self._timeouts.load_seconds)

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

        return await self._run(find) or await self._run(_locked(find))

    async def changeset(self, revision: Revision) -> Changeset:
        """One changeset; ``RevisionExpired`` up to the horizon, ``NotFound`` past the head."""
        return await self._exactly(lambda ask: read_changeset(ask, revision))

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
        return await self._run(_locked(lambda ask: find_relation(ask, cursor)))

    async def revision_at(self, moment: datetime) -> Revision:
        """The last revision made at or before ``moment``; ``RevisionExpired`` below the horizon."""
        return await self._exactly(lambda ask: find_revision(ask, moment))

    async def drop(self, until: Cursor) -> None:
        """Forget changesets up to and including ``until``, which becomes the horizon."""
        await self._run(_locked(lambda ask: raise_horizon(ask, until)))
        while await self._run(_locked(sweep_changesets)):
            pass

    async def keep_publication(self, publication: Publication) -> Publication:
        """Keep what a worker reports; what is then kept under its name."""
        return await self._run(_locked(lambda ask: keep_publication(ask, publication)))

    async def forget_publication(self, name: str) -> bool:
        """Forget the report of a name; whether there was one."""
        return await self._run(_locked(lambda ask: forget_publication(ask, name)))

    async def publications(self) -> tuple[Publication, ...]:
        """The last report of every name, by name."""
        return await self._exactly(read_publications)

    async def close(self) -> None:
        """Let commits under way end, then the connections go; everything committed stays."""
        if self._commits:
            await asyncio.wait(self._commits)
        await self._driver.close()

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
            try:
                receipts = await self._until_known(commit, seconds)
            except (DriverError, Neo4jError, OSError) as error:
                raise _unavailable(error) from error
            self._last = receipts[-1].cursor if receipts else self._last
            return receipts

    async def _until_known(self, commit: Commit, seconds: float) -> tuple[Receipt, ...]:
        clock = asyncio.get_running_loop().time
        give_up: float | None = None
        work = _locked(lambda ask: commit_entries(ask, commit))
        while True:
            try:
                return await self._transact(work, seconds)
            except (IncompleteCommit, DatabaseError, TimeoutError) as error:
                give_up = give_up or clock() + self._timeouts.retry_seconds
                if clock() >= give_up:
                    raise _unknown(error) from error
            await asyncio.sleep(0.05)

    def _committed(self, task: asyncio.Task[tuple[Receipt, ...]]) -> None:
        self._commits.discard(task)
        if not task.cancelled():
            task.exception()  # the caller may be gone, and nobody else would look

    # transactions

    async def _exactly(self, read: Callable[[Ask], Awaitable[T]]) -> T:
        """An answer is taken as it comes; a refusal is only given from under the lock."""
        try:
            return await self._run(read)
        except (Unsettled, NotFound, Conflict):
            return await self._run(_locked(read))

    async def _read_after(self, cursor: Cursor) -> list[Changeset]:
        return await self._exactly(lambda ask: read_after(ask, cursor))

    async def _load(self) -> Sequence[Any] | None:
        try:
            return await self._run(load_facts, seconds=self._timeouts.load_seconds)
        except Unsettled:
            return None

    async def _run(self, work: Callable[[Ask], Awaitable[T]], *, seconds: float | None = None) -> T:
        """``work`` in one transaction; failures in our words.

        It may be done twice, and does no harm: it reads, or makes so what may be so already.
        """
        for attempts_left in reversed(range(LOST_ANSWERS_MAX)):
            try:
                return await self._transact(work, seconds or self._timeouts.read_seconds)
            except IncompleteCommit as error:
                if not attempts_left:
                    raise _unavailable(error) from error
            except (DriverError, Neo4jError, OSError) as error:
                raise _unavailable(error) from error
        raise AssertionError("the last attempt returns or raises")

    async def _transact(self, work: Callable[[Ask], Awaitable[T]], seconds: float) -> T:
        """The server ends it after ``seconds`` too, so that a lost one does not keep the lock."""

        @neo4j.unit_of_work(timeout=seconds)
        async def unit(tx: neo4j.AsyncManagedTransaction) -> T:
            async def ask(text: LiteralString, **parameters: Any) -> list[Row]:
                return [*await (await tx.run(text, parameters)).values()]

            return await work(ask)

        session = self._driver.session(database=self._database)  # pyright: ignore[reportUnknownMemberType] - the driver leaves its options untyped
        with self._trace("bolt"):
            async with asyncio.timeout(seconds), session:
                return await session.execute_write(unit)


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


def _driver(
    url: str, user: str, password: str, timeouts: Timeouts, connections_max: int
) -> neo4j.AsyncDriver:
    _check_url(url)
    try:
        return neo4j.AsyncGraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType] - as above
            url,
            auth=(user, password) if user else None,
            connection_timeout=timeouts.connect_seconds,
            connection_acquisition_timeout=timeouts.acquire_seconds,
            max_transaction_retry_time=timeouts.retry_seconds,
            initial_retry_delay=FIRST_RETRY_SECONDS,
            max_connection_pool_size=connections_max,
            liveness_check_timeout=IDLE_SECONDS_UNCHECKED,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )
    except (ConfigurationError, ValueError) as error:
        raise _no_url(url) from error


def _check_url(url: str) -> None:
    """The driver takes more than Bolt, and notices a strange port only when it connects."""
    try:
        parts = urlsplit(url)
        whole = parts.scheme in SCHEMES and parts.hostname and parts.port != 0
    except ValueError as error:
        raise _no_url(url) from error
    if not whole:
        raise _no_url(url)


def _no_url(url: str) -> Invalid:
    return Invalid(
        f"{quoted(url)} is not a Neo4j URL",
        hint="write neo4j://host, neo4j+s://host or bolt://host:7687",
    )


def _unavailable(error: Exception) -> Unavailable:
    match error:
        case AuthError():
            hint = "check the user and the password"
        case TimeoutError():
            hint = "the server is overloaded or cut off; try again"
        case Neo4jError() if not error.is_retryable():
            hint = "see the server's log; if another program writes to this database, stop it"
        case _:
            hint = "check that the server runs and that the URL is right; try again"
    reason = str(error).strip().split("\n")[0] or type(error).__name__
    return Unavailable(f"Neo4j does not answer as it should: {reason}", hint=hint)


def _overtaken(expected: Cursor, last: Cursor) -> Conflict:
    return Conflict(
        f"the record stands at {last} or later, not at {expected}",
        hint="read what changed since, decide again and commit on the new head",
    )


def _unknown(error: Exception) -> Unavailable:
    return Unavailable(
        f"the connection to Neo4j broke during a commit ({type(error).__name__})",
        hint="it may have happened: ask by idempotency key, or read the head, then try again",
    )
