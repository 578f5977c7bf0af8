"""The record: changes, changesets, cursors, receipts.

A change is one object before and after; None stands for absence. That one shape is replayed,
undone, audited, indexed and reverted alike. A changeset is the net of one batch: each object at
most once, in an order that depends on nothing but the objects, so that equal batches have equal
bytes. Applying one never depends on the order inside it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from operator import attrgetter

from graph.model.access import Grant
from graph.model.errors import Invalid
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, SavedSelector
from graph.model.names import ClusterNumber, GroupNumber, Revision, quoted
from graph.model.ref import Kind, Ref
from graph.model.workload import (
    Application,
    Assignment,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)

Entity = (
    Hierarchy
    | Group
    | LabelKey
    | Cluster
    | SavedSelector
    | Grant
    | Namespace
    | Application
    | Assignment
    | Prohibition
    | Layer
    | Policy
)
"""Anything the record keeps."""

CHAIN_DIGITS = 16
"""Hex digits of the chain hash that a cursor carries."""


_ORDER = {kind: position for position, kind in enumerate(Kind)}


def ref_of(entity: Entity) -> Ref:
    """Which object ``entity`` is a state of."""
    match entity:
        case Cluster():
            return Ref(Kind.CLUSTER, entity.number)
        case Group():
            return Ref(Kind.GROUP, entity.number)
        case _:
            return Ref(_KIND_OF[type(entity)], entity.name)


_KIND_OF: dict[type, Kind] = {
    Hierarchy: Kind.HIERARCHY,
    LabelKey: Kind.LABEL_KEY,
    SavedSelector: Kind.SAVED_SELECTOR,
    Grant: Kind.GRANT,
    Namespace: Kind.NAMESPACE,
    Application: Kind.APPLICATION,
    Assignment: Kind.ASSIGNMENT,
    Prohibition: Kind.PROHIBITION,
    Layer: Kind.LAYER,
    Policy: Kind.POLICY,
}


@dataclass(frozen=True, slots=True)
class Change:
    """One object, before and after. At least one of the two is there."""

    before: Entity | None
    after: Entity | None

    @property
    def ref(self) -> Ref:
        """The object that changed."""
        entity = self.after if self.after is not None else self.before
        assert entity is not None, "a change has a before or an after"
        return ref_of(entity)

    def undone(self) -> Change:
        """The change that takes this one back."""
        return Change(before=self.after, after=self.before)


def net(changes: Iterable[Change]) -> tuple[Change, ...]:
    """``changes`` made one after the other, as one changeset lists them."""
    first: dict[Ref, Entity | None] = {}
    last: dict[Ref, Entity | None] = {}
    for change in changes:
        ref = change.ref
        first.setdefault(ref, change.before)
        last[ref] = change.after
    kept = [ref for ref in last if not same(first[ref], last[ref])]
    kept.sort(key=_position)
    return tuple(Change(before=first[ref], after=last[ref]) for ref in kept)


def change_of(changes: Sequence[Change], ref: Ref) -> Change | None:
    """What ``changes``, listed as a changeset lists them, did to one object."""
    at = bisect_left(changes, _position(ref), key=lambda each: _position(each.ref))
    found = changes[at] if at < len(changes) else None
    return found if found is not None and found.ref == ref else None


def same(one: Entity | None, other: Entity | None) -> bool:
    """Whether two states differ in nothing but the revision that wrote them."""
    if one is None or other is None:
        return one is other
    if type(one) is not type(other):
        return False
    facts = _FACTS[type(one)]
    if facts(one) != facts(other):
        return False
    if isinstance(one, Cluster) and isinstance(other, Cluster) and one.labels is not other.labels:
        # True == 1, but a key taken away and declared anew may have changed its type
        return all(type(value) is type(other.labels[key]) for key, value in one.labels.items())
    return True


_FACTS: dict[type, Callable[[Entity], object]] = {
    kind: attrgetter(*(each.name for each in fields(kind) if each.name != "changed"))
    for kind in (Cluster, Group, *_KIND_OF)
}
"""All that a state says, but for the revision that wrote it."""


def _position(ref: Ref) -> tuple[int, int, str]:
    if isinstance(ref.key, int):
        return _ORDER[ref.kind], ref.key, ""
    return _ORDER[ref.kind], 0, ref.key


@dataclass(frozen=True, slots=True)
class Numbers:
    """The next free numbers. They only grow: a number is never given twice."""

    cluster: ClusterNumber = ClusterNumber(0)
    group: GroupNumber = GroupNumber(0)

    def after(self, changes: Iterable[Change]) -> Numbers:
        """What is free once ``changes`` are made."""
        cluster, group = int(self.cluster), int(self.group)
        for change in changes:
            match change.after:
                case Cluster(number=number) if number >= cluster:
                    cluster = number + 1
                case Group(number=number) if number >= group:
                    group = number + 1
                case _:
                    pass
        return Numbers(ClusterNumber(cluster), GroupNumber(group))


_CURSOR = re.compile(
    rf"(0|[1-9][0-9]{{0,17}})\.([0-9a-f]{{{CHAIN_DIGITS}}})(?:\.([0-9a-f]{{{CHAIN_DIGITS}}}))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in one history: revision, and the head of that changeset's chain hash (S7).

    A cursor that leaves for somewhere else, as a renderer's does, also carries the identity of its
    store: a revision that a store has not reached yet says by itself nothing about whose it is.
    """

    revision: Revision
    chain: str
    store: str = field(default="", compare=False)
    """The identity of the store; empty where it goes without saying."""

    def __str__(self) -> str:
        place = f"{self.revision}.{self.chain}"
        return f"{place}.{self.store}" if self.store else place

    @property
    def here(self) -> Cursor:
        """The same place, as its own store keeps it."""
        return Cursor(self.revision, self.chain)

    @staticmethod
    def parse(text: str) -> Cursor:
        """The inverse of ``str``."""
        if not (found := _CURSOR.fullmatch(text)):
            raise Invalid(
                f"{quoted(text)} is not a cursor",
                hint="pass a cursor exactly as it was received, as 812.0123456789abcdef",
            )
        return Cursor(Revision(int(found.group(1))), found.group(2), found.group(3) or "")


