"""A snapshot as bytes and back: columns by number, dictionaries for values, sets as they are.

Closures are kept rather than worked out again: reading a set takes less time than making it.
"""

from __future__ import annotations

from itertools import accumulate, chain, pairwise
from typing import Any, TypeVar

from graph.index.blocks import BlockReader, BlockWriter
from graph.index.bulk import hours_identity, itself, settle
from graph.index.catalog import Catalog
from graph.index.chunks import Chunks, chunks_of, sets_of
from graph.index.clusters import BLANK, Clusters
from graph.index.forest import Forest
from graph.index.holders import Holder, Holders
from graph.index.label import Codes, Label
from graph.index.order import NameOrder
from graph.index.plain import from_plain, to_plain
from graph.index.snapshot import Snapshot
from graph.model.change import Cursor, Numbers
from graph.model.cluster_set import EMPTY
from graph.model.inventory import Group, LabelValue
from graph.model.names import ClusterNumber, GroupNumber, Revision

T = TypeVar("T")


def encode(snapshot: Snapshot) -> bytes:
    """Everything in ``snapshot``."""
    blocks = BlockWriter()
    numbers = snapshot.numbers
    blocks.json([str(snapshot.cursor), numbers.cluster, numbers.group])
    _write_catalog(blocks, snapshot.catalog)
    _write_forest(blocks, snapshot.forest, numbers.group)
    _write_clusters(blocks, snapshot.clusters, numbers.cluster)
    blocks.json(list(snapshot.labels))
    for label in snapshot.labels.values():
        _write_label(blocks, label, numbers.cluster)
    return blocks.body()


def decode(body: memoryview) -> Snapshot:
    """The snapshot that ``encode`` was given."""
    blocks = BlockReader(body)
    cursor, cluster, group = blocks.json()
    numbers = Numbers(ClusterNumber(cluster), GroupNumber(group))
    catalog = _read_catalog(blocks)
    forest = _read_forest(blocks)
    clusters = _read_clusters(blocks, numbers.group)
    labels = {name: _read_label(blocks, catalog, name) for name in blocks.json()}
    return Snapshot(
        cursor=Cursor.parse(cursor),
        numbers=numbers,
        catalog=catalog,
        forest=forest,
        labels=labels,
        clusters=clusters,
    )


def _write_catalog(blocks: BlockWriter, catalog: Catalog) -> None:
    blocks.json([to_plain(each) for each in catalog.entities()])


def _read_catalog(blocks: BlockReader) -> Catalog:
    return Catalog.of(from_plain(blocks.json()))


def _write_forest(blocks: BlockWriter, forest: Forest, size: int) -> None:
    groups = [group for group in forest.groups if group is not None]
    blocks.numbers([group.number for group in groups])
    blocks.numbers([0 if group.parent is None else group.parent + 1 for group in groups])
    for field in ("hierarchy", "name", "title", "changed"):
        blocks.column([getattr(group, field) for group in groups], itself)
    blocks.sets(forest.closures.first(size))
    blocks.sets(forest.directs.first(size))


def _read_forest(blocks: BlockReader) -> Forest:
    numbers, parents = blocks.numbers(), blocks.numbers()
    hierarchies: list[str] = blocks.column(_as_written)
    names: list[str] = blocks.column(_as_written)
    titles: list[str] = blocks.column(_as_written)
    revisions: list[Revision] = blocks.column(_as_written)
    closures, directs = blocks.sets(), blocks.sets()
    groups: list[Group | None] = [None] * len(closures)
    shared = _shared(len(closures))
    for at, number in enumerate(numbers):
        parent = shared[parents[at] - 1] if parents[at] else None
        groups[number] = Group(
            shared[number], hierarchies[at], parent, names[at], titles[at], revisions[at]
        )
    roots, children = settle(groups)
    return Forest(
        roots=roots,
        groups=chunks_of(groups, None),
        children=children,
        closures=sets_of(closures),
        directs=sets_of(directs),
    )


def _write_clusters(blocks: BlockWriter, clusters: Clusters, size: int) -> None:
    blocks.sets([clusters.everything])
    blocks.numbers(chain.from_iterable(shelf.numbers for shelf in clusters.order.shelves))
    blocks.json(clusters.name.first(size))
    memberships = clusters.memberships.first(size)
    blocks.numbers(map(len, memberships))
    blocks.numbers(chain.from_iterable(memberships))
    blocks.column(clusters.title.first(size), itself)
    blocks.column(clusters.kind.first(size), to_plain)
    blocks.column(clusters.reconciler.first(size), to_plain)
    blocks.column(clusters.capacity.first(size), to_plain)
    blocks.column(clusters.time_zone.first(size), itself)
    blocks.column(clusters.opening_hours.first(size), to_plain, hours_identity)
    blocks.column(clusters.changed.first(size), itself)


def _read_clusters(blocks: BlockReader, groups: int) -> Clusters:
    (everything,) = blocks.sets()
    ordered = blocks.numbers()
    names: list[str] = blocks.json()
    return Clusters(
        everything=everything,
        order=NameOrder.of([names[number] for number in ordered], ordered),
        name=chunks_of(names, BLANK.name),
        memberships=_read_memberships(blocks, groups),
        title=chunks_of(blocks.column(_as_written), BLANK.title),
        kind=_read_column(blocks, BLANK.kind),
        reconciler=_read_column(blocks, BLANK.reconciler),
        capacity=_read_column(blocks, BLANK.capacity),
        time_zone=chunks_of(blocks.column(_as_written), BLANK.time_zone),
        opening_hours=_read_column(blocks, BLANK.opening_hours),
        changed=chunks_of(blocks.column(_as_written), BLANK.changed),
    )


def _read_memberships(blocks: BlockReader, groups: int) -> Chunks[tuple[GroupNumber, ...]]:
    ends = accumulate(blocks.numbers(), initial=0)
    shared = _shared(groups)
    flat = tuple([shared[number] for number in blocks.numbers()])
    return chunks_of([flat[start:end] for start, end in pairwise(ends)], BLANK.memberships)


def _read_column(blocks: BlockReader, default: T) -> Chunks[T]:
    values: list[T] = blocks.column(from_plain)
    return chunks_of(values, default)


def _write_label(blocks: BlockWriter, label: Label, size: int) -> None:
    pairs = list(label.held())
    blocks.json([value for value, _ in pairs])
    codes: dict[LabelValue | None, int] = {value: code for code, (value, _) in enumerate(pairs, 1)}
    codes[None] = 0
    blocks.numbers([codes[value] for value in label.column.first(size)])
    blocks.numbers([found + 1 if isinstance(found, int) else 0 for _, found in pairs])
    sets = [found for _, found in pairs if not isinstance(found, int)]
    blocks.sets([label.having, *sets])


def _read_label(blocks: BlockReader, catalog: Catalog, name: str) -> Label:
    values: list[LabelValue] = blocks.json()
    coded: list[LabelValue | None] = [None, *values]
    column = [coded[code] for code in blocks.numbers()]
    alone = blocks.numbers()
    having, *sets = blocks.sets()
    several = iter(sets)
    holders: list[Holder] = [number - 1 if number else next(several) for number in alone]
    return Label(
        type=catalog.label_keys[name].type,
        codes=Codes(values),
        column=chunks_of(column, None),
        having=having,
        holders=Holders(chunks_of(holders, EMPTY), in_use=len(values)),
    )


def _shared(size: int) -> list[GroupNumber]:
    """Every group number once, for all who name it."""
    return [GroupNumber(number) for number in range(size)]


def _as_written(plain: Any) -> Any:
    return plain
