"""The fleet at one revision, as the thinking parts of the core see it.

``FleetView`` is what targeting, decide and the reports are handed: the index snapshot in the
product, a twin of plain sets in the tests. Every answer is consistent with one revision, and
nothing here waits: no I/O, no locks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from graph.model.access import Grant
from graph.model.change import Change, Cursor, Entity, Numbers
from graph.model.cluster_set import ClusterSet
from graph.model.hours import OpeningHours
from graph.model.inventory import (
    Capacity,
    Cluster,
    ClusterKind,
    Group,
    Hierarchy,
    LabelKey,
    LabelValue,
    Reconciler,
    SavedSelector,
)
from graph.model.names import ClusterNumber, GroupNumber, Revision, join_path, split_path
from graph.model.ref import Kind, Ref
from graph.model.selector import Comparison
from graph.model.workload import Workload

T_co = TypeVar("T_co", covariant=True)


CHUNK_BITS = 8
CHUNK_MASK = (1 << CHUNK_BITS) - 1


class Column(Protocol[T_co]):
    """One field of every cluster, by number."""

    @property
    def chunks(self) -> Sequence[Sequence[T_co]]:
        """Where the fields lie: that of cluster n in ``chunks[n >> CHUNK_BITS][n & CHUNK_MASK]``.

        There are only as many chunks as it takes to hold what was ever written.
        """
        ...

    def many(self, indexes: Sequence[int]) -> Sequence[T_co]:
        """The field of these clusters, in their order; in one pass."""
        ...


class Columns(Protocol):
    """The plain fields of clusters, for whoever reads many at once."""

    @property
    def name(self) -> Column[str]: ...  # noqa: D102 - the fields of Cluster, described there
    @property
    def title(self) -> Column[str]: ...  # noqa: D102
    @property
    def kind(self) -> Column[ClusterKind]: ...  # noqa: D102
    @property
    def reconciler(self) -> Column[Reconciler]: ...  # noqa: D102
    @property
    def time_zone(self) -> Column[str]: ...  # noqa: D102
    @property
    def capacity(self) -> Column[Capacity | None]: ...  # noqa: D102
    @property
    def opening_hours(self) -> Column[OpeningHours | None]: ...  # noqa: D102
    @property
    def memberships(self) -> Column[tuple[GroupNumber, ...]]: ...  # noqa: D102
    @property
    def changed(self) -> Column[Revision]: ...  # noqa: D102


class FleetView(Protocol):
    """One revision of the fleet. Sets it returns belong to it: do not change them."""

    @property
    def cursor(self) -> Cursor:
        """The place in history this view shows."""
        ...

    @property
    def numbers(self) -> Numbers:
        """The next free numbers."""
        ...

    # hierarchies and groups

    def hierarchy(self, name: str) -> Hierarchy | None:
        """The hierarchy called ``name``."""
        ...

    def hierarchies(self) -> Sequence[Hierarchy]:
        """All hierarchies, by name."""
        ...

    def root(self, hierarchy: str) -> GroupNumber | None:
        """The root group of a hierarchy."""
        ...

    def group(self, number: GroupNumber) -> Group | None:
        """The group with ``number``."""
        ...

    def children(self, number: GroupNumber) -> Mapping[str, GroupNumber]:
        """The groups right below, by name; in no particular order."""
        ...

    def members(self, number: GroupNumber) -> ClusterSet:
        """Clusters in the group or anywhere below it."""
        ...

    def members_of_any(self, numbers: Iterable[GroupNumber]) -> ClusterSet:
        """Clusters in any of the groups or anywhere below them, in one step."""
        ...

    def direct_members(self, number: GroupNumber) -> ClusterSet:
        """Clusters in the group itself."""
        ...

    # labels

    def label_key(self, name: str) -> LabelKey | None:
        """The label key called ``name``."""
        ...

    def label_keys(self) -> Sequence[LabelKey]:
        """All label keys, by name."""
        ...

    def labelled(self, key: str) -> ClusterSet:
        """Clusters that have the label."""
        ...

    def label_equal(self, key: str, value: LabelValue) -> ClusterSet:
        """Clusters whose label has exactly this value."""
        ...

    def label_range(self, key: str, comparison: Comparison, value: float) -> ClusterSet:
        """Clusters whose number satisfies an ordering comparison."""
        ...

    def label_values(self, key: str) -> Iterable[tuple[LabelValue, ClusterSet]]:
        """Each value in use with its clusters; in no particular order."""
        ...

    def label(self, cluster: ClusterNumber, key: str) -> LabelValue | None:
        """The value of one label of one cluster."""
        ...

    # clusters

    def everything(self) -> ClusterSet:
        """The whole fleet."""
        ...

    def cluster(self, number: ClusterNumber) -> Cluster | None:
        """The cluster with ``number``, put together from the columns."""
        ...

    def cluster_name(self, number: ClusterNumber) -> str:
        """The name of a cluster of this view."""
        ...

    def cluster_number(self, name: str) -> ClusterNumber | None:
        """The number of the cluster called ``name``."""
        ...

    def names_after(self, name: str) -> Iterator[tuple[str, ClusterNumber]]:
        """Clusters whose name is greater than ``name``, byte for byte, in that order."""
        ...

    def in_name_order(self, chosen: ClusterSet, after: str) -> Iterator[ClusterNumber]:
        """The ``chosen`` clusters of this view whose name is greater than ``after``, by name."""
        ...

    def first_by_name(self, chosen: ClusterSet, after: str, count: int) -> Sequence[ClusterNumber]:
        """The first ``count`` of ``in_name_order``, in one go."""
        ...

    def memberships(self, number: ClusterNumber) -> tuple[GroupNumber, ...]:
        """The direct memberships of a cluster of this view."""
        ...

    @property
    def columns(self) -> Columns:
        """The plain fields of the clusters, by number; ask only for clusters of this view."""
        ...

    def label_column(self, key: str) -> Column[LabelValue | None]:
        """One label of every cluster, by number; None where a cluster has not got it."""
        ...

    # saved selectors

    def saved_selector(self, name: str) -> SavedSelector | None:
        """The saved selector called ``name``."""
        ...

    def saved_selectors(self) -> Sequence[SavedSelector]:
        """All saved selectors, by name."""
        ...

    # grants

    def grant(self, name: str) -> Grant | None:
        """The grant called ``name``."""
        ...

    def grants(self) -> Sequence[Grant]:
        """All grants, by name."""
        ...

    # workload

    @property
    def workload(self) -> Workload:
        """Everything of the workload."""
        ...

    # references

    def referrers(self, ref: Ref) -> frozenset[Ref]:
        """The objects that name this one directly: saved selectors, grants, the workload."""
        ...


class FleetDraft(FleetView, Protocol):
    """A view being changed: it shows what was applied so far."""

    def apply(self, changes: Iterable[Change]) -> None:
        """Make ``changes``; the order among them means nothing."""
        ...


def entity_of(view: FleetView, ref: Ref) -> Entity | None:
    """The object ``ref`` names, if it is in the view."""
    match ref.kind, ref.key:
        case Kind.CLUSTER, int(number):
            return view.cluster(ClusterNumber(number))
        case Kind.GROUP, int(number):
            return view.group(GroupNumber(number))
        case kind, str(name):
            return _called(view, kind, name)
        case _:
            return None


def _called(view: FleetView, kind: Kind, name: str) -> Entity | None:
    match kind:
        case Kind.HIERARCHY:
            return view.hierarchy(name)
        case Kind.LABEL_KEY:
            return view.label_key(name)
        case Kind.SAVED_SELECTOR:
            return view.saved_selector(name)
        case Kind.GRANT:
            return view.grant(name)
        case Kind.GROUP | Kind.CLUSTER:
            return None  # known by number
        case _:
            return _of_workload(view.workload, kind, name)


def _of_workload(workload: Workload, kind: Kind, name: str) -> Entity | None:
    tables: dict[Kind, Mapping[str, Entity]] = {
        Kind.NAMESPACE: workload.namespaces,
        Kind.APPLICATION: workload.applications,
        Kind.ASSIGNMENT: workload.assignments,
        Kind.PROHIBITION: workload.prohibitions,
        Kind.LAYER: workload.layers,
        Kind.POLICY: workload.policies,
    }
    return tables[kind].get(name)


def path_of(view: FleetView, number: GroupNumber) -> str:
    """Where a group is now."""
    return join_path(group.name for group in reversed(lineage(view, number)))


def lineage(view: FleetView, number: GroupNumber) -> list[Group]:
    """The group and its ancestors, root last."""
    found: list[Group] = []
    at: GroupNumber | None = number
    while at is not None:
        group = view.group(at)
        assert group is not None, f"group {at} is named but not in the view"
        found.append(group)
        at = group.parent
    return found


def group_at(view: FleetView, path: str) -> GroupNumber | None:
    """The group at ``path``; refused if ``path`` is none."""
    hierarchy, *rest = split_path(path)
    number = view.root(hierarchy)
    for name in rest:
        if number is None:
            return None
        number = view.children(number).get(name)
    return number


def subtree(view: FleetView, number: GroupNumber) -> Iterator[GroupNumber]:
    """The group and everything below it, parents before children."""
    waiting = [number]
    while waiting:
        at = waiting.pop()
        yield at
        waiting.extend(view.children(at).values())
