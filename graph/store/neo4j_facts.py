"""The facts as a graph in Neo4j: which statements write a change.

    (:Cluster)-[:MEMBER_OF]->(:Group)-[:CHILD_OF]->(:Group)-[:ROOT_OF]->(:Hierarchy)
    (:Cluster)-[:LABELLED]->(:LabelValue {key, value})     one for all clusters that have the value
    (:SavedSelector|Grant|Application|...)-->(...)         see ``neo4j_named``, ``neo4j_links``

An analyst reads the business here, so empty fields are absent and ``Group.path`` says where a group
is now. Adjacency only: no closure is stored. Every text is fixed, input travels in parameters, and
one statement takes a bounded number of rows. What goes is written before what comes, so that a name
or a value that is freed can be taken in the same commit.

Pure: this module knows Cypher and no driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, TypeVar

from graph.model.change import Change, Entity
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, LabelValue
from graph.model.names import GROUP_DEPTH_MAX
from graph.model.ref import Kind, Ref
from graph.store.codec import encode_hours
from graph.store.neo4j_links import LABELS, Named
from graph.store.neo4j_named import named_steps

ROWS_MAX = 5_000
"""Rows in one statement."""

T = TypeVar("T", bound=Entity)
Row = Any
"""A parameter: a value Bolt can carry, or a map of them with keys written in this module."""


@dataclass(frozen=True, slots=True)
class Write:
    """One statement, run with ``rows`` as its only parameter."""

    text: LiteralString
    rows: Sequence[Row]


def writes(changes: Iterable[Change]) -> Iterator[Write]:
    """The statements that take the graph from before ``changes`` to after them."""
    net = _net(changes)
    clusters = _of(net, Cluster)
    groups = _of(net, Group)
    steps = (
        *_departures(clusters),
        *_deletions(net),
        *_declarations(net),
        *_group_steps(groups),
        *_cluster_steps(clusters),
        *named_steps(_named(net)),
    )
    yield from in_pages(steps)


Step = tuple[LiteralString, list[Row]]


def in_pages(steps: Iterable[Step]) -> Iterator[Write]:
    """``steps`` as statements of a bounded number of rows; none for a step without rows."""
    for text, rows in steps:
        for start in range(0, len(rows), ROWS_MAX):
            yield Write(text, rows[start : start + ROWS_MAX])


Pair = tuple[T | None, T | None]


def _net(changes: Iterable[Change]) -> dict[Ref, Pair[Entity]]:
    """First before and last after of each object; unlike ``net`` it keeps a new ``changed``."""
    found: dict[Ref, Pair[Entity]] = {}
    for change in changes:
        ref = change.ref
        before = found[ref][0] if ref in found else change.before
        found[ref] = (before, change.after)
    return {ref: pair for ref, pair in found.items() if pair != (None, None)}


def _of(net: dict[Ref, Pair[Entity]], kind: type[T]) -> list[Pair[T]]:
    return [
        (before if isinstance(before, kind) else None, after if isinstance(after, kind) else None)
        for before, after in net.values()
        if isinstance(before, kind) or isinstance(after, kind)
    ]


def _named(net: dict[Ref, Pair[Entity]]) -> list[Named]:
    """Objects known by name, as they are now; hierarchies and label keys name nothing."""
    return [
        after
        for _, after in net.values()
        if after is not None and not isinstance(after, Cluster | Group | Hierarchy | LabelKey)
    ]


# what goes

_DELETE: dict[Kind, LiteralString] = {
    Kind.CLUSTER: "UNWIND $rows AS key MATCH (n:Cluster {number: key}) DETACH DELETE n",
    Kind.GROUP: "UNWIND $rows AS key MATCH (n:Group {number: key}) DETACH DELETE n",
    Kind.LABEL_KEY: "UNWIND $rows AS key MATCH (n:LabelKey {name: key}) DETACH DELETE n",
    Kind.HIERARCHY: "UNWIND $rows AS key MATCH (n:Hierarchy {name: key}) DETACH DELETE n",
    **{
        kind: f"UNWIND $rows AS key MATCH (n:{label} {{name: key}}) DETACH DELETE n"
        for kind, label in LABELS.items()
    },
}

# The far end has no label in the text: with one, the planner might start there, at a group or value
# that half the fleet shares.
_LEAVE_GROUPS = """
UNWIND $rows AS row
MATCH (c:Cluster {number: row.number})-[r:MEMBER_OF]->(g) WHERE g.number IN row.groups
DELETE r
"""
_DROP_LABELS = """
UNWIND $rows AS row
MATCH (c:Cluster {number: row.number})-[r:LABELLED]->(v) WHERE v.key IN row.keys
DELETE r
"""


def _deletions(net: dict[Ref, Pair[Entity]]) -> Iterator[Step]:
    for kind, text in _DELETE.items():
        yield text, [ref.key for ref, (_, after) in net.items() if ref.kind is kind and not after]


def _departures(clusters: list[Pair[Cluster]]) -> Iterator[Step]:
    """Memberships and labels that clusters lose; a changed label is lost and gained."""
    left: list[Row] = []
    dropped: list[Row] = []
    for before, after in clusters:
        if before is None or after is None:
            continue
        if groups := set(before.memberships).difference(after.memberships):
            left.append({"number": after.number, "groups": sorted(groups)})
        if keys := [key for key, _ in _lost(before, after)]:
            dropped.append({"number": after.number, "keys": keys})
    yield _LEAVE_GROUPS, left
    yield _DROP_LABELS, dropped


def _lost(before: Cluster | None, after: Cluster | None) -> list[tuple[str, LabelValue]]:
    """Labels of ``before`` that ``after`` lacks or has with another value."""
    if before is None:
        return []
    kept = {_typed(*label) for label in after.labels.items()} if after else frozenset[Typed]()
    return [label for label in before.labels.items() if _typed(*label) not in kept]


# hierarchies and label keys

_HIERARCHIES = "UNWIND $rows AS row MERGE (n:Hierarchy {name: row.name}) SET n = row"
_LABEL_KEYS = "UNWIND $rows AS row MERGE (n:LabelKey {name: row.name}) SET n = row"


def _declarations(net: dict[Ref, Pair[Entity]]) -> Iterator[Step]:
    yield _HIERARCHIES, [_hierarchy(each) for _, each in _of(net, Hierarchy) if each]
    yield _LABEL_KEYS, [_label_key(each) for _, each in _of(net, LabelKey) if each]


def _hierarchy(hierarchy: Hierarchy) -> Row:
    return {
        "name": hierarchy.name,
        "mode": hierarchy.mode.value,
        "required": hierarchy.required,
        "precedence": hierarchy.precedence,
        "title": hierarchy.title or None,
        "changed": hierarchy.changed,
    }


def _label_key(key: LabelKey) -> Row:
    return {
        "name": key.name,
        "type": key.type.value,
        "title": key.title or None,
        "unit": key.unit or None,
        "allowed": list(key.allowed) or None,
        "changed": key.changed,
    }


# groups

_NEW_GROUPS = "UNWIND $rows AS row CREATE (n:Group) SET n = row"
_GROUPS = "UNWIND $rows AS row MATCH (n:Group {number: row.number}) SET n += row"
_LEAVE_PARENTS = "UNWIND $rows AS row MATCH (:Group {number: row})-[r:CHILD_OF]->() DELETE r"
_JOIN_PARENTS = """
UNWIND $rows AS row
MATCH (g:Group {number: row[0]})
MATCH (p:Group {number: row[1]})
CREATE (g)-[:CHILD_OF]->(p)
"""
_JOIN_HIERARCHIES = """
UNWIND $rows AS row
MATCH (g:Group {number: row[0]})
MATCH (h:Hierarchy {name: row[1]})
CREATE (g)-[:ROOT_OF]->(h)
"""
_PATHS = """
UNWIND $rows AS row
MATCH (:Group {number: row})<-[:CHILD_OF*0..31]-(g)
WITH DISTINCT g
MATCH line = (g)-[:CHILD_OF*0..31]->(root) WHERE NOT (root)-[:CHILD_OF]->()
SET g.path = reduce(path = '', at IN nodes(line) | '/' + at.name + path)
"""
STEPS_MAX = 31
"""Steps from the deepest group to its root, as ``_PATHS`` spells out."""
assert STEPS_MAX == GROUP_DEPTH_MAX - 1, "group paths would be cut"


def _group_steps(groups: list[Pair[Group]]) -> Iterator[Step]:
    pairs = [(before, after) for before, after in groups if after]
    new = [after for before, after in pairs if not before]
    moved = [after for before, after in pairs if before and before.parent != after.parent]
    renamed = [after for before, after in pairs if before and before.name != after.name]
    placed = [*new, *moved]
    yield _NEW_GROUPS, [_group(group) for group in new]
    yield _GROUPS, [_group(after) for before, after in pairs if before]
    yield _LEAVE_PARENTS, [group.number for group in moved]
    yield (
        _JOIN_PARENTS,
        [[group.number, group.parent] for group in placed if group.parent is not None],
    )
    yield (
        _JOIN_HIERARCHIES,
        [[group.number, group.hierarchy] for group in placed if group.parent is None],
    )
    yield _PATHS, sorted({group.number for group in (*placed, *renamed)})


def _group(group: Group) -> Row:
    return {
        "number": group.number,
        "hierarchy": group.hierarchy,
        "name": group.name,
        "title": group.title or None,
        "changed": group.changed,
    }


# clusters

_NEW_CLUSTERS = "UNWIND $rows AS row CREATE (n:Cluster) SET n = row"
_CLUSTERS = "UNWIND $rows AS row MATCH (n:Cluster {number: row.number}) SET n = row"
_JOIN_GROUPS = """
UNWIND $rows AS row
MATCH (c:Cluster {number: row.number})
UNWIND row.groups AS number
MATCH (g:Group {number: number})
CREATE (c)-[:MEMBER_OF]->(g)
"""
_LABEL_VALUES = "UNWIND $rows AS row MERGE (:LabelValue {key: row[0], value: row[1]})"
_TAKE_LABELS = """
UNWIND $rows AS row
MATCH (v:LabelValue {key: row.key, value: row.value})
UNWIND row.numbers AS number
MATCH (c:Cluster {number: number})
CREATE (c)-[:LABELLED]->(v)
"""
_FORGET_VALUES = """
UNWIND $rows AS row
MATCH (v:LabelValue {key: row[0], value: row[1]}) WHERE NOT (v)<-[:LABELLED]-()
DELETE v
"""


def _cluster_steps(clusters: list[Pair[Cluster]]) -> Iterator[Step]:
    pairs = [(before, after) for before, after in clusters if after]
    yield _NEW_CLUSTERS, [_cluster(after) for before, after in pairs if not before]
    yield _CLUSTERS, [_cluster(after) for before, after in pairs if before]
    yield _JOIN_GROUPS, list(_joined(pairs))
    taken = _taken(pairs)
    yield _LABEL_VALUES, [[key, value] for _, key, value in taken]
    yield _TAKE_LABELS, list(_shares(taken))
    lost = {_typed(key, value) for pair in clusters for key, value in _lost(*pair)}
    yield _FORGET_VALUES, [[key, value] for _, key, value in lost - taken.keys()]


def _joined(pairs: list[tuple[Cluster | None, Cluster]]) -> Iterator[Row]:
    for before, after in pairs:
        known = frozenset(before.memberships if before else ())
        if groups := [number for number in after.memberships if number not in known]:
            yield {"number": after.number, "groups": groups}


Typed = tuple[type[LabelValue], str, LabelValue]
"""A label value with its type, because ``True == 1`` in Python and not in Neo4j."""


def _typed(key: str, value: LabelValue) -> Typed:
    return type(value), key, value


def _taken(pairs: list[tuple[Cluster | None, Cluster]]) -> dict[Typed, list[int]]:
    """The clusters that gain each label value."""
    taken: dict[Typed, list[int]] = {}
    for before, after in pairs:
        for key, value in _lost(after, before):
            taken.setdefault(_typed(key, value), []).append(after.number)
    return taken


def _shares(taken: dict[Typed, list[int]]) -> Iterator[Row]:
    """One row a value, and more where a row would hold too many clusters."""
    for (_, key, value), numbers in taken.items():
        for start in range(0, len(numbers), ROWS_MAX):
            yield {"key": key, "value": value, "numbers": numbers[start : start + ROWS_MAX]}


def _cluster(cluster: Cluster) -> Row:
    size, hours = cluster.capacity, cluster.opening_hours
    return {
        "number": cluster.number,
        "name": cluster.name,
        "title": cluster.title or None,
        "kind": cluster.kind.value,
        "reconciler": cluster.reconciler.value,
        "cpuMillicores": size.cpu_millicores if size else None,
        "memoryMib": size.memory_mib if size else None,
        "storageMib": size.storage_mib if size else None,
        "timeZone": cluster.time_zone or None,
        "openingHours": encode_hours(hours).decode() if hours is not None else None,
        "changed": cluster.changed,
    }
