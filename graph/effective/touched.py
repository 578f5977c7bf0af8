"""What a list of changes touches, as far as a stored selector could care.

A changed cluster touches the groups it entered or left and the labels that differ, and nothing
else: whoever names none of these has the same answer as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph.model.change import Change
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.inventory import Cluster, Group, Hierarchy, LabelValue
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView


@dataclass(frozen=True, slots=True)
class Touched:
    """What changed, for those who select."""

    clusters: ClusterSet
    """Whose labels, places or existence changed."""
    came_or_went: bool
    """Whether a cluster was registered or retired: ``all`` and ``not`` care."""
    refs: frozenset[Ref]
    """Groups entered or left, labels given or taken, clusters that came or went.

    A cluster with several places in a hierarchy may still be in a group that one of them leaves.
    """
    above: frozenset[Ref]
    """Groups above those: only a pattern beginning there cares."""
    labels: frozenset[str]
    """Label keys whose value changed on some cluster."""
    machines: ClusterSet
    """Clusters whose reconciler or capacity changed, or which came or went."""
    regrouped: tuple[GroupNumber, ...]
    """Groups that came under another parent."""
    reordered: bool
    """Whether the order of hierarchies changed."""


def touched_by(changes: Sequence[Change], before: FleetView, after: FleetView) -> Touched:
    """What ``changes``, which lead from ``before`` to ``after``, touch."""
    work = _Work(before, after)
    for change in changes:
        match change:
            case Change(Cluster() | None as was, Cluster() | None as now):
                work.cluster(was, now)
            case Change(Group() | None as was, Group() | None as now):
                work.group(was, now)
            case Change(Hierarchy() as was, Hierarchy() as now):
                work.reordered |= was.precedence != now.precedence
            case _:
                pass
    return work.done()


class _Work:
    def __init__(self, before: FleetView, after: FleetView) -> None:
        self._before = _Ancestors(before)
        self._after = _Ancestors(after)
        self._clusters: list[int] = []
        self._machines: list[int] = []
        self._whole: list[ClusterSet] = []
        self._groups: set[GroupNumber] = set()
        self._above: set[GroupNumber] = set()
        self._others: set[Ref] = set()
        self._labels: set[str] = set()
        self._regrouped: list[GroupNumber] = []
        self._came_or_went = False
        self.reordered = False

    def cluster(self, was: Cluster | None, now: Cluster | None) -> None:
        number = (was or now or _NOBODY).number
        if was is None or now is None:
            self._came_or_went = True
            self._others.add(Ref(Kind.CLUSTER, number))
            self._machines.append(number)
        elif (was.reconciler, was.capacity) != (now.reconciler, now.capacity):
            self._machines.append(number)
        places = self._places(number, was, now)
        labels = set(_relabelled(was or _NOBODY, now or _NOBODY))
        self._labels |= labels
        if places or labels or was is None or now is None:
            self._clusters.append(number)

    def _places(self, number: ClusterNumber, was: Cluster | None, now: Cluster | None) -> bool:
        left = was.memberships if was is not None else ()
        joined = now.memberships if now is not None else ()
        if left == joined:
            return False
        changed = set(left).symmetric_difference(joined)
        held = self._before.of(changed.intersection(left))
        holds = self._after.of(changed.intersection(joined))
        # a group above two places is neither left nor entered by who goes from one to the other
        turned = (held ^ holds) | changed
        self._groups |= turned
        self._above |= (held | holds) - turned
        return True

    def group(self, was: Group | None, now: Group | None) -> None:
        if was is not None and now is not None and (was.parent, was.name) == (now.parent, now.name):
            return
        number = (was or now or _NOWHERE).number
        held = self._before.of((number,)) if was is not None else frozenset[GroupNumber]()
        holds = self._after.of((number,)) if now is not None else frozenset[GroupNumber]()
        self._groups |= held ^ holds
        self._above |= held | holds
        if was is not None:
            self._whole.append(self._before.view.members(number))
        if now is not None:
            self._whole.append(self._after.view.members(number))
        if was is not None and now is not None and was.parent != now.parent:
            self._regrouped.append(number)

    def done(self) -> Touched:
        clusters = ClusterSet.of(self._clusters) if self._clusters else EMPTY
        refs = {Ref(Kind.GROUP, number) for number in self._groups}
        refs.update(Ref(Kind.LABEL_KEY, key) for key in self._labels)
        return Touched(
            clusters=ClusterSet.union([clusters, *self._whole]),
            came_or_went=self._came_or_went,
            refs=frozenset(refs | self._others),
            above=frozenset(Ref(Kind.GROUP, each) for each in self._above),
            labels=frozenset(self._labels),
            machines=ClusterSet.of(self._machines) if self._machines else EMPTY,
            regrouped=tuple(self._regrouped),
            reordered=self.reordered,
        )


_NOBODY = Cluster(ClusterNumber(0), name="")
_NOWHERE = Group(GroupNumber(0), hierarchy="", parent=None, name="")
"""They stand for absence and are never shown."""


def _relabelled(was: Cluster, now: Cluster) -> Iterable[str]:
    """The label keys whose values differ; true is not 1."""
    if was.labels is now.labels:
        return
    for key in was.labels.keys() | now.labels.keys():
        if _differs(was.labels.get(key), now.labels.get(key)):
            yield key


def _differs(one: LabelValue | None, other: LabelValue | None) -> bool:
    return one != other or type(one) is not type(other)


class _Ancestors:
    """Groups with everything above them, looked up once per group."""

    __slots__ = ("_known", "view")

    def __init__(self, view: FleetView) -> None:
        self.view = view
        self._known: dict[GroupNumber, frozenset[GroupNumber]] = {}

    def of(self, numbers: Iterable[GroupNumber]) -> frozenset[GroupNumber]:
        """``numbers`` and every group above them."""
        return frozenset[GroupNumber]().union(*map(self._with_ancestors, numbers))

    def _with_ancestors(self, number: GroupNumber) -> frozenset[GroupNumber]:
        found = self._known.get(number)
        if found is None:
            group = self.view.group(number)
            above = None if group is None else group.parent
            rest = frozenset[GroupNumber]() if above is None else self._with_ancestors(above)
            found = self._known[number] = rest | {number}
        return found
