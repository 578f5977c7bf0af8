"""How a Neo4j server is reached, and what happens when it is not. The only user of its driver.

Short timeouts; managed transactions that repeat what is transient for a bounded time; failures in
an operator's words. While the server is away nothing but a probe asks it
(``graph.store.availability``).

Every transaction is a write transaction to the driver, so that in a cluster the leader answers: a
follower may lag, and a lagging answer cannot be told from another history. The record is off the
request path; nothing is lost by it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
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

from graph.model.errors import Invalid, Unavailable
from graph.model.names import quoted
from graph.store.availability import Availability
from graph.store.neo4j_clock import Ask, Row, read_schema
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
COMMIT_PAUSE_SECONDS = 0.05
"""The wait before a commit whose answer was lost is looked for again."""


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


class Connection:
    """Transactions on one database. Nobody is connected before the first."""

    def __init__(
        self,
        url: str,
        *,
        user: str,
        password: str,
        database: str | None,
        timeouts: Timeouts,
        connections_max: int,
        trace: Trace = untraced,
    ) -> None:
        self.timeouts = timeouts
        self._url = url
        self._database = database
        self._trace = trace
        self._connect: Callable[[], neo4j.AsyncDriver] = partial(
            _driver, url, user, password, timeouts, connections_max
        )
        self._pool = _Pool(self._connect())
        self._availability = Availability(self._probe, probe_seconds=timeouts.probe_seconds)

    def check_available(self) -> None:
        """Refuse while the server is known to be away; it is not asked."""
        self._availability.check()

    async def run(self, work: Callable[[Ask], Awaitable[T]], *, seconds: float | None = None) -> T:
        """``work`` in one transaction; failures in our words.

        It may be done twice, and does no harm: it reads, or makes so what may be so already.
        """
        self._availability.check()
        for attempts_left in reversed(range(LOST_ANSWERS_MAX)):
            try:
                return await self._transact(work, seconds or self.timeouts.read_seconds)
            except IncompleteCommit as error:
                if not attempts_left:
                    raise self._unavailable(error) from error
            except (DriverError, Neo4jError, OSError) as error:
                raise self._unavailable(error) from error
        raise AssertionError("the last attempt returns or raises")

    async def run_until_known(self, work: Callable[[Ask], Awaitable[T]], *, seconds: float) -> T:
        """``work``, repeated when it cannot be told whether it was committed.

        It finds out by itself whether it had been; how often it is asked is bounded.
        """
        self._availability.check()
        clock = asyncio.get_running_loop().time
        give_up: float | None = None
        while True:
            try:
                return await self._transact(work, seconds)
            except (IncompleteCommit, DatabaseError, TimeoutError) as error:
                give_up = give_up or clock() + self.timeouts.retry_seconds
                back = await self._availability.is_back(within_seconds=give_up - clock())
                if not back or clock() >= give_up:
                    raise self._unavailable(error) from error
            except (DriverError, Neo4jError, OSError) as error:
                raise self._unavailable(error) from error
            await asyncio.sleep(COMMIT_PAUSE_SECONDS)

    async def close(self) -> None:
        """Let go of the server."""
        await self._availability.close()
        await self._pool.retire()

    async def _transact(self, work: Callable[[Ask], Awaitable[T]], seconds: float) -> T:
        """``work`` in a transaction, repeated within ``seconds`` after what is transient.

        The server ends it after ``seconds`` too, so that a lost one does not keep the lock.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        give_up = min(until, clock() + self.timeouts.retry_seconds)
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
                asyncio.timeout(self.timeouts.connect_seconds),
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
        found = _cause(found)


def _cause(error: BaseException) -> BaseException | None:
    several: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    if several:  # a group: each server of a cluster had its own
        return several[0]
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)
