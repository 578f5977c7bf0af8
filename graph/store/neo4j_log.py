"""The log and the receipts in Neo4j: what was committed, read back, and forgotten in the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from graph.model.change import Change, Changeset, ChangesetHeader, Cursor, Receipt, Relation
from graph.model.errors import NotFound, RevisionExpired
from graph.model.names import Revision
from graph.store.codec import (
    count_changes,
    decode_body,
    decode_changes,
    decode_moment,
    encode_moment,
)
from graph.store.cursors import is_in_log, refuse_unreachable, relation_of
from graph.store.neo4j_clock import (
    Ask,
    Clock,
    Row,
    Unsettled,
    cursor_at,
    read_clock,
    read_identity,
    write_clock,
)
from graph.store.port import Claim, Kept

CHANGESETS_A_READ = 256
BYTES_A_READ = 4 * 1024 * 1024
"""One read of the log ends at whichever comes first, so following it takes bounded memory."""

BYTES_DECODED_AT_ONCE = 64 * 1024
"""Bytes of the log that are decoded without giving way: well below a millisecond."""

CHANGESETS_A_SWEEP = 1_000
"""Changesets deleted in one go."""

_CHAIN = "MATCH (n:Changeset {revision: $revision}) RETURN n.chain, n.at"
_ONE = "MATCH (n:Changeset {revision: $revision}) RETURN n.body, n.chain"
_SIZES = """
MATCH (n:Changeset) WHERE n.revision > $after
RETURN n.revision, n.bytes ORDER BY n.revision LIMIT $count
"""
_BODIES = """
MATCH (n:Changeset) WHERE n.revision > $after AND n.revision <= $until
RETURN n.body, n.chain ORDER BY n.revision
"""
_HEADERS = """
MATCH (n:Changeset) WHERE n.revision > $after AND n.revision <= $last
RETURN n.revision, n.at, n.actor, n.reason, coalesce(n.acceptedLoss, 0), n.chain,
       n.changeCount, n.grantCount, coalesce(n.onBehalfOf, '')
ORDER BY n.revision
"""
_COUNT_CHANGES = """
MATCH (n:Changeset {revision: $revision}) SET n.changeCount = $changes, n.grantCount = $grants
"""
_LAST_AT = """
MATCH (n:Changeset) WHERE n.at <= $at AND n.revision > $horizon
RETURN n.revision ORDER BY n.at DESC, n.revision DESC LIMIT 1
"""
_DROP = (
    "MATCH (n:Changeset) WHERE n.revision <= $until WITH n LIMIT $count DELETE n RETURN count(*)"
)
_KEPT = "MATCH (n:Receipt {actor: $actor, key: $key}) RETURN n.digest, n.cursor, n.changed"


async def find_kept(ask: Ask, actor: str, key: str) -> Kept | None:
    """What was kept for an actor's key."""
    rows = await ask(_KEPT, actor=actor, key=key)
    if not rows:
        return None
    digest, cursor, changed = rows[0]
    return Kept(Claim(actor, key, digest), Receipt(Cursor.parse(cursor), changed))


async def read_changeset(ask: Ask, revision: Revision) -> Changeset:
    """One changeset, if the log has it."""
    [found] = await _decoded([await _read_body(ask, revision)])
    return found


async def find_change(ask: Ask, revision: Revision, wanted: Callable[[Change], bool]) -> bool:
    """Whether one changeset, if the log has it, holds a change that is ``wanted``."""
    body, _ = await _read_body(ask, revision)
    return await asyncio.to_thread(lambda: any(map(wanted, decode_changes(body))))


async def _decoded(bodies: Sequence[tuple[bytes, str]]) -> list[Changeset]:
    """The changesets in ``bodies``; many bytes are decoded beside the event loop."""

    def decoded() -> list[Changeset]:
        return [decode_body(body, chain) for body, chain in bodies]

    if sum(len(body) for body, _ in bodies) <= BYTES_DECODED_AT_ONCE:
        return decoded()
    return await asyncio.to_thread(decoded)


async def _read_body(ask: Ask, revision: Revision) -> tuple[bytes, str]:
    _check_revision(await read_clock(ask), revision)
    rows = await ask(_ONE, revision=revision)
    if not rows:
        raise Unsettled
    body, chain = rows[0]
    return body.encode(), chain


async def read_headers(ask: Ask, last: Revision, count: int) -> list[ChangesetHeader]:
    """The headers that end with ``last``, if the log has it, oldest first.

    Records from before there were counts have none in their log: those are counted when they are
    first read, and then kept.
    """
    clock = await read_clock(ask)
    _check_revision(clock, last)
    after = max(last - count, clock.horizon)
    rows = await ask(_HEADERS, after=after, last=last)
    if len(rows) != last - after:
        raise Unsettled
    return [await _header(ask, *row) for row in rows]


