"""How a cursor relates to the history of a store, judged alike for every adapter."""

from __future__ import annotations

from graph.model.change import CHAIN_DIGITS, Cursor, Relation
from graph.model.errors import ResyncRequired
from graph.model.names import Revision
from graph.store.codec import genesis
from graph.store.port import Head


def identity_of(store_id: str) -> str:
    """What stands for a store in cursors: its backups have the same one, no other store has."""
    return genesis(store_id)[:CHAIN_DIGITS]


def is_in_log(cursor: Cursor, head: Head) -> bool:
    """Whether it takes a look into the log to judge ``cursor``."""
    return head.horizon.revision < cursor.revision <= head.cursor.revision


def relation_of(cursor: Cursor, head: Head, store: str, logged: Cursor | None) -> Relation:
    """``logged`` is what the log has at the cursor's revision, where ``is_in_log``."""
    if cursor.store and cursor.store != store:
        return Relation.OTHER
    if cursor.revision > head.cursor.revision:
        return Relation.AHEAD
    if cursor.revision == head.horizon.revision:
        known: Cursor | None = head.horizon
    elif cursor.revision == 0:
        known = Cursor(Revision(0), store)
    elif cursor.revision < head.horizon.revision:
        return Relation.FORGOTTEN
    else:
        known = logged
    return Relation.CONTAINED if cursor == known else Relation.OTHER


def refuse_unreachable(cursor: Cursor, head: Head, relation: Relation) -> None:
    """Refuse a place that the log cannot be read on from."""
    if relation is Relation.FORGOTTEN or cursor.revision < head.horizon.revision:
        raise ResyncRequired(
            f"the log no longer reaches back to {cursor}",
            hint=f"start again from a snapshot; the log begins after {head.horizon}",
        )
    if relation is not Relation.CONTAINED:
        raise ResyncRequired(
            f"{cursor} is not a place in this history",
            hint=f"start again from a snapshot; the record stands at {head.cursor}",
        )
