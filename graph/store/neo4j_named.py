"""Objects known by name as nodes in Neo4j: saved selectors, grants and the workload.

Each kind has a label of its own, so that who may see what, or what is forbidden where, is one MATCH
away. Nodes are made first, rid of the relationships they had, and relationships after
(``neo4j_links``), because objects of one commit may name each other in any order.

Pure: this module knows Cypher and no driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, LiteralString

from graph.model.access import Grant
from graph.model.change import ref_of
from graph.model.inventory import SavedSelector
from graph.model.ref import Kind
from graph.store.codec import encode_selector
from graph.store.neo4j_links import LABELS, Named, link_steps
from graph.store.neo4j_workload import workload_row


def named_steps(objects: Sequence[Named]) -> Iterator[tuple[LiteralString, list[Any]]]:
    """The statements that make ``objects`` so, each with its rows."""
    rows: dict[Kind, list[Any]] = {}
    for each in objects:
        rows.setdefault(ref_of(each).kind, []).append(_row(each))
    for kind, of_kind in rows.items():
        yield _make(LABELS[kind]), of_kind
    yield from link_steps(objects)


def _make(label: LiteralString) -> LiteralString:
    """Node and farewell in one text, because Neo4j takes far longer to plan one than to run it."""
    return f"""
UNWIND $rows AS row
MERGE (n:{label} {{name: row.name}}) SET n = row
WITH n MATCH (n)-[r]->() DELETE r
"""


def _row(entity: Named) -> dict[str, Any]:
    match entity:
        case SavedSelector():
            return _saved_row(entity)
        case Grant():
            return _grant_row(entity)
        case _:
            return workload_row(entity)


def _saved_row(saved: SavedSelector) -> dict[str, Any]:
    return {
        "name": saved.name,
        "title": saved.title or None,
        "body": encode_selector(saved.selector).decode(),
        "changed": saved.changed,
    }


def _grant_row(grant: Grant) -> dict[str, Any]:
    return {
        "name": grant.name,
        "role": grant.role.value,
        "subject": grant.subject or None,
        "claim": grant.claim or None,
        "title": grant.title or None,
        "scope": encode_selector(grant.scope).decode(),
        "changed": grant.changed,
    }
