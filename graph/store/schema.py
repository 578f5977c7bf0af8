"""The embedded store's file: its tables, its versions, and how a file is known to be one.

Three marks in the file's header say what it is before anything is read from it or written to it:
SQLite's own, ours (the application id), and the version of the schema. A version is the number of
migrations applied; they only go forward, each in one transaction. A new file is made beside its
place and moved there whole, so half a store is never found.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from uuid import uuid4

from graph.model.errors import Conflict, Invalid
from graph.store.codec import genesis, seal
from graph.store.files import discard, publish
from graph.store.sqlite import Connection, connect_copy, failures, reading, transaction

APPLICATION_ID = 0x54524C53
"""``TRLS``: the mark SQLite's header keeps for the program a file belongs to."""

MIGRATIONS = (
    # 1: the record
    """
    CREATE TABLE meta (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        store TEXT NOT NULL,
        revision INTEGER NOT NULL,
        chain TEXT NOT NULL,
        at TEXT,
        horizon INTEGER NOT NULL,
        horizon_chain TEXT NOT NULL,
        horizon_at TEXT,
        next_cluster INTEGER NOT NULL,
        next_group INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE facts (
        kind TEXT NOT NULL,
        key ANY NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (kind, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE changesets (
        revision INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        actor TEXT NOT NULL,
        chain TEXT NOT NULL,
        body BLOB NOT NULL
    ) STRICT;
    CREATE TABLE receipts (
        actor TEXT NOT NULL,
        key TEXT NOT NULL,
        digest TEXT NOT NULL,
        cursor TEXT NOT NULL,
        changed INTEGER NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (actor, key)
    ) STRICT, WITHOUT ROWID;
    """,
    # 2: lookups by time, for states as of a moment and for receipts that have been kept long enough
    """
    CREATE INDEX changesets_by_time ON changesets (at, revision);
    CREATE INDEX receipts_by_time ON receipts (at);
    """,
    # 3: grants. They are facts like any other and need no table; the number keeps programs out
    # that would read the fleet without them and show it to everybody.
    "",
    # 4: the workload, in the same way: a program that knows no namespaces would let a group go that
    # a layer names, and would take a grant over one application for one over everything.
    "",
    # 5: publications, beside the log. Programs that know none know no secrets and no cluster-scoped
    # objects either, and would lose them with the next definition.
    """
    CREATE TABLE publications (
        name TEXT PRIMARY KEY,
        cursor TEXT NOT NULL,
        place TEXT NOT NULL,
        held BLOB NOT NULL,
        actor TEXT NOT NULL,
        at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    """,
    # 6: what a changeset says of itself, apart from its changes, so that listing a load of many
    # objects does not read them. Moment, actor and chain are in front of the body already.
    """
    CREATE TABLE headers (
        revision INTEGER PRIMARY KEY,
        reason TEXT NOT NULL,
        accepted_loss INTEGER NOT NULL,
        changes INTEGER NOT NULL,
        grants INTEGER NOT NULL,
        on_behalf_of TEXT NOT NULL
    ) STRICT;
    INSERT INTO headers
        SELECT
            revision,
            body ->> '$.reason',
            coalesce(body ->> '$.accepted_loss', 0),
            json_array_length(body, '$.changes'),
            (SELECT count(*) FROM json_each(body, '$.changes') WHERE value ->> 0 = 'grant'),
            ''
        FROM (SELECT revision, CAST(body AS TEXT) AS body FROM changesets);
    """,
)
SCHEMA_VERSION = len(MIGRATIONS)

_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\x00"


def create_file(path: Path) -> None:
    """Make an empty store at ``path``, where there is none."""
    if (log := path.with_name(path.name + "-wal")).exists():
        raise Invalid(
            f"{path} is missing but {log.name} is there",
            hint="bring the file back from a backup, or remove what is left of it",
        )
    draft = path.with_name(f"{path.name}.new")
    discard(draft)
    with failures(draft), closing(connect_copy(draft)) as connection:
        connection.pragma("application_id", APPLICATION_ID)
        migrate(connection)
        store = uuid4().hex
        connection.execute(
            "INSERT INTO meta VALUES (1, ?, 0, ?, NULL, 0, ?, NULL, 0, 0)",
            (store, genesis(store), genesis(store)),
        )
        connection.pragma("journal_mode", "wal")
    publish(draft, path)


def check_mark(path: Path) -> None:
    """Refuse a file that is no store, without opening it as one."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if header[:16] != _MAGIC or len(header) < _HEADER_BYTES:
        raise Invalid(
            f"{path} is not a store" if header else f"{path} is empty",
            hint="check the path; a new store needs a path where no file is",
        )
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise Invalid(
            f"{path} is a SQLite database of another program",
            hint="check the path; it was left as it is",
        )


def check_length(path: Path) -> None:
    """Refuse a file that is shorter than it says; what is missing may look like nothing."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    page = int.from_bytes(header[16:18], "big")
    size = (page if page > 1 else 65_536) * int.from_bytes(header[28:32], "big")
    if path.stat().st_size < size:
        raise Invalid(
            f"{path} is cut short: {path.stat().st_size:,} of {size:,} bytes",
            hint="use another backup",
        )


def version_of(connection: Connection, path: Path) -> int:
    """The schema version of a file; one from the future is refused."""
    version = int(connection.pragma("user_version"))
    if version > SCHEMA_VERSION:
        raise Conflict(
            f"{path} has schema version {version:,}; this trellis knows up to {SCHEMA_VERSION:,}",
            hint="upgrade trellis; the file was left as it is",
        )
    return version


def migrate(connection: Connection) -> None:
    """Bring the schema to this version, all of it or nothing."""
    version = int(connection.pragma("user_version"))
    if version == SCHEMA_VERSION:
        return
    with transaction(connection):
        for migration in MIGRATIONS[version:]:
            connection.execute(migration)
        connection.pragma("user_version", SCHEMA_VERSION)


def check_content(connection: Connection, path: Path) -> None:
    """Refuse a file whose pages or whose hash chain are not whole."""
    with reading(connection):
        if (found := connection.pragma("integrity_check")) != "ok":
            raise Invalid(f"{path} is damaged: {found}", hint="use another backup")
        _check_chain(connection, path)


def _check_chain(connection: Connection, path: Path) -> None:
    expected, chain, head, head_chain = connection.execute(
        "SELECT horizon, horizon_chain, revision, chain FROM meta"
    ).get
    rows = connection.execute("SELECT revision, chain, body FROM changesets ORDER BY revision")
    for revision, kept, body in rows:
        expected, chain = expected + 1, seal(chain, body)
        if (revision, kept) != (expected, chain):
            raise _broken(path, expected)
    if (expected, chain) != (head, head_chain):
        raise _broken(path, min(expected, head) + 1)


def _broken(path: Path, revision: int) -> Invalid:
    return Invalid(
        f"the history in {path} is broken at revision {revision:,}",
        hint="use another backup; this one was damaged or edited",
    )
