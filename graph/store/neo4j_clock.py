"""The Clock: the one node in Neo4j that says where the record stands.

A transaction that writes locks it first and to its end, so revision order is commit order (S2) and
``expected`` is compared with a head that cannot move (S3).

Neo4j has no snapshots: a reader may meet a commit while it is being applied and see part of it, the
Clock's own properties included. The lock is held until all is applied, hence two rules that make
reads exact without waiting for writers as a habit. The Clock carries a check over its properties,
and whatever does not fit together is ``Unsettled`` and read again under the lock. And a refusal,
which a follower acts upon, is only given from under the lock.

``Ask`` stands for the transaction, so that ``graph.store.neo4j_connection`` alone knows the driver.
It takes literal texts only: the type checker refuses a statement that was built from input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, LiteralString, Protocol
from uuid import uuid4

from graph.model.change import CHAIN_DIGITS, Cursor, Numbers
from graph.model.errors import Unavailable
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.store.codec import decode_moment, genesis
from graph.store.cursors import identity_of
from graph.store.neo4j_migrations import SCHEMA_VERSION
from graph.store.port import Head

Row = Sequence[Any]
"""Values in the order of a text's RETURN."""


class Ask(Protocol):
    """Runs one statement in the transaction at hand and returns all its rows."""

    async def __call__(self, text: LiteralString, **parameters: Any) -> list[Row]:
        """The rows of ``text``."""
        ...


class Unsettled(Exception):
    """A commit is being applied: what was read does not fit together. Read under the lock."""


_LOCK = "MATCH (k:Clock {id: 'fleet'}) SET k.locked = true RETURN k.id"
_READ_CLOCK = """
MATCH (k:Clock {id: 'fleet'})
RETURN k.revision, k.chain, k.at, k.horizonRevision, k.horizonChain, k.horizonAt,
       k.nextCluster, k.nextGroup, k.check
"""
_BEGIN = """
MERGE (k:Clock {id: 'fleet'})
ON CREATE SET k += $fields, k.storeId = $store
SET k.schema = $schema
"""
_SET_CLOCK = "MATCH (k:Clock {id: 'fleet'}) SET k += $fields"
_STORE = "MATCH (k:Clock {id: 'fleet'}) RETURN k.storeId"
_SCHEMA = "MATCH (k:Clock {id: 'fleet'}) RETURN k.schema"


@dataclass(frozen=True, slots=True)
class Clock:
    """Where the record stands, in whole chains."""

    revision: int
    chain: str
    at: str | None
    horizon: int
    horizon_chain: str
    horizon_at: str | None
    next_cluster: int
    next_group: int

    @property
    def head(self) -> Head:
        """What the port calls it."""
        return Head(
            cursor=cursor_at(self.revision, self.chain),
            horizon=cursor_at(self.horizon, self.horizon_chain),
            horizon_chain=self.horizon_chain,
            numbers=Numbers(ClusterNumber(self.next_cluster), GroupNumber(self.next_group)),
            at=None if self.at is None else decode_moment(self.at),
        )

    @property
    def fields(self) -> dict[str, Any]:
        """The node's properties."""
        return {
            "revision": self.revision,
            "chain": self.chain,
            "at": self.at,
            "horizonRevision": self.horizon,
            "horizonChain": self.horizon_chain,
            "horizonAt": self.horizon_at,
            "nextCluster": self.next_cluster,
            "nextGroup": self.next_group,
            "check": self.check,
        }

    @property
    def check(self) -> str:
        """Short enough that Neo4j keeps it in one piece, so it is of one commit."""
        return sha256(repr(self).encode()).hexdigest()[:16]


async def lock_clock(ask: Ask) -> None:
    """Wait for the writer before us, if any; whoever comes next waits for this transaction."""
    if not await ask(_LOCK):
        raise _no_record()


async def read_clock(ask: Ask) -> Clock:
    """Where the record stands."""
    rows = await ask(_READ_CLOCK)
    if not rows:
        raise _no_record()
    *values, check = rows[0]
    clock = Clock(*values)
    if clock.check != check:
        raise Unsettled
    return clock


async def write_clock(ask: Ask, clock: Clock) -> None:
    """Let the record stand at ``clock``; the lock is held."""
    await ask(_SET_CLOCK, fields=clock.fields)


async def read_schema(ask: Ask) -> int:
    """The number of migrations that were applied; 0 without a record."""
    rows = await ask(_SCHEMA)
    return int(rows[0][0]) if rows else 0


async def read_identity(ask: Ask) -> str:
    """What stands for this store in cursors."""
    rows = await ask(_STORE)
    if not rows:
        raise _no_record()
    return identity_of(str(rows[0][0]))


async def begin_record(ask: Ask) -> None:
    """Note that the schema is of this version; begin a record unless there is one."""
    store = uuid4().hex
    clock = Clock(0, genesis(store), None, 0, genesis(store), None, 0, 0)
    await ask(_BEGIN, fields=clock.fields, store=store, schema=SCHEMA_VERSION)


def cursor_at(revision: int, chain: str) -> Cursor:
    """A place in history by its whole chain."""
    return Cursor(Revision(revision), chain[:CHAIN_DIGITS])


def _no_record() -> Unavailable:
    return Unavailable(
        "the Neo4j database no longer holds a record",
        hint="it was emptied or replaced while in use; restore it, then start again",
    )