class Relation(StrEnum):
    """How a cursor that somebody kept relates to the history of a store."""

    CONTAINED = "contained"
    """It is a place in this history."""
    AHEAD = "ahead"
    """It is of a revision that this history has not reached yet."""
    OTHER = "other"
    """It is a place in another history."""
    FORGOTTEN = "forgotten"
    """It is older than what is kept: nobody here can tell."""


@dataclass(frozen=True, slots=True)
class ChangesetHeader:
    """One revision without its changes: who, when, why, and how many objects changed."""

    revision: Revision
    at: datetime
    actor: str
    reason: str
    accepted_loss: int
    chain: str
    change_count: int
    grant_count: int
    """How many of the changes are of grants, which not everybody may read."""
    on_behalf_of: str = ""
    """As a changeset's."""

    @property
    def cursor(self) -> Cursor:
        """The place in history right after this changeset."""
        return Cursor(self.revision, self.chain[:CHAIN_DIGITS])


@dataclass(frozen=True, slots=True)
class Changeset:
    """One revision: who, when, why, and what changed."""

    revision: Revision
    at: datetime
    """UTC, to the millisecond; never before the changeset that precedes it."""
    actor: str
    reason: str
    changes: tuple[Change, ...]
    accepted_loss: int = 0
    """How many (application, cluster) pairs were lost with a stated leave; see the shrink guard.

    Never more than were lost, however much was stated: what was left over is leave for nothing.
    """
    chain: str = ""
    """Hex hash over the whole history up to here, at least the digits of a cursor; empty until the
    store has sealed it."""
    on_behalf_of: str = ""
    """The subject for whom, and under whose grants, the actor made it; empty if for nobody else."""

    @property
    def cursor(self) -> Cursor:
        """The place in history right after this changeset."""
        return Cursor(self.revision, self.chain[:CHAIN_DIGITS])

    @property
    def header(self) -> ChangesetHeader:
        """All of it but the changes."""
        return ChangesetHeader(
            revision=self.revision,
            at=self.at,
            actor=self.actor,
            reason=self.reason,
            accepted_loss=self.accepted_loss,
            chain=self.chain,
            change_count=len(self.changes),
            grant_count=sum(map(is_of_grant, self.changes)),
            on_behalf_of=self.on_behalf_of,
        )


def is_of_grant(change: Change) -> bool:
    """Whether a grant was given, changed or revoked."""
    return isinstance(change.after, Grant) or isinstance(change.before, Grant)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the caller of a batch gets."""

    cursor: Cursor
    changed: bool
    """False when the batch left everything as it was; the cursor is then the head's."""

    @property
    def revision(self) -> Revision:
        """The revision at which the batch holds."""
        return self.cursor.revision
