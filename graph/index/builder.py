"""Making snapshots: the next one from changes, or the first from facts.

A draft copies only what it touches, and is a fleet view itself, so that a batch is decided command
by command, each seeing those before. Sets taken from a draft may change with the next ``apply``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar, final

from graph.index.bulk import gather_clusters, gather_forest, gather_labels
from graph.index.catalog import Catalog, CatalogDraft
from graph.index.clusters import BLANK, ClustersDraft
from graph.index.fleet import Fleet
from graph.index.forest import ForestDraft, GroupPair
from graph.index.label import Label, LabelDraft
from graph.index.snapshot import Snapshot
from graph.model.change import Change, Cursor, Entity, Numbers
from graph.model.inventory import Cluster, Group, LabelKey, LabelValue
from graph.model.names import ClusterNumber, GroupNumber

T = TypeVar("T")
ClusterPair = tuple[Cluster | None, Cluster | None]


def edit(snapshot: Snapshot) -> Draft:
    """A draft of what comes after ``snapshot``, which itself stays as it is."""
    return Draft(snapshot)


def build(entities: Iterable[Entity], *, cursor: Cursor, numbers: Numbers) -> Snapshot:
    """The snapshot of these facts; much faster than making them one change each."""
    facts = list(entities)
    clusters = sorted(_only(Cluster, facts), key=lambda cluster: cluster.number)
    label_keys = _only(LabelKey, facts)
    return Snapshot(
        cursor=cursor,
        numbers=numbers,
        catalog=Catalog.of(fact for fact in facts if not isinstance(fact, Cluster | Group)),
        forest=gather_forest(_only(Group, facts), clusters, size=numbers.group),
        labels=gather_labels(label_keys, clusters, size=numbers.cluster),
        clusters=gather_clusters(clusters, size=numbers.cluster, groups=numbers.group),
    )


def _only(kind: type[T], facts: Sequence[object]) -> list[T]:
    return [fact for fact in facts if isinstance(fact, kind)]


@final
class Draft(Fleet):
    """The next state of the fleet, still being made. One draft makes one snapshot."""

    __slots__ = ("_catalog", "_clusters", "_forest", "_frozen", "_labels")

    def __init__(self, base: Snapshot) -> None:
        super().__init__(
            cursor=base.cursor,
            numbers=base.numbers,
            catalog=base.catalog,
            forest=base.forest,
            labels=base.labels,
            clusters=base.clusters,
        )
        # The parts that are ours already; None or absent until first written.
        self._catalog: CatalogDraft | None = None
        self._forest: ForestDraft | None = None
        self._clusters: ClustersDraft | None = None
        self._labels: dict[str, LabelDraft] = {}
        self._frozen = False

    def freeze(self, cursor: Cursor, *, numbers: Numbers | None = None) -> Snapshot:
        """The snapshot at ``cursor``. The draft has handed over what it made and is done.

        ``numbers`` are given where the record is to know fewer: what a batch creates and removes
        again was never recorded, and its number is free.
        """
        self._frozen = True
        labels = {name: label.freeze() for name, label in self._labels.items()}
        return Snapshot(
            cursor=cursor,
            numbers=self.numbers if numbers is None else numbers,
            catalog=self.catalog if self._catalog is None else self._catalog.freeze(),
            forest=self.forest if self._forest is None else self._forest.freeze(),
            labels={**self.labels, **labels} if labels else self.labels,
            clusters=self.clusters if self._clusters is None else self._clusters.freeze(),
        )

    def apply(self, changes: Iterable[Change]) -> None:
        """Make ``changes``, each object at most once; their order does not matter.

        ``before`` must be what the draft holds. Groups are settled first, with memberships as they
        were; then memberships change against the new forest.
        """
        assert not self._frozen, "this draft has made its snapshot already"
        groups: list[GroupPair] = []
        clusters: list[ClusterPair] = []
        changes = tuple(changes)
        for change in changes:
            match change:
                case Change(Cluster() | None as before, Cluster() | None as after):
                    clusters.append((before, after))
                case Change(Group() | None as before, Group() | None as after):
                    groups.append((before, after))
                case _:
                    self._rename(change.before, change.after)
        if groups:
            self._my_forest().regroup(groups)
        if clusters:
            self._recluster(clusters)
        self._numbers = self._numbers.after(changes)

    def _rename(self, before: Entity | None, after: Entity | None) -> None:
        """Change what the catalog holds."""
        assert before is None or after is None or type(before) is type(after), "of one kind"
        assert not isinstance(before, Cluster | Group) and not isinstance(after, Cluster | Group)
        self._my_catalog().put(before, after)
        if isinstance(before, LabelKey):
            self._retype(before, after)

    def _retype(self, before: LabelKey, after: Entity | None) -> None:
        """Forget the values of a key that goes or changes its type.

        Every cluster that had the label loses it, or gets another value, in the same changeset: a
        key goes only when it is not in use.
        """
        if isinstance(after, LabelKey) and before.type is after.type:
            return
        name = before.name
        self._labels.pop(name, None)
        self.labels = {key: label for key, label in self.labels.items() if key != name}

    def _recluster(self, pairs: Sequence[ClusterPair]) -> None:
        clusters = self._my_clusters()
        # A name may pass from a retired cluster to a new one: all go before any comes.
        for before, after in pairs:
            if before is not None and (after is None or before.name != after.name):
                clusters.remove(before)
        for before, after in pairs:
            if after is not None and (before is None or before.name != after.name):
                clusters.add(after)
        for before, after in pairs:
            was, now = before or BLANK, after or BLANK
            number = (after or was).number
            clusters.rewrite(number, was, now)
            if was.memberships != now.memberships:
                self._rejoin(number, was.memberships, now.memberships)
            if was.labels is not now.labels:
                self._relabel(number, was.labels, now.labels)

    def _rejoin(
        self,
        cluster: ClusterNumber,
        was: tuple[GroupNumber, ...],
        now: tuple[GroupNumber, ...],
    ) -> None:
        forest = self._my_forest()
        for group in set(was).difference(now):
            forest.leave(cluster, group, now)
        for group in set(now).difference(was):
            forest.join(cluster, group)

    def _relabel(
        self,
        cluster: ClusterNumber,
        was: Mapping[str, LabelValue],
        now: Mapping[str, LabelValue],
    ) -> None:
        for key in was.keys() - now.keys():
            if (label := self._my_label(key)) is not None:
                label.put(cluster, None)
        for key, value in now.items():
            old = was.get(key)
            # By type as well: True == 1, and a key may come back with another type.
            if old != value or type(old) is not type(value):
                label = self._my_label(key)
                assert label is not None, f"label {key} is used but not declared"
                label.put(cluster, value)

    def _my_catalog(self) -> CatalogDraft:
        if self._catalog is None:
            self.catalog = self._catalog = CatalogDraft(self.catalog)
        return self._catalog

    def _my_forest(self) -> ForestDraft:
        if self._forest is None:
            self.forest = self._forest = ForestDraft(self.forest)
        return self._forest

    def _my_clusters(self) -> ClustersDraft:
        if self._clusters is None:
            self.clusters = self._clusters = ClustersDraft(self.clusters)
        return self._clusters

    def _my_label(self, key: str) -> LabelDraft | None:
        """The label to write; None if the key is not declared any more."""
        mine = self._labels.get(key)
        if mine is None:
            if (declared := self.catalog.label_keys.get(key)) is None:
                return None
            mine = self._labels[key] = LabelDraft(
                self.labels.get(key) or Label.empty(declared.type)
            )
            self.labels = {**self.labels, key: mine}
        return mine
