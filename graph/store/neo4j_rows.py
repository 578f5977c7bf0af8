"""The facts in Neo4j, read back: one text per kind, and how its rows become entities.

Relationships are read as the truth (a cluster's memberships are its MEMBER_OF, not a copy kept in a
property), so what an analyst sees and what the product works with cannot drift apart. Clusters come
in pages by number, because an answer of the whole fleet at once would be held twice in memory.

A row that makes no sense was read while a commit was being applied, or was not written by us. The
caller learns which by reading again under the lock.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

from graph.model.access import Grant, Role
from graph.model.change import Entity
from graph.model.errors import Invalid
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
from graph.model.label import normalise
from graph.store.codec import decode_hours, decode_selector
from graph.store.neo4j_clock import Ask, Row, Unsettled, read_clock
from graph.store.neo4j_workload import (
    in_place,
    read_application,
    read_assignment,
    read_layer,
    read_namespace,
    read_policy,
    read_prohibition,
)

CLUSTERS_A_PAGE = 10_000
"""Cluster numbers in one page of clusters."""

_HIERARCHIES = """
MATCH (n:Hierarchy)
RETURN n.name, n.mode, n.required, coalesce(n.title, ''), coalesce(n.precedence, 0), n.changed
"""
_LABEL_KEYS = """
MATCH (n:LabelKey)
RETURN n.name, n.type, coalesce(n.title, ''), coalesce(n.unit, ''), coalesce(n.allowed, []),
       n.changed
"""
_GROUPS = """
MATCH (n:Group)
OPTIONAL MATCH (n)-[:CHILD_OF]->(parent)
RETURN n.number, n.hierarchy, parent.number, n.name, coalesce(n.title, ''), n.changed
"""
_CLUSTERS = """
MATCH (n:Cluster) WHERE n.number >= $start AND n.number < $end
RETURN n.number, n.name, coalesce(n.title, ''), n.kind, n.reconciler,
       [(n)-[:LABELLED]->(v) | [v.key, v.value]], [(n)-[:MEMBER_OF]->(g) | g.number],
       [n.cpuMillicores, n.memoryMib, n.storageMib],
       coalesce(n.timeZone, ''), n.openingHours, n.changed
"""
_SAVED_SELECTORS = """
MATCH (n:SavedSelector) RETURN n.name, n.body, coalesce(n.title, ''), n.changed
"""
_GRANTS = """
MATCH (n:Grant)
RETURN n.name, n.role, n.scope, coalesce(n.subject, ''), coalesce(n.claim, ''),
       coalesce(n.title, ''), [(n)-[r:COVERS]->(m:Namespace) | [r.place, m.name]],
       [(n)-[r:COVERS]->(m:Application) | [r.place, m.name]], n.changed
