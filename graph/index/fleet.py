"""What snapshot and draft have in common: the reads of ``FleetView`` over the index's parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

from graph.index.catalog import Catalog
from graph.index.chunks import Chunks
from graph.index.clusters import Clusters
from graph.index.forest import Forest
from graph.index.label import Label
from graph.model.access import Grant
from graph.model.change import Cursor, Numbers
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.inventory import (
    Cluster,
    Group,
    Hierarchy,
    LabelKey,
    LabelValue,
    SavedSelector,
)
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.ref import Ref
from graph.model.selector import Comparison
from graph.model.workload import Workload

_by_name = attrgetter("name")
_NO_LABEL: Chunks[LabelValue | None] = Chunks([], None)


class Fleet:
    """The parts of one state of the fleet, and every read of ``FleetView`` over them."""

    __slots__ = ("_cursor", "_numbers", "catalog", "clusters", "forest", "labels")

    def __init__(
        self,
        *,
        cursor: Cursor,
        numbers: Numbers,
        catalog: Catalog,
        forest: Forest,
        labels: Mapping[str, Label],
        clusters: Clusters,
    ) -> None:
        self._cursor = cursor
        self._numbers = numbers
        self.catalog = catalog
        self.forest = forest
        self.labels = labels
        """Only keys some cluster has or had; a declared key may have no entry yet."""
        self.clusters = clusters

    @property
    def cursor(self) -> Cursor:
        """The place in history this shows; for a draft, the one it started from."""
        return self._cursor

    @property
    def numbers(self) -> Numbers:
        """The next free numbers."""
        return self._numbers

    # hierarchies and groups

    def hierarchy(self, name: str) -> Hierarchy | None:
        """The hierarchy called ``name``."""
        return self.catalog.hierarchies.get(name)

    def hierarchies(self) -> Sequence[Hierarchy]:
        """All hierarchies, by name."""
        return sorted(self.catalog.hierarchies.values(), key=_by_name)

    def root(self, hierarchy: str) -> GroupNumber | None:
        """The root group of a hierarchy."""
        return self.forest.roots.get(hierarchy)

    def group(self, number: GroupNumber) -> Group | None:
        """The group with ``number``."""
        return self.forest.groups.get(number)

    def children(self, number: GroupNumber) -> Mapping[str, GroupNumber]:
        """The groups right below, by name; in no particular order."""
        return self.forest.children.get(number)

    def members(self, number: GroupNumber) -> ClusterSet:
        """Clusters in the group or anywhere below it."""
        return self.forest.closures.get(number)

    def members_of_any(self, numbers: Iterable[GroupNumber]) -> ClusterSet:
        """Clusters in any of the groups or anywhere below them, in one step."""
        return ClusterSet.union(self.forest.closures.many(tuple(numbers)))

    def direct_members(self, number: GroupNumber) -> ClusterSet:
        """Clusters in the group itself."""
        return self.forest.direct_members(number)

    # labels

    def label_key(self, name: str) -> LabelKey | None:
        """The label key called ``name``."""
        return self.catalog.label_keys.get(name)

    def label_keys(self) -> Sequence[LabelKey]:
        """All label keys, by name."""
        return sorted(self.catalog.label_keys.values(), key=_by_name)

    def labelled(self, key: str) -> ClusterSet:
        """Clusters that have the label."""
        label = self.labels.get(key)
        return EMPTY if label is None else label.having

    def label_equal(self, key: str, value: LabelValue) -> ClusterSet:
        """Clusters whose label has exactly this value."""
        label = self.labels.get(key)
        return EMPTY if label is None else label.equal(value)

    def label_range(self, key: str, comparison: Comparison, value: float) -> ClusterSet:
        """Clusters whose number satisfies an ordering comparison."""
        label = self.labels.get(key)
        return EMPTY if label is None else label.satisfying(comparison, value)

    def label_values(self, key: str) -> Iterable[tuple[LabelValue, ClusterSet]]:
        """Each value in use with its clusters; in no particular order."""
        label = self.labels.get(key)
        return () if label is None else label.values()

    def label(self, cluster: ClusterNumber, key: str) -> LabelValue | None:
        """The value of one label of one cluster."""
        label = self.labels.get(key)
        return None if label is None else label.column.get(cluster)

    # clusters

    def everything(self) -> ClusterSet:
        """The whole fleet."""
        return self.clusters.everything

    def cluster(self, number: ClusterNumber) -> Cluster | None:
        """The cluster with ``number``, put together from the columns."""
        clusters = self.clusters
        if not (name := clusters.name.get(number)):
            return None
        return Cluster(
            number=number,
            name=name,
            title=clusters.title.get(number),
            kind=clusters.kind.get(number),
            reconciler=clusters.reconciler.get(number),
            labels=self._labels_of(number),
            memberships=clusters.memberships.get(number),
            capacity=clusters.capacity.get(number),
            time_zone=clusters.time_zone.get(number),
            opening_hours=clusters.opening_hours.get(number),
            changed=clusters.changed.get(number),
        )

    def cluster_name(self, number: ClusterNumber) -> str:
        """The name of a cluster of this fleet."""
        return self.clusters.name.get(number)

    def cluster_number(self, name: str) -> ClusterNumber | None:
        """The number of the cluster called ``name``."""
        return self.clusters.order.number(name)

    def names_after(self, name: str) -> Iterator[tuple[str, ClusterNumber]]:
        """Clusters whose name is greater than ``name``, byte for byte, in that order."""
        return self.clusters.order.after(name)

    def in_name_order(self, chosen: ClusterSet, after: str) -> Iterator[ClusterNumber]:
        """The ``chosen`` clusters of this view whose name is greater than ``after``, by name."""
        return self.clusters.order.among(chosen, after)

    def first_by_name(self, chosen: ClusterSet, after: str, count: int) -> Sequence[ClusterNumber]:
        """The first ``count`` of ``in_name_order``, in one go."""
        return self.clusters.order.first_among(chosen, after, count)

    def memberships(self, number: ClusterNumber) -> tuple[GroupNumber, ...]:
        """The direct memberships of a cluster of this fleet."""
        return self.clusters.memberships.get(number)

    @property
    def columns(self) -> Clusters:
        """The plain fields of the clusters, by number."""
        return self.clusters

    def label_column(self, key: str) -> Chunks[LabelValue | None]:
        """One label of every cluster, by number; None where a cluster has not got it."""
        label = self.labels.get(key)
        return _NO_LABEL if label is None else label.column

    def _labels_of(self, number: ClusterNumber) -> dict[str, LabelValue]:
        values = ((key, label.column.get(number)) for key, label in self.labels.items())
        return {key: value for key, value in values if value is not None}

    # saved selectors

    def saved_selector(self, name: str) -> SavedSelector | None:
        """The saved selector called ``name``."""
        return self.catalog.saved_selectors.get(name)

    def saved_selectors(self) -> Sequence[SavedSelector]:
        """All saved selectors, by name."""
        return sorted(self.catalog.saved_selectors.values(), key=_by_name)

    # grants

    def grant(self, name: str) -> Grant | None:
        """The grant called ``name``."""
        return self.catalog.grants.get(name)

    def grants(self) -> Sequence[Grant]:
        """All grants, by name."""
        return sorted(self.catalog.grants.values(), key=_by_name)

    # workload

    @property
    def workload(self) -> Workload:
        """Everything of the workload."""
        return self.catalog.workload

    # references

    def referrers(self, ref: Ref) -> frozenset[Ref]:
        """The objects that name this one directly: saved selectors, grants, the workload."""
        return self.catalog.named_by(ref)
