"""One side of a changeset, as far as it is certain: what a scope surely showed at that time.

Certain is what the changeset itself says, and every object of today that nobody has written since
(its ``changed`` is no later). A group that was written since may have been elsewhere, so nothing
is known of what lay above it. As in ``graph.scoped``, but with proof: what holds visible clusters
there takes a witness here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import islice

from graph.model.change import Entity
from graph.model.cluster_set import ClusterSet
from graph.model.inventory import Cluster, Group, LabelType, LabelValue, SavedSelector
from graph.model.label import type_of
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.ref import Kind, Ref
from graph.model.selector import (
    Clause,
    Comparison,
    Everything,
    HasLabel,
    InNamespace,
    IsCluster,
    LabelIn,
    LabelIs,
    Matching,
    Only,
    Saved,
    Selector,
    Under,
    clauses,
)
from graph.model.view import FleetView
from graph.model.workload import Assignment
from graph.targeting.certain import Known, Line, certain, covers, takes_in
from graph.targeting.evaluate import evaluate, matched_groups, satisfies
from graph.targeting.meaning import Meaning, Named
from graph.targeting.missing import WILDCARD
from graph.targeting.named_groups import named_groups

WITNESSES_MAX = 256
"""Clusters of today asked for one that was there then; behind them it is in doubt."""

_Label = tuple[str, LabelType | None, LabelValue | None]


class Past:
    """The fleet of ``revision`` as ``scope`` showed it.

    ``states`` are the objects other than clusters that a changeset wrote, None for absence;
    ``in_sight`` gives the clusters it wrote that the scope surely showed. ``today`` is the fleet
    now, and ``seen`` what the scope shows of that.
    """

    def __init__(
        self,
        scope: Selector,
        revision: Revision,
        states: Iterable[tuple[Entity, Entity | None]],
        in_sight: Callable[[], Iterable[Cluster]],
        today: tuple[FleetView, FleetView],
    ) -> None:
        self._scope = scope
        self._revision = revision
        self._in_sight = in_sight
        self._today, self._seen = today
        self._groups: dict[GroupNumber, Group | None] = {}
        self._saved: dict[str, SavedSelector | None] = {}
        self._assignments: dict[str, Assignment | None] = {}
        for entity, state in states:
            if isinstance(entity, Group):
                self._groups[entity.number] = state if isinstance(state, Group) else None
            elif isinstance(entity, SavedSelector):
                self._saved[entity.name] = state if isinstance(state, SavedSelector) else None
            elif isinstance(entity, Assignment):
                self._assignments[entity.name] = state if isinstance(state, Assignment) else None
        self._lines: dict[GroupNumber, Line] = {}
        self._known = Known(self._line, cache(self._meaning))

    # what is certain

    def _group(self, number: GroupNumber) -> Group | None:
        if number in self._groups:
            return self._groups[number]
        group = self._today.group(number)
        return group if group is not None and group.changed <= self._revision else None

    def _line(self, number: GroupNumber) -> Line:
        found = self._lines.get(number)
        if found is None:
            found = self._lines[number] = self._above(number)
        return found

    def _above(self, number: GroupNumber) -> Line:
        group = self._group(number)
        if group is None:
            return Line((number,), (), whole=False)
        if group.parent is None:
            return Line((number,), (group.name,), whole=True)
        above = self._line(group.parent)
        return Line((number, *above.numbers), (group.name, *above.names), above.whole)

    def _meaning(self, name: Named) -> Meaning | None:
        if isinstance(name, InNamespace):
            return self._assigned(name)
        saved = self._saved_selector(name.name)
        if saved is None:
            return None
        return Meaning(name, (saved.selector,), (Ref(Kind.SAVED_SELECTOR, saved.name),))

    def _saved_selector(self, name: str) -> SavedSelector | None:
        if name in self._saved:
            return self._saved[name]
        saved = self._today.saved_selector(name)
        return saved if saved is not None and saved.changed <= self._revision else None

    def _assigned(self, name: InNamespace) -> Meaning | None:
        """The assignments the namespace surely had; of one not in sight today nothing is said."""
        if name.name not in self._seen.workload.namespaces:
            return None
        today = self._today.workload.assignments
        kept = [each for each in today.values() if each.name not in self._assignments]
        sure = [each for each in kept if each.changed <= self._revision]
        sure += [each for each in self._assignments.values() if each is not None]
        own = [each for each in sure if each.choice.namespace == name.name]
        refs = tuple(Ref(Kind.ASSIGNMENT, each.name) for each in own)
        return Meaning(name, tuple(each.selector for each in own), refs)

    # what was in sight

    def sees(self, cluster: Cluster) -> bool:
        """Whether the scope surely chose a cluster of this revision."""
        return certain(self._scope, cluster, self._known) is True

    def shows_group(self, number: GroupNumber) -> bool:
        """Whether the group was surely there to be seen."""
        return (
            number in self._held
            or covers(self._scope, self._line(number))
            or number in self._named_above
            or any(number in self._over(each) for each in self._among(self._seen.members(number)))
        )

    def shows_hierarchy(self, name: str) -> bool:
        """Whether the hierarchy was surely there to be seen: its root was."""
        made = (each for each in self._groups.values() if each is not None)
        roots = [each.number for each in made if each.parent is None and each.hierarchy == name]
        today = self._today.root(name)
        return any(map(self.shows_group, roots if roots or today is None else [today]))

    def shows_label(self, key: str, value: LabelValue | None = None) -> bool:
        """Whether a visible cluster surely had the label, with this value if one is given."""
        if _label(key, value) in self._labels:
            return True
        seen = self._seen
        among = seen.labelled(key) if value is None else seen.label_equal(key, value)
        return any(_has(each, key, value) for each in self._among(among))

    def readable(self, selector: Selector) -> bool:
        """Whether the text of a stored selector surely hid nothing."""
        return all(map(self._names_visible, clauses(selector)))

    def reached(self, selector: Selector) -> bool:
        """Whether a stored selector surely reached a visible cluster."""
        among = evaluate(selector, self._today) & self._seen.everything()
        return any(
            certain(selector, each, self._known) is True
            for clusters in (self._written, self._among(among))
            for each in clusters
        )

    @cached_property
    def _written(self) -> Sequence[Cluster]:
        return tuple(self._in_sight())

    @cached_property
    def _held(self) -> frozenset[GroupNumber]:
        """The groups that surely held a visible cluster which the changeset wrote."""
        return frozenset(number for each in self._written for number in self._over(each))

    @cached_property
    def _labels(self) -> frozenset[_Label]:
        """The labels, without and with their values, of visible clusters the changeset wrote."""
        return frozenset(
            _label(key, each)
            for cluster in self._written
            for key, value in cluster.labels.items()
            for each in (None, value)
        )

    @cached_property
    def _named_above(self) -> frozenset[GroupNumber]:
        """The groups that surely lay above one the scope names."""
        named = {*named_groups(self._scope, self._today).inside, *self._groups}
        lines = (self._line(number) for number in named if self._group(number) is not None)
        return frozenset(
            each for line in lines if takes_in(self._scope, line) for each in line.numbers[1:]
        )

    def _over(self, cluster: Cluster) -> Iterator[GroupNumber]:
        """The groups a cluster surely was in."""
        return (number for each in cluster.memberships for number in self._line(each).numbers)

    def _among(self, clusters: ClusterSet) -> Iterator[Cluster]:
        """The witnesses among some clusters of today: nobody has written them since."""
        numbers = list(islice(clusters, WITNESSES_MAX))
        written = self._today.columns.changed.many(numbers)
        for number, changed in zip(numbers, written, strict=True):
            if changed <= self._revision:
                cluster = self._today.cluster(number)
                if cluster is not None and self.sees(cluster):
                    yield cluster

    # what the text of a saved selector names

    def _names_visible(self, clause: Clause) -> bool:
        match clause:
            case Under(group) | Only(group):
                shown = self.shows_group(group)
            case Matching(base, rest):
                shown = self.shows_group(base) and self._leads_somewhere(base, rest)
            case LabelIs(key, Comparison.EQ | Comparison.NE, value):
                shown = self.shows_label(key, value)
            case LabelIn(key, values):
                shown = all(self.shows_label(key, value) for value in values)
            case LabelIs(key) | HasLabel(key):
                shown = self.shows_label(key)
            case IsCluster(cluster):
                shown = self._shows_cluster(cluster)
            case Saved() | InNamespace():
                meaning = self._known.meaning(clause)
                shown = meaning is not None and any(map(self.reached, meaning.selectors))
            case Everything():
                shown = True
        return shown

    def _shows_cluster(self, number: ClusterNumber) -> bool:
        among = self._among(ClusterSet.of([number]) & self._seen.everything())
        return any(each.number == number for each in (*among, *self._written))

    def _leads_somewhere(self, base: GroupNumber, rest: Sequence[str]) -> bool:
        """Whether every name of a pattern was the name of a group in sight."""
        named = [place for place, name in enumerate(rest) if name != WILDCARD]
        if not named:
            return True
        rest = rest[: named[-1] + 1]
        return any(
            self._line(each).matches(0, base, rest) and self.shows_group(each)
            for each in islice(matched_groups(base, rest, self._today), WITNESSES_MAX)
        )


def _label(key: str, value: LabelValue | None) -> _Label:
    return key, None if value is None else type_of(value), value  # True is equal to 1


def _has(cluster: Cluster, key: str, value: LabelValue | None) -> bool:
    own = cluster.labels.get(key)
    return own is not None if value is None else satisfies(own, Comparison.EQ, value)
