"""What holds a selector in Neo4j: which statements write saved selectors and grants.

    (:SavedSelector {body})-[:NAMES]->(:Group)
    (:Grant {role, subject or claim, scope})-[:NAMES]->(:Group)

The tree is text, and the text decides; NAMES is for people who look. Grants stand under a label of
their own, so that who may see what is one MATCH away.

Pure: this module knows Cypher and no driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, LiteralString

from graph.model.access import Grant
from graph.model.inventory import SavedSelector
from graph.model.ref import Kind
from graph.model.selector import Selector, mentions
from graph.store.codec import encode_selector

_SAVED = "UNWIND $rows AS row MERGE (n:SavedSelector {name: row.name}) SET n = row"
_SAVED_UNNAME = "UNWIND $rows AS row MATCH (:SavedSelector {name: row})-[r:NAMES]->() DELETE r"
_SAVED_NAME = """
UNWIND $rows AS row
MATCH (s:SavedSelector {name: row[0]})
MATCH (g:Group {number: row[1]})
CREATE (s)-[:NAMES]->(g)
"""
_GRANTS = "UNWIND $rows AS row MERGE (n:Grant {name: row.name}) SET n = row"
_GRANTS_UNNAME = "UNWIND $rows AS row MATCH (:Grant {name: row})-[r:NAMES]->() DELETE r"
_GRANTS_NAME = """
UNWIND $rows AS row
MATCH (s:Grant {name: row[0]})
MATCH (g:Group {number: row[1]})
CREATE (s)-[:NAMES]->(g)
"""


def saved_steps(saved: Sequence[SavedSelector]) -> Iterator[tuple[LiteralString, list[Any]]]:
    """The statements that make ``saved`` so, each with its rows."""
    yield _SAVED, [_saved_row(each) for each in saved]
    yield _SAVED_UNNAME, [each.name for each in saved]
    yield _SAVED_NAME, [row for each in saved for row in _named(each.name, each.selector)]


def grant_steps(grants: Sequence[Grant]) -> Iterator[tuple[LiteralString, list[Any]]]:
    """The statements that make ``grants`` so, each with its rows."""
    yield _GRANTS, [_grant_row(each) for each in grants]
    yield _GRANTS_UNNAME, [each.name for each in grants]
    yield _GRANTS_NAME, [row for each in grants for row in _named(each.name, each.scope)]


def _named(name: str, selector: Selector) -> list[list[str | int]]:
    """``name`` beside each group that ``selector`` names."""
    groups = sorted(int(ref.key) for ref in mentions(selector) if ref.kind is Kind.GROUP)
    return [[name, number] for number in groups]


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
