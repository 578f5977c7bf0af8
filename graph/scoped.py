"""The fleet as somebody may see it: a view of a view, through a scope.

Whatever may not be seen is missing, with the same answers and the same errors as if it had never
been there. Everything that asks a ``FleetView`` is therefore safe without knowing of access, and
no answer has to be filtered afterwards.

V1  A cluster is there if the scope chooses it at this revision.
V2  A group is there if a visible cluster is in or below it, or if it lies at or under a group the
    scope names; and so is every group above such a one, without which it has no path. What the
    scope names only to leave it out does not count. A hierarchy is there if its root is.
V3  A label key or value, allowed ones included, is there if a visible cluster has it.
V4  A saved selector is there if it reaches a visible cluster, and the workload as
    ``graph.targeting.sight`` says. Grants are not there.
V5  What is hidden holds no visible cluster. So for every selector the answer here is the answer
    of the whole fleet, intersected with what is visible; also for a tree that names hidden things.
V6  Where a reader is covered for a part of the workload alone, the rest is taken out of the fleet
    before all else: a namespace that is not covered chooses nothing, under whatever name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from graph.model.access import Coverage, Grant
from graph.model.change import Cursor, Numbers
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.errors import Denied
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
from graph.model.referring import named_in
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
from graph.model.view import Column, Columns, FleetView, entity_of
from graph.model.workload import Workload
from graph.targeting.evaluate import evaluate, matched_groups
from graph.targeting.missing import WILDCARD
from graph.targeting.named_groups import NamedGroups, named_groups
from graph.targeting.sight import CoveredBesides, HeldBy, InSight, Sight, in_sight


class ScopedView:
    """``base`` as far as ``scope`` shows it. Made for one revision; what it works out it keeps.

    ``covered`` is the part of the workload its reader is covered for; None is all of it.
    """

    def __init__(
        self,
        base: FleetView,
        scope: Selector,
        *,
        visible: ClusterSet | None = None,
        covered: Coverage | None = None,
    ) -> None:
        self.base = base
        self.scope = scope
        self.covered = covered
        self._visible = evaluate(scope, base) if visible is None else visible
        self._forget()

    def _forget(self) -> None:
        """Begin anew with what was worked out."""
        self._named: NamedGroups | None = None
        self._members: dict[GroupNumber, ClusterSet] = {}
        self._shown: dict[GroupNumber, bool] = {}
        self._keys: dict[str, LabelKey | None] = {}
        self._saved: dict[str, bool] = {}
        self._workload: Workload | None = None
        covered = self.covered
        self.wholly: ScopedView | None = None
        """What of it is seen with its whole workload, by a reader covered for a part besides."""
        if isinstance(covered, CoveredBesides):
            self.wholly = ScopedView(self.base, covered.wholly)
        self.whole = self.base if covered is None else _Covered(self.base, covered, self._beside())
        """All of the fleet, without what its reader is not covered for (V6)."""

    @property
    def cursor(self) -> Cursor:
        """The place in history this view shows."""
        return self.base.cursor

    @property
    def numbers(self) -> Numbers:
        """The next free numbers."""
        return self.base.numbers

    # hierarchies and groups

    def hierarchy(self, name: str) -> Hierarchy | None:
        """The hierarchy called ``name``."""
        return self.base.hierarchy(name) if self.root(name) is not None else None

    def hierarchies(self) -> Sequence[Hierarchy]:
        """All hierarchies, by name."""
        return [each for each in self.base.hierarchies() if self.root(each.name) is not None]

    def root(self, hierarchy: str) -> GroupNumber | None:
        """The root group of a hierarchy."""
        number = self.base.root(hierarchy)
        return number if number is not None and self.shows_group(number) else None

    def group(self, number: GroupNumber) -> Group | None:
        """The group with ``number``."""
        return self.base.group(number) if self.shows_group(number) else None

    def children(self, number: GroupNumber) -> Mapping[str, GroupNumber]:
        """The groups right below, by name; in no particular order."""
        return InSight(self.base.children(number), self._shown_group)

    def members(self, number: GroupNumber) -> ClusterSet:
        """Clusters in the group or anywhere below it."""
        found = self._members.get(number)
        if found is None:
            found = self._members[number] = self._seen(self.base.members(number))
        return found

    def _seen(self, held: ClusterSet) -> ClusterSet:
        """What of a set is visible; the set itself where all of it is, which takes no room."""
        both = held & self._visible
        return held if len(both) == len(held) else both or EMPTY

    def members_of_any(self, numbers: Iterable[GroupNumber]) -> ClusterSet:
        """Clusters in any of the groups or anywhere below them, in one step."""
        return self.base.members_of_any(numbers) & self._visible

    def direct_members(self, number: GroupNumber) -> ClusterSet:
        """Clusters in the group itself."""
        return self.base.direct_members(number) & self._visible

    def shows_group(self, number: GroupNumber) -> bool:
        """Whether the group is there (V2)."""
        shown = self._shown.get(number)
        if shown is None:
            shown = self._shown[number] = self.base.group(number) is not None and (
                self.base.members(number).meets(self._visible)
                or self.leads_to(number)
                or self.covers(number)
            )
        return shown

    def _shown_group(self, number: GroupNumber) -> GroupNumber | None:
        return number if self.shows_group(number) else None

    def covers(self, number: GroupNumber) -> bool:
        """Whether the group lies at or under one the scope names."""
        return self._names().cover(number, self.base)

    def leads_to(self, number: GroupNumber) -> bool:
        """Whether the group lies above one the scope names."""
        return number in self._names().above

    def _names(self) -> NamedGroups:
        if self._named is None:
            self._named = named_groups(self.scope, self.base)
        return self._named

    # labels

    def label_key(self, name: str) -> LabelKey | None:
        """The label key called ``name``, with the allowed values that are there."""
        if name not in self._keys:
            self._keys[name] = self._label_key(name)
        return self._keys[name]

    def _label_key(self, name: str) -> LabelKey | None:
        key = self.base.label_key(name)
        if key is None or not self.base.labelled(name).meets(self._visible):
            return None
        return replace(key, allowed=self._seen_values(name, key.allowed))

    def _seen_values(self, key: str, values: Iterable[LabelValue]) -> tuple[LabelValue, ...]:
        base, visible = self.base, self._visible
        return tuple(each for each in values if base.label_equal(key, each).meets(visible))

    def label_keys(self) -> Sequence[LabelKey]:
        """All label keys, by name."""
        found = (self.label_key(each.name) for each in self.base.label_keys())
        return [each for each in found if each is not None]

    def labelled(self, key: str) -> ClusterSet:
        """Clusters that have the label."""
        return self.base.labelled(key) & self._visible

    def label_equal(self, key: str, value: LabelValue) -> ClusterSet:
        """Clusters whose label has exactly this value."""
        return self.base.label_equal(key, value) & self._visible

    def label_range(self, key: str, comparison: Comparison, value: float) -> ClusterSet:
        """Clusters whose number satisfies an ordering comparison."""
        return self.base.label_range(key, comparison, value) & self._visible

    def label_values(self, key: str) -> Iterable[tuple[LabelValue, ClusterSet]]:
        """Each value in use with its clusters; in no particular order."""
        visible = self._visible
        found = ((value, held & visible) for value, held in self.base.label_values(key))
        return ((value, seen) for value, seen in found if seen)

    def label(self, cluster: ClusterNumber, key: str) -> LabelValue | None:
        """The value of one label of one cluster."""
        return self.base.label(cluster, key) if self._sees(cluster) else None

    # clusters

    def everything(self) -> ClusterSet:
        """The whole fleet: every cluster that may be seen."""
        return self._visible

    def _sees(self, number: ClusterNumber) -> bool:
        return 0 <= number < self.base.numbers.cluster and number in self._visible

    def cluster(self, number: ClusterNumber) -> Cluster | None:
        """The cluster with ``number``. All its places and labels are there with it."""
        return self.base.cluster(number) if self._sees(number) else None

    def cluster_name(self, number: ClusterNumber) -> str:
        """The name of a cluster of this view."""
        return self.base.cluster_name(number) if self._sees(number) else ""

    def cluster_number(self, name: str) -> ClusterNumber | None:
        """The number of the cluster called ``name``."""
        number = self.base.cluster_number(name)
        return number if number is not None and self._sees(number) else None

    def names_after(self, name: str) -> Iterator[tuple[str, ClusterNumber]]:
        """Clusters whose name is greater than ``name``, byte for byte, in that order."""
        base = self.base
        return ((base.cluster_name(each), each) for each in base.in_name_order(self._visible, name))

    def in_name_order(self, chosen: ClusterSet, after: str) -> Iterator[ClusterNumber]:
        """The ``chosen`` clusters of this view whose name is greater than ``after``, by name."""
        return self.base.in_name_order(chosen & self._visible, after)

    def first_by_name(self, chosen: ClusterSet, after: str, count: int) -> Sequence[ClusterNumber]:
        """The first ``count`` of ``in_name_order``, in one go."""
        return self.base.first_by_name(chosen & self._visible, after, count)

    def memberships(self, number: ClusterNumber) -> tuple[GroupNumber, ...]:
        """The direct memberships of a cluster of this view."""
        return self.base.memberships(number) if self._sees(number) else ()

    @property
    def columns(self) -> Columns:
        """The plain fields of the clusters, by number; ask only for clusters of this view."""
        return self.base.columns

    def label_column(self, key: str) -> Column[LabelValue | None]:
        """One label of every cluster, by number; ask only for clusters of this view."""
        return self.base.label_column(key)

    # saved selectors and grants

    def saved_selector(self, name: str) -> SavedSelector | None:
        """The saved selector called ``name``. Ask ``readable`` before its text is shown."""
        saved = self.base.saved_selector(name)
        return saved if saved is not None and self._reaches(saved) else None

    def saved_selectors(self) -> Sequence[SavedSelector]:
        """All saved selectors, by name."""
        return [each for each in self.base.saved_selectors() if self._reaches(each)]

    def _reaches(self, saved: SavedSelector) -> bool:
        shown = self._saved.get(saved.name)
        if shown is None:
            shown = self._saved[saved.name] = self._chooses_visible(saved.selector)
        return shown

    def _chooses_visible(self, selector: Selector) -> bool:
        # On the whole, whose saved selectors are all there: V5 says it comes to the same.
        return evaluate(selector, self.whole).meets(self._visible)

    def grant(self, name: str) -> Grant | None:
        """None: who may see what is for those who see all."""
        return None

    def grants(self) -> Sequence[Grant]:
        """None of them."""
        return ()

    # workload

    @property
    def workload(self) -> Workload:
        """The workload that is there, without names that are not; worked out as it is read.

        Ask ``readable`` before the text of a selector in it is shown.
        """
        if self._workload is None:
            self._workload = in_sight(self.base.workload, self._sight().of)
        return self._workload

    def _sight(self) -> Sight:
        return Sight(
            HeldBy(self.base),
            self._chooses_visible,
            lambda key: self.label_key(key) is not None,
            self.covered,
            self._keeps,
            self._beside(),
        )

    def _beside(self) -> Sight | None:
        return None if self.wholly is None else self.wholly._sight()

    def _keeps(self, _ref: Ref) -> bool:
        """Whether an object of the workload is there in any case."""
        return False

    # references

    def referrers(self, ref: Ref) -> frozenset[Ref]:
        """The objects that are there and, as they are shown, name this one directly."""
        return frozenset(each for each in self.base.referrers(ref) if self._names_it(each, ref))

    def _names_it(self, referrer: Ref, ref: Ref) -> bool:
        entity = entity_of(self, referrer)
        return entity is not None and ref in named_in(entity)


class _Covered(ScopedView):
    """All clusters, with the workload as far as it is covered, wherever that is."""

    def __init__(self, base: FleetView, covered: Coverage, beside: Sight | None) -> None:
        super().__init__(base, Everything(), visible=base.everything())
        sight = Sight(HeldBy(base), lambda _: True, lambda _: True, covered, beside=beside)
        self._workload = in_sight(base.workload, sight.of)

    def _reaches(self, saved: SavedSelector) -> bool:
        return True


def readable(selector: Selector, view: FleetView) -> bool:
    """Whether the text of a stored selector names nothing that ``view`` hides.

    Numbers to compare with are the author's own; values to be equal to are the fleet's.
    """
    if not isinstance(view, ScopedView):
        return True
    return all(_is_shown(clause, view) for clause in clauses(selector))


def outside_scope() -> Denied:
    """The one refusal of a change that would leave the scope; it names nothing."""
    return Denied(
        "this would touch something outside your scope",
        hint="change only what lies inside it before and after; a name may be taken outside it",
    )


def _is_shown(clause: Clause, view: ScopedView) -> bool:
    match clause:
        case Under(group) | Only(group):
            shown = view.shows_group(group)
        case Matching(base, rest):
            shown = view.shows_group(base) and _leads_somewhere(base, rest, view)
        case LabelIs(key, Comparison.EQ | Comparison.NE, value):
            shown = bool(view.label_equal(key, value))
        case LabelIn(key, values):
            shown = all(view.label_equal(key, value) for value in values)
        case LabelIs(key) | HasLabel(key):
            shown = view.label_key(key) is not None
        case IsCluster(cluster):
            shown = view.cluster(cluster) is not None
        case Saved(name):
            shown = view.saved_selector(name) is not None
        case InNamespace(name):
            shown = name in view.workload.namespaces
        case Everything():
            shown = True
    return shown


def _leads_somewhere(base: GroupNumber, rest: Sequence[str], view: ScopedView) -> bool:
    """Whether every name of a pattern is the name of a group that is there."""
    named = [place for place, name in enumerate(rest) if name != WILDCARD]
    return not named or bool(matched_groups(base, rest[: named[-1] + 1], view))