async def _header(
    ask: Ask,
    revision: Revision,
    at: str,
    actor: str,
    reason: str,
    accepted_loss: int,
    chain: str,
    changes: int | None,
    grants: int | None,
    on_behalf_of: str,
) -> ChangesetHeader:
    if changes is None or grants is None:
        body, _ = await _read_body(ask, revision)
        changes, grants = count_changes(body)
        await ask(_COUNT_CHANGES, revision=revision, changes=changes, grants=grants)
    return ChangesetHeader(
        revision,
        decode_moment(at),
        actor,
        reason,
        accepted_loss,
        chain,
        changes,
        grants,
        on_behalf_of,
    )


def _check_revision(clock: Clock, revision: Revision) -> None:
    """Refuse a revision that the log does not have, or no longer has."""
    if 0 < revision <= clock.horizon:
        raise RevisionExpired(
            f"revision {revision:,} is no longer in the log",
            hint=f"the log keeps revisions after {clock.horizon:,}; look in the archive",
        )
    if not 0 < revision <= clock.revision:
        raise NotFound(
            f"there is no revision {revision:,}", hint=f"the newest is {clock.revision:,}"
        )


async def read_after(ask: Ask, cursor: Cursor) -> list[Changeset]:
    """The next changesets after ``cursor``, a bounded number of them."""
    clock = await read_clock(ask)
    await check_cursor(ask, clock, cursor)
    sizes = await ask(_SIZES, after=cursor.revision, count=CHANGESETS_A_READ)
    until = _page_end(cursor.revision, sizes)
    if until == cursor.revision:
        if clock.revision > cursor.revision:
            raise Unsettled
        return []
    rows = await ask(_BODIES, after=cursor.revision, until=until)
    if len(rows) != until - cursor.revision:
        raise Unsettled
    return await _decoded([(body.encode(), chain) for body, chain in rows])


def _page_end(after: int, sizes: Sequence[Row]) -> int:
    """The last revision of a page: without a gap, and no larger than one read may be."""
    total = 0
    for revision, size in sizes:
        if revision != after + 1 or total >= BYTES_A_READ:
            break
        after, total = revision, total + size
    return after


async def check_cursor(ask: Ask, clock: Clock, cursor: Cursor) -> None:
    """Refuse a place that is not, or no longer, in this history."""
    refuse_unreachable(cursor, clock.head, await _relation(ask, clock, cursor))


async def find_relation(ask: Ask, cursor: Cursor) -> Relation:
    """How ``cursor`` relates to this history."""
    return await _relation(ask, await read_clock(ask), cursor)


async def _relation(ask: Ask, clock: Clock, cursor: Cursor) -> Relation:
    logged: Cursor | None = None
    if is_in_log(cursor, clock.head):
        rows = await ask(_CHAIN, revision=cursor.revision)
        logged = cursor_at(cursor.revision, rows[0][0]) if rows else None
    return relation_of(cursor, clock.head, await read_identity(ask), logged)


async def find_revision(ask: Ask, moment: datetime) -> Revision:
    """The last revision made at or before ``moment``."""
    at = encode_moment(moment)
    clock = await read_clock(ask)
    rows = await ask(_LAST_AT, at=at, horizon=clock.horizon)
    if rows:
        return Revision(rows[0][0])
    if clock.horizon_at is not None and at < clock.horizon_at:
        raise RevisionExpired(
            f"the log no longer reaches back to {at}",
            hint=f"the oldest revision it can show is {clock.horizon:,}, of {clock.horizon_at}",
        )
    return Revision(clock.horizon)


async def raise_horizon(ask: Ask, until: Cursor) -> None:
    """Let the log begin after ``until``, what lies before being as good as gone; under the lock."""
    clock = await read_clock(ask)
    await check_cursor(ask, clock, until)
    if until.revision == clock.horizon:
        return
    chain, at = (await ask(_CHAIN, revision=until.revision))[0]
    moved = Clock(
        *(clock.revision, clock.chain, clock.at),
        *(until.revision, chain, at),
        *(clock.next_cluster, clock.next_group),
    )
    await write_clock(ask, moved)


async def sweep_changesets(ask: Ask) -> int:
    """Delete some of what lies before the horizon; how many, 0 when all is gone."""
    clock = await read_clock(ask)
    rows = await ask(_DROP, until=clock.horizon, count=CHANGESETS_A_SWEEP)
    return int(rows[0][0])
