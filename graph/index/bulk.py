"""The parts of a snapshot from many facts at once: columns and sets in a few passes, no draft.

Equal values become one object, so a fleet of 60,000 clusters holds each time zone, capacity and
group number once.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from graph.index.chunks import Chunks, chunks_of, sets_of
from graph.index.clusters import BLANK, Clusters
from graph.index.forest import NO_CHILDREN, Children, Forest
from graph.index.holders import holders_of
from graph.index.label import Codes, Label
from graph.index.order import NameOrder
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.hours import OpeningHours
from graph.model.inventory import Cluster, Group, LabelKey, LabelValue
from graph.model.names import GroupNumber

T = TypeVar("T")


# groups


def gather_forest(groups: Sequence[Group], clusters: Sequence[Cluster], *, size: int) -> Forest:
    """The forest of ``groups``, with the memberships of ``clusters``, ascending by number."""
    by_number: list[Group | None] = [None] * size
    for group in groups:
        by_number[group.number] = group
    roots, children = settle(by_number)
    directs = _direct_members(clusters, size)
    closures = list(directs)
    for number in reversed(_downwards(roots.values(), children)):
        if below := children.get(number):
            closures[number] = ClusterSet.union(
                [directs[number], *map(closures.__getitem__, below.values())]
            ).packed()
    inner = [bool(below) for below in children.first(size)]
    return Forest(
        roots=roots,
        groups=chunks_of(by_number, None),
        children=children,
        closures=sets_of(closures),
        directs=sets_of(
            [found if has else EMPTY for found, has in zip(directs, inner, strict=True)]
        ),
    )


def settle(groups: Sequence[Group | None]) -> tuple[dict[str, GroupNumber], Chunks[Children]]:
    """Roots by hierarchy, and children by parent, of groups by number."""
    roots: dict[str, GroupNumber] = {}
    below: dict[GroupNumber, dict[str, GroupNumber]] = {}
    for group in groups:
        if group is None:
            continue
        if group.parent is None:
            roots[group.hierarchy] = group.number
        else:
            below.setdefault(group.parent, {})[group.name] = group.number
    children = [NO_CHILDREN] * len(groups)
    for parent, named in below.items():
        children[parent] = named
    return roots, chunks_of(children, NO_CHILDREN)


def _direct_members(clusters: Sequence[Cluster], size: int) -> list[ClusterSet]:
    members = [array("I") for _ in range(size)]
    for cluster in clusters:
        for group in cluster.memberships:
            members[group].append(cluster.number)
    return [ClusterSet.of(found) if found else EMPTY for found in members]


def _downwards(roots: Iterable[GroupNumber], children: Chunks[Children]) -> list[GroupNumber]:
    """Every group, parents before children."""
    order = list(roots)
    for number in order:
        order.extend(children.get(number).values())
    return order


# clusters


def gather_clusters(clusters: Sequence[Cluster], *, size: int, groups: int) -> Clusters:
    """The columns of ``clusters``."""
    ordered = sorted(clusters, key=lambda cluster: cluster.name)
    shared = [GroupNumber(number) for number in range(groups)]
    by_number: list[Cluster] = [BLANK] * size
    for cluster in clusters:
        by_number[cluster.number] = cluster

    def column(field: Callable[[Cluster], T], identity: Callable[[T], Hashable]) -> Chunks[T]:
        return chunks_of(_interned(map(field, by_number), identity), field(BLANK))

    return Clusters(
        everything=ClusterSet.of(array("I", [cluster.number for cluster in clusters])),
        order=NameOrder.of(
            [cluster.name for cluster in ordered],
            array("I", [cluster.number for cluster in ordered]),
        ),
        name=column(lambda cluster: cluster.name, itself),
        title=column(lambda cluster: cluster.title, itself),
        kind=column(lambda cluster: cluster.kind, itself),
        reconciler=column(lambda cluster: cluster.reconciler, itself),
        memberships=column(
            lambda cluster: tuple(map(shared.__getitem__, cluster.memberships)), itself
        ),
        capacity=column(lambda cluster: cluster.capacity, itself),
        time_zone=column(lambda cluster: cluster.time_zone, itself),
        opening_hours=column(lambda cluster: cluster.opening_hours, hours_identity),
        changed=column(lambda cluster: cluster.changed, itself),
    )


def _interned(values: Iterable[T], identity: Callable[[T], Hashable]) -> list[T]:
    """``values`` with one object for all that are equal."""
    known: dict[Hashable, T] = {}
    return [known.setdefault(identity(value), value) for value in values]


def itself(value: T) -> T:
    """The identity of what can be hashed, and the plain form of what is plain."""
    return value


def hours_identity(hours: OpeningHours | None) -> Hashable:
    """What tells opening hours apart; they hold mappings, which cannot be hashed."""
    return hours and (tuple(hours.weekly.items()), tuple(hours.exceptions.items()))


# labels


def gather_labels(
    keys: Sequence[LabelKey], clusters: Sequence[Cluster], *, size: int
) -> dict[str, Label]:
    """The labels of ``clusters``, ascending by number."""
    having: dict[str, list[Cluster]] = {}
    for cluster in clusters:
        for key in cluster.labels:
            having.setdefault(key, []).append(cluster)
    return {key.name: _label(key, having[key.name], size) for key in keys if key.name in having}


def _label(key: LabelKey, having: Sequence[Cluster], size: int) -> Label:
    codes = Codes()
    members: list[array[int]] = []
    column: list[LabelValue | None] = [None] * size
    for cluster in having:
        code = codes.number(cluster.labels[key.name])
        if code == len(members):
            members.append(array("I"))
        members[code].append(cluster.number)
        column[cluster.number] = codes.values[code]
    return Label(
        type=key.type,
        codes=codes,
        column=chunks_of(column, None),
        having=ClusterSet.of(array("I", [cluster.number for cluster in having])),
        holders=holders_of(members),
    )
