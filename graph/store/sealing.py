"""From entries to what is written: checked against the head, numbered, sealed, receipted.

Pure, and the same for every adapter, so that all of them refuse the same commits and give equal
histories equal chains.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graph.model.change import CHAIN_DIGITS, Changeset, Cursor, Receipt
from graph.model.errors import Conflict, Invalid
from graph.model.names import Revision, quoted
from graph.store.codec import encode_body, encode_moment, seal
from graph.store.port import Claim, Entry, Head


@dataclass(frozen=True, slots=True)
class Sealed:
    """One entry, ready to be written."""

    changeset: Changeset | None
    """With its chain; None when the batch changed nothing."""
    body: bytes
    """What the chain was made over; empty without a changeset."""
    claim: Claim | None
    receipt: Receipt


def seal_entries(
    entries: Sequence[Entry], *, expected: Cursor, head: Head, chain: str
) -> list[Sealed]:
    """Seal ``entries`` onto a history that stands at ``head``, whose whole chain is ``chain``."""
    if expected != head.cursor:
        raise Conflict(
            f"the record stands at {head.cursor}, not at {expected}",
            hint="read what changed since, decide again and commit on the new head",
        )
    _refuse_repeated(entry.claim for entry in entries)
    sealed: list[Sealed] = []
    revision, at = head.cursor.revision, head.at
    for position, entry in enumerate(entries):
        changeset, body = entry.changeset, b""
        if changeset is not None:
            _check_order(changeset, revision, at, position)
            body = encode_body(changeset)
            chain = seal(chain, body)
            changeset = replace(changeset, chain=chain)
            revision, at = changeset.revision, changeset.at
        receipt = Receipt(Cursor(revision, chain[:CHAIN_DIGITS]), changed=changeset is not None)
        sealed.append(Sealed(changeset, body, entry.claim, receipt))
    return sealed


def used_already(claim: Claim) -> Conflict:
    """The refusal of a claim whose key is kept: its batch has happened."""
    return Conflict(
        f"the idempotency key {quoted(claim.key)} of {quoted(claim.actor)} was used before",
        hint="ask for the receipt that was kept for it",
    )


def _refuse_repeated(claims: Iterable[Claim | None]) -> None:
    seen: set[tuple[str, str]] = set()
    for claim in claims:
        if claim is None:
            continue
        if (claim.actor, claim.key) in seen:
            raise used_already(claim)
        seen.add((claim.actor, claim.key))


def _check_order(
    changeset: Changeset, revision: Revision, at: datetime | None, position: int
) -> None:
    if changeset.revision != revision + 1:
        raise Invalid(
            f"revision {changeset.revision:,} cannot follow {revision:,}",
            hint="number changesets one by one from the expected head",
            path=("entries", position),
        )
    if at is not None and encode_moment(changeset.at) < encode_moment(at):
        raise Invalid(
            f"revision {changeset.revision:,} is dated {encode_moment(changeset.at)}, "
            f"before the one it follows ({encode_moment(at)})",
            hint="date a changeset no earlier than the head",
            path=("entries", position),
        )
