"""The system of record, as the core sees it.

A store keeps facts and their history; it answers no targeting question. Every adapter keeps these
promises, and tests/contracts/store checks them on each:

S1  ``commit`` is all or nothing, for all its entries together.
S2  Revisions start at 1 and grow by exactly 1 per changeset.
S3  ``commit`` raises ``Conflict`` unless ``expected`` is the head.
S4  ``changesets(after=cursor)`` has no gap and no repeat; a cursor that is too old, or of another
    history, raises ``ResyncRequired`` before the first changeset, never silence.
S5  What ``commit`` returned survives kill -9 and power loss.
S6  An idempotency key belongs to its actor and is kept with its receipt in the transaction of the
    changeset, for the days the adapter was opened with whatever the horizon. A refusal leaves the
    key free.
S7  A cursor carries the chain hash, so another history cannot be mistaken for this one;
    ``relation`` says how one relates to this history, and an ``identity`` in it is respected.
S8  Names compare byte for byte.
S9  ``load``, ``changesets`` and the chain agree; the engine's ``verify`` proves it.
S10 Publications lie beside the log: the last report of each name, which survives as S5 says, is
    seen by every process, and never goes back in this history.
S11 A header says of its changeset what the changeset says of itself. Reading headers costs what
    they hold, however large the changesets are.

Every failure to reach or write the record is ``Unavailable``; no adapter lets its driver's own
exceptions out. A commit that is ``Unavailable`` did not happen, unless it is ``OutcomeUnknown``:
that one may have happened; ask by idempotency key, or read the head.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from graph.model.change import (
    Change,
    Changeset,
    ChangesetHeader,
    Cursor,
    Entity,
    Numbers,
    Receipt,
    Relation,
)
from graph.model.names import Revision
from graph.model.publication import Publication


@dataclass(frozen=True, slots=True)
class Head:
    """Where the record stands."""

    cursor: Cursor
    horizon: Cursor
    """The oldest revision that can still be reached: changesets after it are kept."""
    horizon_chain: str
    """The whole chain hash at the horizon, from which ``verify`` recomputes the rest."""
    numbers: Numbers
    at: datetime | None
    """When the newest changeset was made; None for an empty record."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that is, at one head."""

    head: Head
    entities: Sequence[Entity]


@dataclass(frozen=True, slots=True)
class Claim:
    """An idempotency key of an actor, with the digest of the batch it was first used for."""

    actor: str
    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A claim and the receipt that was given for it."""

    claim: Claim
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Entry:
    """One batch to be recorded: its changeset (None if it changed nothing) and its claim."""

    changeset: Changeset | None
    claim: Claim | None = None


class Store(Protocol):
    """A record of one fleet."""

    def check_available(self) -> None:
        """Raise ``Unavailable`` if the record is known to be out of reach; nothing is asked."""
        ...

    async def head(self) -> Head:
        """Where the record stands now."""
        ...

    async def load(self) -> Facts:
        """Every fact, read at one revision."""
        ...

    async def commit(
        self, entries: Sequence[Entry], *, expected: Cursor, now: datetime
    ) -> tuple[Receipt, ...]:
        """Write ``entries`` in order, one receipt each.

        Their changesets carry the revisions right after ``expected``, none dated before the one
        it follows; ``graph.store.sealing`` checks and seals them alike for every adapter. A claim
        whose key is kept already is a ``Conflict``: its batch has happened. ``now`` dates the
        claims; those that have been kept for long enough (S6) may be forgotten here. A store that
        was opened for reading is ``Denied``, which no second try would change.
        """
        ...

    async def kept(self, actor: str, key: str) -> Kept | None:
        """The receipt first given for an actor's idempotency key."""
        ...

    async def changeset(self, revision: Revision) -> Changeset:
        """One changeset; ``RevisionExpired`` up to the horizon, ``NotFound`` past the head."""
        ...

    async def headers(self, last: Revision, count: int) -> Sequence[ChangesetHeader]:
        """The ``count`` headers that end with ``last``, oldest first; fewer at the horizon.

        ``last`` is refused as ``changeset`` refuses it.
        """
        ...

    async def has_change(self, revision: Revision, wanted: Callable[[Change], bool]) -> bool:
        """Whether a changeset holds a change that is ``wanted``; it is read up to the first one.

        ``wanted`` may be called in another thread. ``revision`` is refused as ``changeset``
        refuses it.
        """
        ...

    def changesets(self, *, after: Cursor) -> AsyncIterator[Changeset]:
        """Changesets after ``after``, in order, up to the head as it was when last read."""
        ...

    async def identity(self) -> str:
        """What stands for this store in cursors: the same in its backups, and in no other store."""
        ...

    async def relation(self, cursor: Cursor) -> Relation:
        """How ``cursor`` relates to this history; no changeset is read for it."""
        ...

    async def revision_at(self, moment: datetime) -> Revision:
        """The last revision made at or before ``moment``; ``RevisionExpired`` below the horizon."""
        ...

    async def drop(self, until: Cursor) -> None:
        """Forget changesets up to and including ``until``, which becomes the horizon.

        The caller has archived them. Facts, receipts and the chain stay. ``until`` must be a place
        in this history (``ResyncRequired`` otherwise); the horizon itself changes nothing.
        """
        ...

    async def keep_publication(self, publication: Publication) -> Publication:
        """Keep what a worker reports, and return what is then kept under its name.

        That is an earlier report if it is further on in this history. ``publication`` must be of a
        place in this history that the log still reaches (``ResyncRequired`` otherwise). Of more
        names than ``PUBLICATIONS_MAX``, the one reported longest ago is forgotten.
        """
        ...

    async def forget_publication(self, name: str) -> bool:
        """Forget the report of a name; whether there was one."""
        ...

    async def publications(self) -> tuple[Publication, ...]:
        """The last report of every name, by name."""
        ...

    async def close(self) -> None:
        """Let go of files and connections; everything committed stays."""
        ...


RECEIPTS_KEPT_DAYS = 30
"""How long receipts are kept unless an adapter is told otherwise."""
PUBLICATIONS_MAX = 200
"""Names under which a report is kept."""
