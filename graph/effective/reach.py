"""Which clusters every stored object of the workload reaches, kept while the fleet changes.

One changed cluster asks only the selectors that mention something it touched, and asks them about
that cluster alone; a changed selector is asked about everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from graph.effective.anchors import Anchors
from graph.effective.later import Beside, Later, settled
from graph.effective.touched import Touched
from graph.effective.traits import Traits, selectors_of, traits_after, traits_of
from graph.model.change import Change, Entity
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.inventory import Cluster, Group
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.ref import Kind, Ref
from graph.model.referring import selector_of
from graph.model.selector import Selector
from graph.model.view import FleetView, lineage
from graph.model.workload import Assignment, Layer, Policy, Prohibition, Workload
from graph.targeting.evaluate import evaluate
from graph.targeting.holds import choosing, within

_K = TypeVar("_K")

FEW = 8
"""Clusters of which it pays to find out where they are."""
ASKED_ANYWAY = 50
"""Selectors that are sooner asked than chosen among."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The answer of every selector in the workload, by the object that holds it."""

    sets: Mapping[Ref, ClusterSet]
    """Those of all but layers."""
    layers: Mapping[str, ClusterSet]
    """Those of layers, by name."""
    traits: Traits
    anchors: Anchors

    def of(self, ref: Ref) -> ClusterSet | None:
        """The answer of one object; None if it has none."""
        return self.layers.get(str(ref.key)) if ref.kind is Kind.LAYER else self.sets.get(ref)

    def reaching(self, kind: Kind, cluster: ClusterNumber) -> list[Ref]:
        """The objects of one kind that reach a cluster."""
        if kind is Kind.LAYER:
            return [Ref(kind, name) for name, found in self.layers.items() if cluster in found]
        return [ref for ref, found in self.sets.items() if ref.kind is kind and cluster in found]


def reach_of(view: FleetView) -> Reach:
    """What everything reaches, from nothing."""
    sets: dict[Ref, ClusterSet] = {}
    layers: dict[str, ClusterSet] = {}
    for ref, selector in selectors_of(holders_in(view.workload)):
        if ref.kind is Kind.LAYER:
            layers[str(ref.key)] = evaluate(selector, view)
        else:
            sets[ref] = evaluate(selector, view)
    anchors = Anchors.of(view.workload.layers.values())
    return Reach(sets, layers, traits_of(_held(view)), anchors)


@dataclass(frozen=True, slots=True)
class Turned:
    """From what everything reached to what it reaches now."""

    was: Reach
    among: ClusterSet | None
    """The only clusters for which an answer can differ; None when it may for all."""
    sets: Mapping[Ref, ClusterSet | None]
    """The answers that differ, but for those of layers, as far as ``among`` goes; None: gone."""
    layers: Mapping[str, ClusterSet | None]
    """Those of layers."""
    traits: Traits
    anchors: Anchors

    def __bool__(self) -> bool:
        return bool(self.sets or self.layers)

    def near(self) -> Reach:
        """What everything reaches now, to be read no further than ``among`` goes.

        No set as large as the fleet is made for it.
        """
        was = self.was
        return Reach(
            _beside(self.sets, was.sets),
            _beside(self.layers, was.layers),
            self.traits,
            self.anchors,
        )

    def whole(self) -> Reach:
        """What everything reaches now, put together when somebody reads it."""
        was, among = self.was, self.among
        sets, layers = _put(was.sets, self.sets, among), _put(was.layers, self.layers, among)
        return Reach(sets, layers, self.traits, self.anchors)


def reach_after(
    reach: Reach,
    touched: Touched,
    changes: Sequence[Change],
    view: FleetView,
    among: ClusterSet | None = None,
) -> Turned:
    """What ``changes``, which touched so much and led to ``view``, make of ``reach``.

    No answer can differ but ``among`` some clusters, if these are given.
    """
    stored = [change for change in changes if _is_stored(change)]
    traits = traits_after(reach.traits, stored) if stored else reach.traits
    anchors = reach.anchors.after(changes)
    anew = {ref for each in stored for ref in _written_anew(each)}
    rewritten = _with_those_who_use(anew, traits.users, view) if anew else anew
    work = _Turning(reach, view)
    for ref in rewritten:
        work.rewrite(ref)
    if touched.clusters:
        here = touched.clusters if among is None else among
        groups = [int(ref.key) for ref in touched.refs if ref.kind is Kind.GROUP]
        work.correct_on_groups(groups, anchors, here, whole=among is None)
        asked = _mentioning(touched, traits, anchors, view) - rewritten
        work.correct(asked, here, whole=among is None)
    return Turned(reach, among, work.sets, work.layers, traits, anchors)


