"""One commit to Neo4j: facts, changesets, receipts and Clock in one transaction, exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from graph.model.change import Changeset, Cursor, Receipt
from graph.model.errors import Unavailable
from graph.store.codec import encode_moment
from graph.store.neo4j_clock import Ask, Clock, read_clock, write_clock
from graph.store.neo4j_facts import writes
from graph.store.port import Claim, Entry
from graph.store.sealing import Sealed, seal_entries, used_already

RECEIPTS_A_SWEEP = 5_000
"""Receipts forgotten in one go."""

_WRITE_CHANGESETS = "UNWIND $rows AS row CREATE (n:Changeset) SET n = row"
_WRITE_RECEIPTS = """
UNWIND $rows AS row
MERGE (n:Receipt {actor: row.actor, key: row.key}) SET n = row
"""
_USED_CLAIMS = """
UNWIND $rows AS row
MATCH (n:Receipt {actor: row.actor, key: row.key}) WHERE n.at >= $oldest
RETURN n.actor, n.key, n.digest LIMIT 1
"""
_FORGET_RECEIPTS = "MATCH (n:Receipt) WHERE n.at < $oldest WITH n LIMIT $count DELETE n"
_WHOSE_CHANGESET = "MATCH (n:Changeset {revision: $revision}) RETURN n.attempt"
_WHOSE_RECEIPT = "MATCH (n:Receipt {actor: $actor, key: $key}) RETURN n.attempt"


@dataclass(slots=True)
class Commit:
    """One call of ``commit``, through all its tries.

    A connection may break while the answer to COMMIT is on its way. The next try then takes the
    lock, which waits for the lost transaction to end one way or the other, and looks for this
    call's own mark: there, it had happened; not there, it never will.
    """

    entries: Sequence[Entry]
    expected: Cursor
    now: datetime
    receipts_kept_days: int
    attempt: str = field(default_factory=lambda: uuid4().hex)
    receipts: tuple[Receipt, ...] | None = None
    """What an earlier try was about to return; None while none came that far."""


async def commit_entries(ask: Ask, commit: Commit) -> tuple[Receipt, ...]:
    """Write the entries in order, all or nothing; the Clock is locked."""
    clock = await read_clock(ask)
    if commit.receipts is not None and await _happened(ask, commit, clock):
        return commit.receipts
    sealed = seal_entries(
        commit.entries, expected=commit.expected, head=clock.head, chain=clock.chain
    )
    await _write_receipts(ask, commit, sealed)
    await _write_changesets(ask, commit, sealed, clock)
    commit.receipts = tuple(each.receipt for each in sealed)
    return commit.receipts


async def _happened(ask: Ask, commit: Commit, clock: Clock) -> bool:
    revision = next((each.changeset.revision for each in commit.entries if each.changeset), None)
    claim = next((each.claim for each in commit.entries if each.claim), None)
    if revision is not None:
        if revision <= clock.horizon:
            raise Unavailable(
                f"whether revision {revision:,} is ours can no longer be told: it was compacted",
                hint="read the fleet again before repeating the batch",
            )
        rows = await ask(_WHOSE_CHANGESET, revision=revision)
    elif claim is not None:
        rows = await ask(_WHOSE_RECEIPT, actor=claim.actor, key=claim.key)
    else:
        rows = []
    return [row[0] for row in rows] == [commit.attempt]


async def _write_receipts(ask: Ask, commit: Commit, sealed: Sequence[Sealed]) -> None:
    claims = [(each.claim, each.receipt) for each in sealed if each.claim]
    if not claims:
        return
    oldest = encode_moment(commit.now - timedelta(days=commit.receipts_kept_days))
    rows = [
        {
            "actor": claim.actor,
            "key": claim.key,
            "digest": claim.digest,
            "cursor": str(receipt.cursor),
            "changed": receipt.changed,
            "at": encode_moment(commit.now),
            "attempt": commit.attempt,
        }
        for claim, receipt in claims
    ]
    for actor, key, digest in await ask(_USED_CLAIMS, rows=rows, oldest=oldest):
        raise used_already(Claim(actor, key, digest))
    await ask(_WRITE_RECEIPTS, rows=rows)
    await ask(_FORGET_RECEIPTS, oldest=oldest, count=RECEIPTS_A_SWEEP)


async def _write_changesets(
    ask: Ask, commit: Commit, sealed: Sequence[Sealed], clock: Clock
) -> None:
    made = [(each.changeset, each.body) for each in sealed if each.changeset]
    if not made:
        return
    changes = [change for changeset, _ in made for change in changeset.changes]
    for write in writes(changes):
        await ask(write.text, rows=write.rows)
    await ask(_WRITE_CHANGESETS, rows=[_log_row(*each, commit.attempt) for each in made])
    last, _ = made[-1]
    numbers = clock.head.numbers.after(changes)
    moved = Clock(
        *(last.revision, last.chain, encode_moment(last.at)),
        *(clock.horizon, clock.horizon_chain, clock.horizon_at),
        *(numbers.cluster, numbers.group),
    )
    await write_clock(ask, moved)


def _log_row(changeset: Changeset, body: bytes, attempt: str) -> dict[str, Any]:
    header = changeset.header
    return {
        "revision": changeset.revision,
        "at": encode_moment(changeset.at),
        "actor": changeset.actor,
        "onBehalfOf": changeset.on_behalf_of or None,
        "reason": changeset.reason,
        "acceptedLoss": changeset.accepted_loss or None,
        "chain": changeset.chain,
        "body": body.decode(),
        "bytes": len(body),
        "changeCount": header.change_count,
        "grantCount": header.grant_count,
        "attempt": attempt,
    }
