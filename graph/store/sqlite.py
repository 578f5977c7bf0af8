"""SQLite as the store uses it: connections, threads of their own, and failures in our words.

The library is apsw's own (never the system's): versions before 3.51.3 can damage a file when a
checkpoint meets a commit. A connection lives in one thread, its lane, so a disk that takes its time
never stops the event loop; writes have one lane, and it alone moves pages from the log to the file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import apsw

from graph.model.errors import Invalid, TrellisError, Unavailable

T = TypeVar("T")
Value = str | int | bytes | None

SQLITE_VERSION = apsw.sqlite_lib_version()
SQLITE_VERSION_MIN = (3, 51, 3)
BUSY_TIMEOUT_MILLISECONDS = 5_000
CHECKPOINT_PAGES = 1_000
"""Pages in the write-ahead log at which the writer moves them to the file."""
LOG_BYTES_KEPT = 16 * 1024 * 1024
"""What the write-ahead log is cut back to once it has been moved."""


class Rows(Protocol):
    """The answer to a statement."""

    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...
    def close(self) -> None:
        """Ask for no more rows."""
        ...

    @property
    def get(self) -> Any:
        """All rows at once, with as little structure as holds them: a value, a tuple, None."""
        ...


class Copying(Protocol):
    """A copy being made, some pages at a time."""

    @property
    def page_count(self) -> int:
        """Pages in all."""
        ...

    @property
    def remaining(self) -> int:
        """Pages to go."""
        ...

    def step(self, pages: int, /) -> bool:
        """Copy some pages; True when that was the last of them."""
        ...


class Connection(Protocol):
    """What the store uses of a connection."""

    @property
    def in_transaction(self) -> bool:
        """Whether something is begun and not ended."""
        ...

    def execute(self, sql: str, values: Sequence[Value] = (), /) -> Rows:
        """Run one or several statements."""
        ...

    def executemany(self, sql: str, values: Iterable[Sequence[Value]], /) -> Rows:
        """Run a statement once for each of ``values``."""
        ...

    def pragma(self, name: str, value: Value = None, /) -> Any:
        """Read a setting, or write it."""
        ...

    def backup(
        self, target: str, source: Connection, name: str, /
    ) -> AbstractContextManager[Copying]:
        """Become a copy of ``source``."""
        ...

    def set_busy_timeout(self, milliseconds: int, /) -> None:
        """How long to wait for another connection."""
        ...

    def wal_autocheckpoint(self, pages: int, /) -> None:
        """How long the log may get before it is moved to the file."""
        ...

    def close(self) -> None:
        """Disconnect."""
        ...


def connect_writer(path: Path, *, checkpoint_pages: int = CHECKPOINT_PAGES) -> Connection:
    """The one connection that writes: what it commits is on the disk when it returns."""
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE)
    if connection.pragma("journal_mode", "wal") != "wal":
        connection.close()
        raise Unavailable(
            f"the file system of {path} cannot hold a write-ahead log",
            hint="keep the store on a local disk",
        )
    connection.pragma("synchronous", "full")
    connection.pragma("fullfsync", True)
    connection.pragma("journal_size_limit", LOG_BYTES_KEPT)
    connection.wal_autocheckpoint(checkpoint_pages)
    return connection


def connect_reader(path: Path) -> Connection:
    """A connection that cannot write, and sees what others have committed."""
    return _connect(path, apsw.SQLITE_OPEN_READONLY)


def connect_copy(path: Path) -> Connection:
    """A connection to a file nobody else knows yet: one file, no log beside it."""
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    connection.pragma("synchronous", "full")
    return connection


def _connect(path: Path, flags: int) -> Connection:
    check_version(SQLITE_VERSION)
    # apsw's own annotations need a newer Python than ours; the Protocol says what is used of it.
    connection = cast("Connection", apsw.Connection(str(path), flags=flags))
    connection.set_busy_timeout(BUSY_TIMEOUT_MILLISECONDS)
    connection.pragma("trusted_schema", False)
    return connection


def check_version(version: str) -> None:
    """Refuse a SQLite that can damage a file."""
    if tuple(int(part) for part in version.split(".")) < SQLITE_VERSION_MIN:
        oldest = ".".join(map(str, SQLITE_VERSION_MIN))
        raise Unavailable(
            f"SQLite {version} can damage a store; {oldest} or newer is needed",
            hint="install the apsw package from its wheel, which brings its own SQLite",
        )


@contextmanager
def transaction(connection: Connection, mode: str = "IMMEDIATE") -> Generator[None]:
    """All of what is done inside, or nothing."""
    connection.execute(f"BEGIN {mode}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            # The first failure is the one to report; a new BEGIN will tell if this one lasts.
            with suppress(apsw.Error):
                connection.execute("ROLLBACK")
        raise


@contextmanager
def reading(connection: Connection) -> Generator[None]:
    """Everything read inside is of one moment."""
    with transaction(connection, "DEFERRED"):
        yield


@contextmanager
def failures(path: Path) -> Generator[None]:
    """Turn the failures of SQLite and of the file system inside into ours."""
    try:
        yield
    except apsw.Error as error:
        raise _in_our_words(error, path) from error
    except OSError as error:
        raise Unavailable(
            f"{error.filename or path} cannot be read or written: {error.strerror or error}",
            hint=_PERMISSIONS,
        ) from error


def _in_our_words(error: apsw.Error, path: Path) -> TrellisError:
    for kind, refusal, message, hint in _FAILURES:
        if isinstance(error, kind):
            return refusal(f"{path} {message}: {error}", hint=hint)
    return Unavailable(
        f"{path} could not be read or written: {error}",
        hint="check the disk; ask by idempotency key whether a commit happened",
    )


_PERMISSIONS = "check the permissions of the file and of its directory"
_FAILURES: tuple[tuple[type[apsw.Error], type[TrellisError], str, str], ...] = (
    (apsw.FullError, Unavailable, "is on a full disk", "free some space; nothing is half-written"),
    (apsw.ReadOnlyError, Unavailable, "cannot be written", _PERMISSIONS),
    (apsw.CantOpenError, Unavailable, "cannot be opened", _PERMISSIONS),
    (apsw.NotADBError, Invalid, "is not a store", "check the path, or restore a backup"),
    (apsw.CorruptError, Invalid, "is damaged", "restore the last good backup"),
    (apsw.BusyError, Unavailable, "is in use", "try again"),
)


class Lane:
    """A thread with a connection of its own; work is done there one piece after the other."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._connection: Connection | None = None

    async def open(self, connect: Callable[[], Connection]) -> None:
        """Connect, in the lane's thread."""
        self._connection = await self._submit(connect)

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Do ``work`` with the connection. A caller that gives up does not stop it."""
        connection = self._connection
        if connection is None:
            raise Unavailable(f"{self._path} has been closed", hint="open the store again")
        return await self._submit(lambda: work(connection))

    async def close(self) -> None:
        """Disconnect once the work at hand is done."""
        connection, self._connection = self._connection, None
        try:
            if connection is not None:
                # What fails here is moving the log to the file. It stays in the log, and the next
                # writer moves it.
                with suppress(Unavailable):
                    await self._submit(connection.close)
        finally:
            self._thread.shutdown(wait=False)

    async def _submit(self, work: Callable[[], T]) -> T:
        def step() -> T:
            with failures(self._path):
                return work()

        return await asyncio.get_running_loop().run_in_executor(self._thread, step)
