"""The file in which a directory's record is kept, and what may go wrong with it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graph.model.errors import Unavailable

Values = Sequence[object] | Mapping[str, object]
Row = tuple[Any, ...]

_SCHEMA = """
PRAGMA journal_mode = DELETE;
PRAGMA synchronous = FULL;
PRAGMA temp_store = FILE;
CREATE TABLE IF NOT EXISTS file (
    path TEXT PRIMARY KEY, id BLOB NOT NULL, content BLOB NOT NULL,
    size INTEGER, changed INTEGER, inode INTEGER
);
CREATE TABLE IF NOT EXISTS pending (path TEXT PRIMARY KEY, committed INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS state (
    one INTEGER PRIMARY KEY CHECK (one = 1), made TEXT, cursor TEXT, stamp TEXT
);
CREATE TEMPORARY TABLE staged (
    draft INTEGER, path TEXT, id BLOB, content BLOB, UNIQUE (draft, path)
);
"""


class Database:
    """An SQLite file. Any thread may ask; one asks at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        with self.guarded():
            self._base = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._base.executescript(_SCHEMA)

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()

    def run(self, statement: str, values: Values = ()) -> None:
        """Say something."""
        with self.guarded():
            self._base.execute(statement, values)

    def run_many(self, statement: str, values: Iterable[Values]) -> None:
        """Say something of many."""
        with self.guarded():
            self._base.executemany(statement, values)

    def row(self, statement: str, values: Values = ()) -> Row | None:
        """The first answer."""
        with self.guarded():
            found: Row | None = self._base.execute(statement, values).fetchone()
            return found

    def rows(self, statement: str, values: Values = ()) -> list[Row]:
        """All answers."""
        with self.guarded():
            return self._base.execute(statement, values).fetchall()

    @contextmanager
    def transaction(self) -> Generator[None]:
        """All of what is said inside, or nothing."""
        with self.guarded():
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._base.execute("COMMIT")
            except BaseException:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                raise

    @contextmanager
    def guarded(self) -> Generator[None]:
        """One at a time; a disk that refuses is ``Unavailable``."""
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise Unavailable(
                    f"{self._path} could not be used: {error}",
                    hint="see that the disk has room and the worker may write there; "
                    "the last commit is untouched",
                ) from error