"""
_WORKLOAD: tuple[tuple[LiteralString, Callable[..., Entity]], ...] = (
    ("MATCH (n:Namespace) RETURN properties(n)", read_namespace),
    (
        """
        MATCH (n:Application)
        RETURN properties(n), [(n)-[:IN_NAMESPACE]->(m) | m.name],
               [(n)-[r:DEPENDS_ON]->(m) | [r.place, m.name]]
        """,
        read_application,
    ),
    (
        """
        MATCH (n:Assignment)
        RETURN properties(n), [(n)-[:CHOOSES]->(m:Namespace) | m.name],
               [(n)-[r:CHOOSES]->(m:Application) | [r.place, m.name]]
        """,
        read_assignment,
    ),
    (
        """
        MATCH (n:Prohibition)
        RETURN properties(n), [(n)-[:CHOOSES]->(m:Namespace) | m.name],
               [(n)-[r:CHOOSES]->(m:Application) | [r.place, m.name]]
        """,
        read_prohibition,
    ),
    (
        "MATCH (n:Layer) RETURN properties(n), [(n)-[:CONFIGURES]->(m) | m.name]",
        read_layer,
    ),
    (
        "MATCH (n:Policy) RETURN properties(n), [(n)-[r:GOVERNS]->(m) | [r.place, m.name]]",
        read_policy,
    ),
)


async def load_facts(ask: Ask) -> list[Entity]:
    """Every fact, as it is seen statement by statement; the caller sees to it that none moves."""
    with _sensible():
        entities: list[Entity] = [
            *_hierarchies(await ask(_HIERARCHIES)),
            *_label_keys(await ask(_LABEL_KEYS)),
            *_groups(await ask(_GROUPS)),
        ]
        clock = await read_clock(ask)
        for start in range(0, clock.next_cluster, CLUSTERS_A_PAGE):
            entities += _clusters(await ask(_CLUSTERS, start=start, end=start + CLUSTERS_A_PAGE))
        entities += await load_selectors(ask)
        for text, read in _WORKLOAD:
            entities += [read(*row) for row in sorted(await ask(text), key=_name)]
    return entities


async def load_selectors(ask: Ask) -> list[SavedSelector | Grant]:
    """Saved selectors and grants."""
    saved = _saved_selectors(await ask(_SAVED_SELECTORS))
    return [*saved, *_grants(await ask(_GRANTS))]


@contextmanager
def _sensible() -> Generator[None]:
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, Invalid) as error:
        raise Unsettled from error


def _name(row: Row) -> str:
    return str(row[0]["name"])


def _hierarchies(rows: Sequence[Row]) -> list[Hierarchy]:
    """Hierarchies by name."""
    found = [
        Hierarchy(name, Mode(mode), required, title, precedence, changed)
        for name, mode, required, title, precedence, changed in rows
    ]
    return sorted(found, key=lambda each: each.name)


def _label_keys(rows: Sequence[Row]) -> list[LabelKey]:
    """Label keys by name. A list in Neo4j has one type, so whole numbers may come back floats."""
    found = [
        LabelKey(name, LabelType(kind), title, unit, tuple(map(normalise, allowed)), changed)
        for name, kind, title, unit, allowed, changed in rows
    ]
    return sorted(found, key=lambda each: each.name)


def _groups(rows: Sequence[Row]) -> list[Group]:
    """Groups by number."""
    return sorted((Group(*row) for row in rows), key=lambda each: each.number)


def _clusters(rows: Sequence[Row]) -> list[Cluster]:
    """Clusters by number."""
    return sorted((_cluster(*row) for row in rows), key=lambda each: each.number)


def _saved_selectors(rows: Sequence[Row]) -> list[SavedSelector]:
    """Saved selectors by name."""
    found = [
        SavedSelector(name, decode_selector(body.encode()), title, changed)
        for name, body, title, changed in rows
    ]
    return sorted(found, key=lambda each: each.name)


def _grants(rows: Sequence[Row]) -> list[Grant]:
    """Grants by name."""
    found = [
        Grant(
            *(name, Role(role), decode_selector(scope.encode()), subject, claim, title),
            *(in_place(namespaces), in_place(applications)),
            changed,
        )
        for name, role, scope, subject, claim, title, namespaces, applications, changed in rows
    ]
    return sorted(found, key=lambda each: each.name)


def _cluster(
    number: Any,
    name: str,
    title: str,
    kind: str,
    reconciler: str,
    labels: Sequence[Any],
    groups: Sequence[Any],
    capacity: Sequence[Any],
    time_zone: str,
    opening_hours: str | None,
    changed: Any,
) -> Cluster:
    return Cluster(
        number=number,
        name=name,
        title=title,
        kind=_KINDS[kind],
        reconciler=_RECONCILERS[reconciler],
        labels=dict(labels),
        memberships=tuple(sorted(groups)),
        capacity=None if None in capacity else Capacity(*capacity),
        time_zone=time_zone,
        opening_hours=None if opening_hours is None else decode_hours(opening_hours.encode()),
        changed=changed,
    )


_KINDS = {kind.value: kind for kind in ClusterKind}
_RECONCILERS = {reconciler.value: reconciler for reconciler in Reconciler}
