"""Publications in SQL: the last report of each name, beside the log."""

from __future__ import annotations

from typing import Any

from graph.model.change import Cursor
from graph.model.errors import ResyncRequired
from graph.model.publication import Publication
from graph.store.codec import decode_moment, encode_moment
from graph.store.port import PUBLICATIONS_MAX
from graph.store.publication_codec import decode_held, encode_held
from graph.store.record import check_cursor, read_meta
from graph.store.sqlite import Connection, reading, transaction

_ALL = "SELECT name, cursor, place, held, actor, at FROM publications ORDER BY name"
_ONE = "SELECT name, cursor, place, held, actor, at FROM publications WHERE name = ?"
_FORGET = (
    "DELETE FROM publications WHERE name NOT IN"
    " (SELECT name FROM publications ORDER BY at DESC, name LIMIT ?)"
)


def keep_publication(connection: Connection, *, publication: Publication) -> Publication:
    """Keep ``publication`` as the last of its name, unless one further on is kept already."""
    with transaction(connection):
        meta = read_meta(connection)
        check_cursor(connection, meta, publication.cursor)
        kept = _find(connection, publication.name)
        if kept is not None and kept.cursor.revision > publication.cursor.revision:
            try:
                check_cursor(connection, meta, kept.cursor)
            except ResyncRequired:
                pass  # it is of another history, and says nothing about this one
            else:
                return kept
        connection.execute(
            "REPLACE INTO publications VALUES (?, ?, ?, ?, ?, ?)",
            (
                publication.name,
                str(publication.cursor.here),
                publication.commit,
                encode_held(publication.held),
                publication.actor,
                encode_moment(publication.at),
            ),
        )
        connection.execute(_FORGET, (PUBLICATIONS_MAX,))
    return publication


def forget_publication(connection: Connection, *, name: str) -> bool:
    """Forget the report of a name; whether there was one."""
    with transaction(connection):
        found = _find(connection, name) is not None
        connection.execute("DELETE FROM publications WHERE name = ?", (name,))
    return found


def read_publications(connection: Connection) -> tuple[Publication, ...]:
    """The last report of every name, by name."""
    with reading(connection):
        return tuple(_publication(row) for row in connection.execute(_ALL))


def _find(connection: Connection, name: str) -> Publication | None:
    row: tuple[Any, ...] | None = connection.execute(_ONE, (name,)).get
    return None if row is None else _publication(row)


def _publication(row: tuple[Any, ...]) -> Publication:
    name, cursor, commit, held, actor, at = row
    moment = decode_moment(at)
    return Publication(
        name, Cursor.parse(cursor), commit, decode_held(held), actor=actor, at=moment
    )
