"""Publications in Neo4j: a node for the last report of each name, beside the log.

As the Clock does, a node carries a check over its properties, so that one which is just being
written is read again under the lock. Pure: this module knows Cypher and no driver.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from graph.model.change import Cursor
from graph.model.errors import ResyncRequired
from graph.model.publication import Publication
from graph.store.codec import decode_moment, encode_moment
from graph.store.neo4j_clock import Ask, Row, Unsettled, read_clock
from graph.store.neo4j_log import check_cursor
from graph.store.port import PUBLICATIONS_MAX
from graph.store.publication_codec import decode_held, encode_held

_ONE = """
MATCH (n:Publication {name: $name})
RETURN n.name, n.cursor, n.commit, n.held, n.actor, n.at, n.check
"""
_ALL = """
MATCH (n:Publication)
RETURN n.name, n.cursor, n.commit, n.held, n.actor, n.at, n.check ORDER BY n.name
"""
_KEEP = "MERGE (n:Publication {name: $row.name}) SET n = $row"
_REMOVE = "MATCH (n:Publication {name: $name}) DELETE n RETURN count(n)"
_FORGET = """
MATCH (n:Publication) WITH n ORDER BY n.at DESC, n.name SKIP $count DELETE n
"""


async def keep_publication(ask: Ask, publication: Publication) -> Publication:
    """Keep ``publication`` as the last of its name, unless one further on is kept; locked."""
    clock = await read_clock(ask)
    await check_cursor(ask, clock, publication.cursor)
    for row in await ask(_ONE, name=publication.name):
        try:
            kept = _publication(row)
            if kept.cursor.revision > publication.cursor.revision:
                await check_cursor(ask, clock, kept.cursor)
                return kept
        except (ResyncRequired, Unsettled):
            pass  # of another history, or spoilt by another program: it says nothing about this one
    await ask(_KEEP, row=publication_fields(publication))
    await ask(_FORGET, count=PUBLICATIONS_MAX)
    return publication


def publication_fields(publication: Publication) -> dict[str, str]:
    """The node's properties."""
    fields = {
        "name": publication.name,
        "cursor": str(publication.cursor.here),
        "commit": publication.commit,
        "held": encode_held(publication.held).decode(),
        "actor": publication.actor,
        "at": encode_moment(publication.at),
    }
    return fields | {"check": _check(fields.values())}


async def forget_publication(ask: Ask, name: str) -> bool:
    """Forget the report of a name; whether there was one; locked."""
    rows = await ask(_REMOVE, name=name)
    return bool(rows and rows[0][0])


async def read_publications(ask: Ask) -> tuple[Publication, ...]:
    """The last report of every name, by name."""
    return tuple(map(_publication, await ask(_ALL)))


def _publication(row: Row) -> Publication:
    *values, check = row
    if check != _check(values):
        raise Unsettled
    name, cursor, commit, held, actor, at = values
    return Publication(
        name,
        Cursor.parse(cursor),
        commit,
        decode_held(held.encode()),
        actor=actor,
        at=decode_moment(at),
    )


def _check(values: Iterable[object]) -> str:
    """Short enough that Neo4j keeps it in one piece, so it is of one report."""
    return sha256(repr(list(values)).encode()).hexdigest()[:16]