class _Turning:
    """The answers that turn out otherwise."""

    def __init__(self, reach: Reach, view: FleetView) -> None:
        self._reach = reach
        self._view = view
        self._holders = _Holders(view)
        self.sets: dict[Ref, ClusterSet | None] = {}
        self.layers: dict[str, ClusterSet | None] = {}
        self._rewritten: set[str] = set()
        """Layers with another selector."""

    def rewrite(self, ref: Ref) -> None:
        """Ask an object that has another selector about everybody."""
        if ref.kind is Kind.LAYER:
            self._rewritten.add(str(ref.key))
        selector, was = self._holders.selector(ref), self._reach.of(ref)
        now = None if selector is None else evaluate(selector, self._view)
        if was is not now and (was is None or now is None or was != now):
            self._turn(ref, now)

    def correct_on_groups(
        self, numbers: Iterable[int], anchors: Anchors, among: ClusterSet, *, whole: bool
    ) -> None:
        """The layers on groups which clusters entered or left: all on one reach the same."""
        for number in numbers:
            found = anchors.groups.get(number, ())
            names = [name for _, name in found if name not in self._rewritten]
            if names:
                was = self._reach.layers[names[0]]
                part = self._view.members(GroupNumber(number)) & among
                if was & among != part:
                    now = was.patched(among, part) if whole else part
                    self.layers.update(dict.fromkeys(names, now))

    def correct(self, asked: Iterable[Ref], among: ClusterSet, *, whole: bool) -> None:
        """Ask objects again about some clusters."""
        held = self._holders.selectors(asked)
        for ref, was, part in _corrected(self._reach, held, among, self._view):
            self._turn(ref, was.patched(among, part) if whole else part)

    def _turn(self, ref: Ref, now: ClusterSet | None) -> None:
        if ref.kind is Kind.LAYER:
            self.layers[str(ref.key)] = now
        else:
            self.sets[ref] = now


def _beside(
    now: Mapping[_K, ClusterSet | None], held: Mapping[_K, ClusterSet]
) -> Mapping[_K, ClusterSet]:
    """``held`` with other sets in its place."""
    first = {key: part for key, part in now.items() if part is not None}
    return Beside(first, settled(held)) if first else held


def _put(
    held: Mapping[_K, ClusterSet],
    now: Mapping[_K, ClusterSet | None],
    among: ClusterSet | None,
) -> Mapping[_K, ClusterSet]:
    """``held`` with other sets, ``among`` some clusters or all; None for what is gone."""
    if not now:
        return held
    made = partial(_made, held, now, among)
    return made() if among is None else Later(made)


def _made(
    held: Mapping[_K, ClusterSet],
    now: Mapping[_K, ClusterSet | None],
    among: ClusterSet | None,
) -> dict[_K, ClusterSet]:
    made = dict(held)
    for key, part in now.items():
        if part is None:
            del made[key]
        else:
            made[key] = part if among is None else made[key].patched(among, part)
    return made


def holders_in(workload: Workload) -> Iterator[Entity]:
    """Everything of the workload that may hold a selector."""
    yield from workload.applications.values()
    yield from workload.assignments.values()
    yield from workload.prohibitions.values()
    yield from workload.layers.values()
    yield from workload.policies.values()


def _is_stored(change: Change) -> bool:
    """Whether a selector came, went, or is another one now; or an assignment's namespace is."""
    states = (change.before, change.after)
    if any(isinstance(each, Cluster | Group) for each in states) or change.ref.kind is Kind.GRANT:
        return False
    was, now = (None if each is None else selector_of(each) for each in states)
    return was != now or _namespace(change.before) != _namespace(change.after)


def _held(view: FleetView) -> Iterator[tuple[Ref, Selector]]:
    """Every selector the workload may lead to, with its holder."""
    yield from selectors_of(holders_in(view.workload))
    yield from selectors_of(view.saved_selectors())


def _namespace(entity: Entity | None) -> str:
    return entity.choice.namespace if isinstance(entity, Assignment) else ""


