"""The record in SQL: each verb of the port, on one connection of the embedded store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from graph.model.change import (
    CHAIN_DIGITS,
    Change,
    Changeset,
    ChangesetHeader,
    Cursor,
    Entity,
    Numbers,
    Receipt,
    Relation,
    ref_of,
)
from graph.model.errors import NotFound, RevisionExpired
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.ref import Kind
from graph.store.codec import (
    decode_body,
    decode_changes,
    decode_entity,
    decode_moment,
    encode_entity,
    encode_moment,
)
from graph.store.cursors import identity_of, is_in_log, refuse_unreachable, relation_of
from graph.store.port import Claim, Entry, Facts, Head, Kept
from graph.store.sealing import Sealed, seal_entries, used_already
from graph.store.sqlite import Connection, reading, transaction

CHANGESETS_A_READ = 256
BYTES_A_READ = 1024 * 1024
"""One read of the log ends at whichever comes first, so following it takes bounded memory."""


@dataclass(frozen=True, slots=True)
class Meta:
    """The one row that says where the record stands, with what only the store needs of it."""

    head: Head
    chain: str
    horizon_at: str | None
    store: str
    """The identity of the store, as cursors carry it."""


def read_meta(connection: Connection) -> Meta:
    """Where the record stands."""
    row: tuple[Any, ...] = connection.execute(
        "SELECT revision, chain, at, horizon, horizon_chain, horizon_at, next_cluster, next_group,"
        " store FROM meta"
    ).get
    revision, chain, at, horizon, horizon_chain, horizon_at, cluster, group, store = row
    head = Head(
        cursor=_cursor(revision, chain),
        horizon=_cursor(horizon, horizon_chain),
        horizon_chain=horizon_chain,
        numbers=Numbers(ClusterNumber(cluster), GroupNumber(group)),
        at=None if at is None else decode_moment(at),
    )
    return Meta(head, chain, horizon_at, identity_of(store))


def _cursor(revision: int, chain: str) -> Cursor:
    return Cursor(Revision(revision), chain[:CHAIN_DIGITS])


def load_facts(connection: Connection) -> Facts:
    """Every fact, read at one revision."""
    entities: list[Entity] = []
    with reading(connection):
        head = read_meta(connection).head
        for kind in Kind:
            rows = connection.execute("SELECT body FROM facts WHERE kind = ? ORDER BY key", (kind,))
            entities.extend(decode_entity(kind, body) for (body,) in rows)
    return Facts(head, entities)


# writing


def commit_entries(
    connection: Connection,
    *,
    entries: Sequence[Entry],
    expected: Cursor,
    now: datetime,
    receipts_kept_days: int,
) -> tuple[Receipt, ...]:
    """Write ``entries`` in order, all or nothing."""
    with transaction(connection):
        meta = read_meta(connection)
        sealed = seal_entries(entries, expected=expected, head=meta.head, chain=meta.chain)
        _forget_receipts(connection, now - timedelta(days=receipts_kept_days))
        numbers = meta.head.numbers
        for entry in sealed:
            if entry.changeset is not None:
                _write_changeset(connection, entry.changeset, entry.body)
                numbers = numbers.after(entry.changeset.changes)
            if entry.claim is not None:
                _write_receipt(connection, entry.claim, entry.receipt, now)
        _write_head(connection, sealed, numbers)
    return tuple(entry.receipt for entry in sealed)


def _write_changeset(connection: Connection, changeset: Changeset, body: bytes) -> None:
    connection.execute(
        "INSERT INTO changesets VALUES (?, ?, ?, ?, ?)",
        (
            changeset.revision,
            encode_moment(changeset.at),
            changeset.actor,
            changeset.chain,
            body,
        ),
    )
    header = changeset.header
    connection.execute(
        "INSERT INTO headers VALUES (?, ?, ?, ?, ?, ?)",
        (
            header.revision,
            header.reason,
            header.accepted_loss,
            header.change_count,
            header.grant_count,
            header.on_behalf_of,
        ),
    )
    gone = [change.ref for change in changeset.changes if change.after is None]
    made = [change.after for change in changeset.changes if change.after is not None]
    connection.executemany(
        "DELETE FROM facts WHERE kind = ? AND key = ?", ((ref.kind, ref.key) for ref in gone)
    )
    connection.executemany("REPLACE INTO facts VALUES (?, ?, ?)", map(_fact, made))


def _fact(entity: Entity) -> tuple[str, str | int, bytes]:
    ref = ref_of(entity)
    return ref.kind, ref.key, encode_entity(entity)


def _write_receipt(connection: Connection, claim: Claim, receipt: Receipt, now: datetime) -> None:
    if find_kept(connection, actor=claim.actor, key=claim.key) is not None:
        raise used_already(claim)
    connection.execute(
        "INSERT INTO receipts VALUES (?, ?, ?, ?, ?, ?)",
        (
            claim.actor,
            claim.key,
            claim.digest,
            str(receipt.cursor),
            int(receipt.changed),
            encode_moment(now),
        ),
    )


def _forget_receipts(connection: Connection, before: datetime) -> None:
    connection.execute("DELETE FROM receipts WHERE at < ?", (encode_moment(before),))


def _write_head(connection: Connection, sealed: Sequence[Sealed], numbers: Numbers) -> None:
    last = next((each.changeset for each in reversed(sealed) if each.changeset is not None), None)
    if last is not None:
        connection.execute(
            "UPDATE meta SET revision = ?, chain = ?, at = ?, next_cluster = ?, next_group = ?",
            (last.revision, last.chain, encode_moment(last.at), numbers.cluster, numbers.group),
        )


def drop_changesets(connection: Connection, *, until: Cursor) -> None:
    """Forget the log up to and including ``until``."""
    with transaction(connection):
        meta = read_meta(connection)
        check_cursor(connection, meta, until)
        if until.revision == meta.head.horizon.revision:
            return
        chain, at = connection.execute(
            "SELECT chain, at FROM changesets WHERE revision = ?", (until.revision,)
        ).get
        connection.execute("DELETE FROM changesets WHERE revision <= ?", (until.revision,))
        connection.execute("DELETE FROM headers WHERE revision <= ?", (until.revision,))
        connection.execute(
            "UPDATE meta SET horizon = ?, horizon_chain = ?, horizon_at = ?",
            (until.revision, chain, at),
        )


# reading


def find_kept(connection: Connection, *, actor: str, key: str) -> Kept | None:
    """What was kept for an actor's key."""
    row: tuple[Any, ...] | None = connection.execute(
        "SELECT digest, cursor, changed FROM receipts WHERE actor = ? AND key = ?", (actor, key)
    ).get
    if row is None:
        return None
    digest, cursor, changed = row
    return Kept(Claim(actor, key, digest), Receipt(Cursor.parse(cursor), bool(changed)))


