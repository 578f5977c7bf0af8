"""The Neo4j store: the record as a graph that people can read as well.

The only module that knows the driver. Its neighbours know the Cypher (clock, commit, facts, rows,
log); this one knows how to reach a server and what to do when that fails: short timeouts, managed
transactions that repeat what is transient for a bounded time, and an answer to "did my commit
happen?" when the connection broke before the server told. While the server is away nothing but a
probe asks it (``graph.store.availability``).

Every transaction is a write transaction to the driver, so that in a cluster the leader answers: a
follower may lag, and a lagging answer cannot be told from another history. The record is off the
request path; nothing is lost by it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString, TypeVar
from urllib.parse import urlsplit

import neo4j
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConnectionAcquisitionTimeoutError,
    DatabaseError,
    DatabaseUnavailable,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from graph.model.change import Changeset, Cursor, Receipt, Relation
from graph.model.errors import Conflict, Invalid, NotFound, OutcomeUnknown, Unavailable
from graph.model.names import Revision, quoted
from graph.model.publication import Publication
from graph.store.availability import Availability
from graph.store.neo4j_clock import (
    Ask,
    Row,
    Unsettled,
    lock_clock,
    read_clock,
    read_identity,
    read_schema,
)
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
    probe_seconds: float = 0.5
    """Between two probes of a server that is away."""


class Neo4jStore:
    """A record in one Neo4j database. Made by ``open``."""

    def __init__(
        self,
        connect: Callable[[], neo4j.AsyncDriver],
        url: str,
        database: str | None,
        timeouts: Timeouts,
        receipts_kept_days: int,
        trace: Trace = untraced,
    ) -> None:
        self._connect = connect
        self._url = url
        self._database = database
        self._timeouts = timeouts
        self._receipts_kept_days = receipts_kept_days
        self._trace = trace
        self._pool = _Pool(connect())
        self._availability = Availability(self._probe, probe_seconds=timeouts.probe_seconds)
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
        waits = timeouts or Timeouts()

        def connect() -> neo4j.AsyncDriver:
            return _driver(url, user, password, waits, connections_max)

        store = cls(connect, url, database, waits, receipts_kept_days, trace)
        try:
            await bring_up_to_date(store._run, create=create, seconds=waits.load_seconds)
        except BaseException:
            await store.close()
            raise
        return store

    def check_available(self) -> None:
        """Refuse what would be written while the server is known to be away; it is not asked."""
        self._availability.check()

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
        await self._availability.close()
        await self._pool.retire()

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
            except (DriverError, Neo4jError, OSError, Unavailable) as error:
                refusal = error if isinstance(error, Unavailable) else self._unavailable(error)
                # past this point an earlier try had only COMMIT left to send
                raise refusal if commit.receipts is None else _unknown(refusal) from error
            self._last = receipts[-1].cursor if receipts else self._last
            return receipts

    async def _until_known(self, commit: Commit, seconds: float) -> tuple[Receipt, ...]:
        """Try until it has happened or cannot have; the last error when neither is found out."""
        clock = asyncio.get_running_loop().time
        give_up: float | None = None
        work = _locked(lambda ask: commit_entries(ask, commit))
        self._availability.check()
        while True:
            try:
                return await self._transact(work, seconds)
            except (IncompleteCommit, DatabaseError, TimeoutError):
                give_up = give_up or clock() + self._timeouts.retry_seconds
                if not await self._availability.is_back(within_seconds=give_up - clock()):
                    raise
                if clock() >= give_up:
                    raise
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
        self._availability.check()
        for attempts_left in reversed(range(LOST_ANSWERS_MAX)):
            try:
                return await self._transact(work, seconds or self._timeouts.read_seconds)
            except IncompleteCommit as error:
                if not attempts_left:
                    raise self._unavailable(error) from error
            except (DriverError, Neo4jError, OSError) as error:
                raise self._unavailable(error) from error
        raise AssertionError("the last attempt returns or raises")

    async def _transact(self, work: Callable[[Ask], Awaitable[T]], seconds: float) -> T:
        """``work`` in a transaction, repeated within ``seconds`` after what is transient.

        The server ends it after ``seconds`` too, so that a lost one does not keep the lock.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        give_up = min(until, clock() + self._timeouts.retry_seconds)
        pause = FIRST_RETRY_SECONDS
        while True:
            try:
                with self._trace("bolt"):
                    return await self._attempt(work, seconds, until)
            except (DriverError, Neo4jError, OSError) as error:
                lost = _is_lost(error)
                if lost:
                    self._availability.lost(self._unavailable(error))
                if not _is_retryable(error) or clock() >= give_up:
                    raise
                left = give_up - clock()
                if lost and not await self._availability.is_back(within_seconds=left):
                    raise
            if not lost:
                await asyncio.sleep(min(pause, give_up - clock()))
                pause *= 2

    async def _attempt(
        self, work: Callable[[Ask], Awaitable[T]], seconds: float, until: float
    ) -> T:
        @neo4j.unit_of_work(timeout=seconds)
        async def unit(tx: neo4j.AsyncManagedTransaction) -> T:
            return await work(_asking(tx))

        async with asyncio.timeout_at(until), self._pool.session(self._database) as session:
            return await session.execute_write(unit)

    async def _probe(self) -> None:
        """Ask the server once, over new connections; they replace those of before.

        A connection that was open when the server went away may be dead without knowing it.
        """
        pool = _Pool(self._connect())
        try:
            async with (
                asyncio.timeout(self._timeouts.connect_seconds),
                pool.session(self._database) as session,
                await session.begin_transaction() as tx,
            ):
                await read_schema(_asking(tx))
        except (DriverError, Neo4jError, OSError) as error:
            await pool.retire()
            raise self._unavailable(error) from error
        except BaseException:
            await pool.retire()
            raise
        before, self._pool = self._pool, pool
        await before.retire()

    def _unavailable(self, error: Exception) -> Unavailable:
        return _unavailable(error, self._url)