def _written_anew(change: Change) -> Iterator[Ref]:
    """What must be asked about everybody: the object, and what an assignment is a part of."""
    yield change.ref
    for state in (change.before, change.after):
        if isinstance(state, Assignment):
            yield Ref(Kind.NAMESPACE, state.choice.namespace)


def _mentioning(touched: Touched, traits: Traits, anchors: Anchors, view: FleetView) -> set[Ref]:
    """Whose answer for the touched clusters may differ, but for layers on groups."""
    free = anchors.free
    found = {
        each
        for ref in touched.refs
        if ref.kind is not Kind.LABEL_KEY
        for each in view.referrers(ref)
        if each.kind is not Kind.LAYER or each.key in free
    }
    if touched.labels:
        found |= _caring_for(touched, traits, view)
    for ref in touched.above if traits.patterned else ():
        found.update(view.referrers(ref) & traits.patterned)
    if touched.came_or_went:
        found.update(traits.universal)
    return _with_those_who_use(found, traits.users, view)


def _caring_for(touched: Touched, traits: Traits, view: FleetView) -> frozenset[Ref]:
    """Who names a changed label, and is not about other groups than those of the clusters."""
    labels = (view.referrers(Ref(Kind.LABEL_KEY, key)) for key in touched.labels)
    found = frozenset[Ref]().union(*labels)
    if len(touched.clusters) > FEW or len(found) <= ASKED_ANYWAY:
        return found
    groups = {ref for ref in (*touched.refs, *touched.above) if ref.kind is Kind.GROUP}
    for cluster in touched.clusters & view.everything():
        for at in view.memberships(cluster):
            groups.update(Ref(Kind.GROUP, each.number) for each in lineage(view, at))
    near = (view.referrers(ref) & found for ref in groups)
    return (found - traits.bound).union(*near)


def _with_those_who_use(
    refs: set[Ref], users: Mapping[Ref, frozenset[Ref]], view: FleetView
) -> set[Ref]:
    """``refs`` and whatever selects by them, through saved selectors and namespaces."""
    if not users:
        return refs
    found = set(refs)
    waiting = list(refs)
    while waiting:
        ref = waiting.pop()
        if ref.kind is Kind.ASSIGNMENT:
            assignment = view.workload.assignments.get(str(ref.key))
            if assignment is None:
                continue
            ref = Ref(Kind.NAMESPACE, assignment.choice.namespace)
        new = users.get(ref, frozenset()) - found
        found |= new
        waiting += new
    return found


class _Holders:
    """What holds selectors in a view, by kind; what others only pass on is none of it."""

    def __init__(self, view: FleetView) -> None:
        self._workload = view.workload

    def selector(self, ref: Ref) -> Selector | None:
        """The selector of an object; None for those without, and for what is gone."""
        kind, name, workload = ref.kind, str(ref.key), self._workload
        found: Layer | Assignment | Prohibition | Policy | None = None
        if kind is Kind.LAYER:
            found = workload.layers.get(name)
        elif kind is Kind.ASSIGNMENT:
            found = workload.assignments.get(name)
        elif kind is Kind.APPLICATION:
            application = workload.applications.get(name)
            return None if application is None else application.requires
        elif kind is Kind.PROHIBITION:
            found = workload.prohibitions.get(name)
        elif kind is Kind.POLICY:
            found = workload.policies.get(name)
        return None if found is None else found.selector

    def selectors(self, refs: Iterable[Ref]) -> Iterator[tuple[Ref, Selector]]:
        """Those of some objects that have one."""
        for ref in refs:
            if (selector := self.selector(ref)) is not None:
                yield ref, selector


def _corrected(
    reach: Reach,
    selectors: Iterable[tuple[Ref, Selector]],
    among: ClusterSet,
    view: FleetView,
) -> Iterator[tuple[Ref, ClusterSet, ClusterSet]]:
    """The answers that differ ``among`` a few clusters: as they were, and what they are there."""
    if len(among) == 1:
        (one,) = among
        selectors = list(selectors)
        chosen = choosing(one, selectors, view)
        for ref, _ in selectors:
            was = reach.of(ref)
            if was is not None and (one in was) is not (ref in chosen):
                yield ref, was, among if ref in chosen else EMPTY
        return
    for ref, selector in selectors:
        was, part = reach.of(ref), within(selector, view, among)
        if was is not None and was & among != part:
            yield ref, was, part