def read_changeset(connection: Connection, *, revision: Revision) -> Changeset:
    """One changeset, if the log has it."""
    return decode_body(*_read_body(connection, revision))


def find_change(
    connection: Connection, *, revision: Revision, wanted: Callable[[Change], bool]
) -> bool:
    """Whether one changeset, if the log has it, holds a change that is ``wanted``."""
    body, _ = _read_body(connection, revision)
    return any(map(wanted, decode_changes(body)))


def _read_body(connection: Connection, revision: Revision) -> tuple[bytes, str]:
    with reading(connection):
        _check_revision(read_meta(connection).head, revision)
        body, chain = connection.execute(
            "SELECT body, chain FROM changesets WHERE revision = ?", (revision,)
        ).get
    return body, chain


def read_headers(connection: Connection, *, last: Revision, count: int) -> list[ChangesetHeader]:
    """The headers that end with ``last``, if the log has it, oldest first."""
    with reading(connection):
        _check_revision(read_meta(connection).head, last)
        rows: list[tuple[Any, ...]] = list(
            connection.execute(
                "SELECT revision, at, actor, reason, accepted_loss, chain, changes, grants,"
                " on_behalf_of"
                " FROM changesets JOIN headers USING (revision)"
                " WHERE revision > ? AND revision <= ? ORDER BY revision",
                (last - count, last),
            )
        )
    return [
        ChangesetHeader(Revision(revision), decode_moment(at), *others)
        for revision, at, *others in rows
    ]


def _check_revision(head: Head, revision: Revision) -> None:
    """Refuse a revision that the log does not have, or no longer has."""
    if not 0 < revision <= head.cursor.revision:
        raise NotFound(
            f"there is no revision {revision:,}",
            hint=f"the newest is {head.cursor.revision:,}",
        )
    if revision <= head.horizon.revision:
        raise RevisionExpired(
            f"revision {revision:,} is no longer in the log",
            hint=f"the log keeps revisions after {head.horizon.revision:,}; look in the archive",
        )


def read_after(connection: Connection, *, cursor: Cursor) -> list[Changeset]:
    """The next changesets after ``cursor``, a bounded number of them."""
    with reading(connection):
        check_cursor(connection, read_meta(connection), cursor)
        rows = connection.execute(
            "SELECT body, chain FROM changesets WHERE revision > ? ORDER BY revision LIMIT ?",
            (cursor.revision, CHANGESETS_A_READ),
        )
        found: list[tuple[bytes, str]] = []
        size = 0
        for body, chain in rows:
            found.append((body, chain))
            size += len(body)
            if size >= BYTES_A_READ:
                break
        rows.close()
    return [decode_body(body, chain) for body, chain in found]


def check_cursor(connection: Connection, meta: Meta, cursor: Cursor) -> None:
    """Refuse a place that is not, or no longer, in this history."""
    refuse_unreachable(cursor, meta.head, _relation(connection, meta, cursor))


def find_relation(connection: Connection, *, cursor: Cursor) -> Relation:
    """How ``cursor`` relates to this history."""
    with reading(connection):
        return _relation(connection, read_meta(connection), cursor)


def _relation(connection: Connection, meta: Meta, cursor: Cursor) -> Relation:
    logged: Cursor | None = None
    if is_in_log(cursor, meta.head):
        chain: str | None = connection.execute(
            "SELECT chain FROM changesets WHERE revision = ?", (cursor.revision,)
        ).get
        logged = None if chain is None else _cursor(cursor.revision, chain)
    return relation_of(cursor, meta.head, meta.store, logged)


def find_revision(connection: Connection, *, moment: datetime) -> Revision:
    """The last revision made at or before ``moment``."""
    at = encode_moment(moment)
    with reading(connection):
        meta = read_meta(connection)
        found: int | None = connection.execute(
            "SELECT revision FROM changesets WHERE at <= ? ORDER BY at DESC, revision DESC LIMIT 1",
            (at,),
        ).get
    horizon = meta.head.horizon.revision
    if found is not None:
        return Revision(found)
    if meta.horizon_at is not None and at < meta.horizon_at:
        raise RevisionExpired(
            f"the log no longer reaches back to {at}",
            hint=f"the oldest revision it can show is {horizon:,}, of {meta.horizon_at}",
        )
    return horizon