class _Pool:
    """A driver with its connections, which close once it is retired and out of use."""

    def __init__(self, driver: neo4j.AsyncDriver) -> None:
        self._driver = driver
        self._sessions = 0
        self._retired = False

    @asynccontextmanager
    async def session(self, database: str | None) -> AsyncGenerator[neo4j.AsyncSession]:
        """A session of its own for one transaction."""
        self._sessions += 1
        session = self._driver.session(database=database)  # pyright: ignore[reportUnknownMemberType] - the driver leaves its options untyped
        try:
            async with session:
                yield session
        finally:
            self._sessions -= 1
            await self._close_if_unused()

    async def retire(self) -> None:
        """Close every connection once nobody uses one."""
        self._retired = True
        await self._close_if_unused()

    async def _close_if_unused(self) -> None:
        if self._retired and not self._sessions:
            await self._driver.close()


def _asking(tx: neo4j.AsyncTransaction | neo4j.AsyncManagedTransaction) -> Ask:
    async def ask(text: LiteralString, **parameters: Any) -> list[Row]:
        return [*await (await tx.run(text, parameters)).values()]

    return ask


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
            max_transaction_retry_time=0.0,  # ours tells an outage from what is transient
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


def _is_lost(error: Exception) -> bool:
    """Whether it says that the server cannot be reached, or lets nobody in."""
    kinds = (ServiceUnavailable, SessionExpired, DatabaseUnavailable, AuthError, OSError)
    return isinstance(error, kinds)


def _is_retryable(error: Exception) -> bool:
    return isinstance(error, (DriverError, Neo4jError)) and error.is_retryable()


def _unavailable(error: Exception, url: str) -> Unavailable:
    """What went wrong in an operator's words, and what to look at."""
    causes = list(_causes(error))
    text = (error.message if isinstance(error, Neo4jError) else None) or str(error)
    said = text.strip().split("\n")[-1] or type(error).__name__
    root = str(causes[-1]).strip() or said
    hint = "check that the server runs and that the URL is right; try again"
    match error:
        case AuthError():
            message = f"Neo4j at {url} does not let this process in: {said}"
            hint = "check the user and the password"
        case ConnectionAcquisitionTimeoutError():
            message = f"every connection to Neo4j at {url} is in use: {said}"
            hint = "try again; if it goes on, allow more connections"
        case TimeoutError():
            message = f"Neo4j at {url} did not answer in time"
            hint = "the server is busy, or the network loses what is sent; try again"
        case ServiceUnavailable() if any(map(_is_unreachable, causes)):
            message = f"nothing answers at {url}: is Neo4j running there?"
            hint = f"start it, or correct the URL of the store ({root})"
        case ServiceUnavailable() if isinstance(causes[-1], TimeoutError):
            message = f"{url} accepts connections and does not answer: is that Neo4j, and well?"
            hint = "see the server's log, and check that the URL names its Bolt port"
        case ServiceUnavailable() | SessionExpired() | OSError():
            message = f"the connection to Neo4j at {url} failed: {root}"
        case _:
            message = f"Neo4j at {url} does not answer as it should: {said}"
            hint = "see the server's log; if another program writes to this database, stop it"
    return Unavailable(message, hint=hint)


def _is_unreachable(cause: BaseException) -> bool:
    """Whether a connection could not even be made. The driver tells that in words alone."""
    stages = ("Failed to establish connection", "Timed out trying to establish", "DNS resolve")
    return any(stage in str(cause) for stage in stages)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what led to it, down to what the system said."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, asyncio.CancelledError):
        yield found
        if isinstance(found, BaseExceptionGroup):
            found = found.exceptions[0]
        else:
            found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)


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
