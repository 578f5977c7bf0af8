"""Clusters as columns: one vector per field, by cluster number.

A write touches only the columns that differ, and equal values are one object in memory. Where
there is no cluster a column holds what ``BLANK`` has, so absence needs no column of its own.
"""

from __future__ import annotations

from graph.index.chunks import Chunks
from graph.index.order import NameOrder, NameOrderDraft
from graph.model.cluster_set import EMPTY, ClusterSet, ClusterSetDraft
from graph.model.hours import OpeningHours
from graph.model.inventory import Capacity, Cluster, ClusterKind, Reconciler
from graph.model.names import ClusterNumber, GroupNumber, Revision

BLANK = Cluster(number=ClusterNumber(0), name="")
"""What stands where no cluster is; no cluster has the empty name."""


class Clusters:
    """One version of everything about clusters but their labels."""

    __slots__ = (
        "capacity",
        "changed",
        "everything",
        "kind",
        "memberships",
        "name",
        "opening_hours",
        "order",
        "reconciler",
        "time_zone",
        "title",
    )

    def __init__(
        self,
        *,
        everything: ClusterSet,
        order: NameOrder,
        name: Chunks[str],
        title: Chunks[str],
        kind: Chunks[ClusterKind],
        reconciler: Chunks[Reconciler],
        memberships: Chunks[tuple[GroupNumber, ...]],
        capacity: Chunks[Capacity | None],
        time_zone: Chunks[str],
        opening_hours: Chunks[OpeningHours | None],
        changed: Chunks[Revision],
    ) -> None:
        self.everything = everything
        self.order = order
        self.name = name
        self.title = title
        self.kind = kind
        self.reconciler = reconciler
        self.memberships = memberships
        self.capacity = capacity
        self.time_zone = time_zone
        self.opening_hours = opening_hours
        self.changed = changed

    @staticmethod
    def empty() -> Clusters:
        """No cluster at all."""
        return Clusters(
            everything=EMPTY,
            order=NameOrder([], []),
            name=Chunks([], BLANK.name),
            title=Chunks([], BLANK.title),
            kind=Chunks([], BLANK.kind),
            reconciler=Chunks([], BLANK.reconciler),
            memberships=Chunks([], BLANK.memberships),
            capacity=Chunks([], BLANK.capacity),
            time_zone=Chunks([], BLANK.time_zone),
            opening_hours=Chunks([], BLANK.opening_hours),
            changed=Chunks([], BLANK.changed),
        )


class ClustersDraft(Clusters):
    """The next version, still being made."""

    __slots__ = ("_my_everything", "_my_order")

    def __init__(self, base: Clusters) -> None:
        self._my_everything: ClusterSetDraft | None = None
        self._my_order: NameOrderDraft | None = None
        super().__init__(
            everything=base.everything,
            order=base.order,
            name=base.name,
            title=base.title,
            kind=base.kind,
            reconciler=base.reconciler,
            memberships=base.memberships,
            capacity=base.capacity,
            time_zone=base.time_zone,
            opening_hours=base.opening_hours,
            changed=base.changed,
        )

    def freeze(self) -> Clusters:
        """The version that was made."""
        return Clusters(
            everything=self.everything,
            order=self.order,
            name=self.name.freeze(),
            title=self.title.freeze(),
            kind=self.kind.freeze(),
            reconciler=self.reconciler.freeze(),
            memberships=self.memberships.freeze(),
            capacity=self.capacity.freeze(),
            time_zone=self.time_zone.freeze(),
            opening_hours=self.opening_hours.freeze(),
            changed=self.changed.freeze(),
        )

    def remove(self, cluster: Cluster) -> None:
        """Take a cluster and its name out of the fleet; its fields stay to be rewritten."""
        self._names().remove(cluster.name)
        self._all().discard(cluster.number)

    def add(self, cluster: Cluster) -> None:
        """Take a cluster and its name into the fleet; its fields stay to be rewritten."""
        self._names().add(cluster.name, cluster.number)
        self._all().add(cluster.number)

    def rewrite(self, number: ClusterNumber, before: Cluster, after: Cluster) -> None:
        """Write the fields of one cluster that differ."""
        if before.name != after.name:
            self.name = self.name.put(number, after.name)
        if before.title != after.title:
            self.title = self.title.put(number, after.title)
        if before.kind is not after.kind:
            self.kind = self.kind.put(number, after.kind)
        if before.reconciler is not after.reconciler:
            self.reconciler = self.reconciler.put(number, after.reconciler)
        if before.memberships != after.memberships:
            self.memberships = self.memberships.put(number, after.memberships)
        if before.capacity != after.capacity:
            self.capacity = self.capacity.put(number, after.capacity)
        if before.time_zone != after.time_zone:
            self.time_zone = self.time_zone.put(number, after.time_zone)
        if before.opening_hours != after.opening_hours:
            self.opening_hours = self.opening_hours.put(number, after.opening_hours)
        if before.changed != after.changed:
            self.changed = self.changed.put(number, after.changed)

    def _names(self) -> NameOrderDraft:
        if self._my_order is None:
            self._my_order = NameOrderDraft(self.order)
            self.order = self._my_order.order
        return self._my_order

    def _all(self) -> ClusterSetDraft:
        if self._my_everything is None:
            self.everything = self._my_everything = self.everything.copy()
        return self._my_everything
