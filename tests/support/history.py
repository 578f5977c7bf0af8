"""A small business and its history, for tests of the record.

``History`` does what an engine does for a store: it knows the head and the facts, numbers and dates
changesets, and stamps objects with the revision that writes them.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from graph.model.access import Grant, Role
from graph.model.change import Change, Changeset, Cursor, Entity, Receipt, net, ref_of
from graph.model.hours import Interval, OpeningHours
from graph.model.inventory import (
    Capacity,
    Cluster,
    ClusterKind,
    Group,
    Hierarchy,
    LabelKey,
    LabelType,
    Mode,
    Reconciler,
    SavedSelector,
)
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.ref import Ref
from graph.model.selector import (
    And,
    Comparison,
    Everything,
    Except,
    HasLabel,
    IsCluster,
    LabelIn,
    LabelIs,
    Matching,
    Not,
    Only,
    Or,
    Saved,
    Under,
)
from graph.store.codec import encode_entity
from graph.store.port import Claim, Entry, Store

START = datetime(2026, 11, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def at(revision: int) -> datetime:
    """When the tests' revisions are made: one a minute."""
    return START + revision * MINUTE


def group(number: int, hierarchy: str, parent: int | None, name: str, title: str = "") -> Group:
    above = None if parent is None else GroupNumber(parent)
    return Group(GroupNumber(number), hierarchy, above, name, title)


BUSINESS: tuple[Entity, ...] = (
    Hierarchy("geo", Mode.SINGLE, required=True, title="Geography"),
    Hierarchy("devices", Mode.MANY),
    LabelKey("size", LabelType.TEXT, title="Size", allowed=("small", "large")),
    LabelKey("lanes", LabelType.NUMBER, unit="lanes"),
    LabelKey("drive-through", LabelType.BOOLEAN),
    group(0, "geo", None, "geo", "Geography"),
    group(1, "geo", 0, "us", "United States"),
    group(2, "geo", 1, "tx", "Texas"),
    group(3, "devices", None, "devices"),
    group(4, "devices", 3, "grill"),
)
"""Two hierarchies, five groups, three label keys: what clusters below refer to."""


def cluster(number: int, title: str = "", **labels: str | int | float | bool) -> Cluster:
    """A plain cluster in Texas with a grill."""
    return Cluster(
        ClusterNumber(number),
        f"us-tx-{number:05d}",
        title,
        labels=labels,
        memberships=(GroupNumber(2), GroupNumber(4)),
    )


FULL_CLUSTER = Cluster(
    ClusterNumber(7),
    "us-tx-full",
    "Everything a cluster can have",
    ClusterKind.HOST,
    Reconciler.ANSIBLE,
    {"size": "large", "lanes": 2.5, "drive-through": False},
    (GroupNumber(1), GroupNumber(2), GroupNumber(4)),
    Capacity(8_000, 32_768, 512_000),
    "America/Chicago",
    OpeningHours(
        {"monday": (Interval("06:00", "14:00"), Interval("16:00", "24:00")), "sunday": ()},
        {"2026-12-24": (Interval("08:00", "12:00"),), "2026-12-25": ()},
    ),
)

EVERY_CLAUSE = Or(
    (
        And((Under(GroupNumber(1)), LabelIs("lanes", Comparison.GE, 2), HasLabel("size"))),
        Except(Everything(), Matching(GroupNumber(0), ("*", "tx"), only=True)),
        Not(Or((Only(GroupNumber(4)), IsCluster(ClusterNumber(7))))),
        LabelIn("size", ("small", "large")),
        LabelIs("drive-through", Comparison.NE, value=True),
        Matching(GroupNumber(0), ("us", "*")),
        Saved("pilot"),
    )
)
"""A selector with every kind of clause in it."""

SELECTORS = (
    SavedSelector("pilot", Under(GroupNumber(2)), "Pilot"),
    SavedSelector("every-clause", EVERY_CLAUSE),
)

GRANTS = (
    Grant("texas", Role.EDITOR, Under(GroupNumber(2)), subject="ana", title="Texas"),
    Grant("night-crew", Role.READER, Or(EVERY_CLAUSE.operands[:-1]), claim="Night crew"),
)
"""One grant to a subject, and one to a claim with every clause that a scope may have."""


class History:
    """The writer of one record."""

    def __init__(self, store: Store, cursor: Cursor, facts: dict[Ref, Entity]) -> None:
        self.store = store
        self.cursor = cursor
        self.facts = facts

    @staticmethod
    async def of(store: Store) -> History:
        """Take up the record where it stands."""
        facts = await store.load()
        return History(store, facts.head.cursor, by_ref(facts.entities))

    def changeset(
        self, *after: Entity, gone: Iterable[Entity] = (), reason: str = "because", ahead: int = 1
    ) -> Changeset:
        """The changeset ``ahead`` of the head that makes ``after`` so and removes ``gone``."""
        revision = Revision(self.cursor.revision + ahead)
        changes = [
            Change(self.facts.get(ref_of(entity)), replace(entity, changed=revision))
            for entity in after
        ]
        changes += [Change(self.facts[ref_of(entity)], None) for entity in gone]
        return Changeset(revision, at(revision), "ann", reason, net(changes))

    def changesets(self, *batches: Iterable[Entity]) -> list[Changeset]:
        """Changesets that follow one another, one for each of ``batches``."""
        ahead = History(self.store, self.cursor, dict(self.facts))
        made: list[Changeset] = []
        for position, batch in enumerate(batches):
            made.append(ahead.changeset(*batch, ahead=position + 1))
            apply(ahead.facts, made[-1])
        return made

    async def commit(self, *entries: Entry) -> tuple[Receipt, ...]:
        """Commit on the head as this history knows it."""
        now = at(self.cursor.revision + len(entries))
        receipts = await self.store.commit(entries, expected=self.cursor, now=now)
        for entry in entries:
            if entry.changeset is not None:
                apply(self.facts, entry.changeset)
        if receipts:
            self.cursor = receipts[-1].cursor
        return receipts

    async def put(
        self, *after: Entity, gone: Iterable[Entity] = (), claim: Claim | None = None
    ) -> Receipt:
        """One changeset, committed."""
        (receipt,) = await self.commit(Entry(self.changeset(*after, gone=gone), claim))
        return receipt


def apply(facts: dict[Ref, Entity], changeset: Changeset) -> None:
    """Make the changes of ``changeset``, each of which must fit what is."""
    for change in changeset.changes:
        assert facts.get(change.ref) == change.before, f"{change.ref} at {changeset.revision}"
        if change.after is None:
            del facts[change.ref]
        else:
            facts[change.ref] = change.after


async def replay(changesets: AsyncIterable[Changeset]) -> dict[Ref, Entity]:
    """What a history from its beginning leads to."""
    facts: dict[Ref, Entity] = {}
    async for changeset in changesets:
        apply(facts, changeset)
    return facts


def by_ref(entities: Iterable[Entity]) -> dict[Ref, Entity]:
    """``entities`` by identity; none may be there twice."""
    found: dict[Ref, Entity] = {}
    for entity in entities:
        assert ref_of(entity) not in found, f"{ref_of(entity)} is there twice"
        found[ref_of(entity)] = entity
    return found


def exact(facts: dict[Ref, Entity]) -> dict[Ref, bytes]:
    """``facts`` as bytes, in which 1, 1.0 and true differ as they do not for ``==``."""
    return {ref: encode_entity(entity) for ref, entity in facts.items()}
