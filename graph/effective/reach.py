"""Which clusters every stored object of the workload reaches, kept while the fleet changes.

One changed cluster asks only the selectors that mention something it touched, and asks them about
that cluster alone; a changed selector is asked about everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from graph.effective.touched import Touched
from graph.effective.traits import Traits, selectors_of, traits_after, traits_of
from graph.model.change import Change, Entity
from graph.model.cluster_set import ClusterSet
from graph.model.inventory import Cluster, Group
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


@dataclass(frozen=True, slots=True)
class Reach:
    """The answer of every selector in the workload, by the object that holds it."""

    sets: Mapping[Ref, ClusterSet]
    layers: Mapping[str, ClusterSet]
    """Those of layers once more, by the layer's name: they are asked for most."""
    traits: Traits


def reach_of(view: FleetView) -> Reach:
    """What everything reaches, from nothing."""
    sets = {
        ref: evaluate(selector, view) for ref, selector in selectors_of(holders_in(view.workload))
    }
    return Reach(sets, _of_layers(sets), traits_of(_held(view)))


def reach_after(
    reach: Reach, touched: Touched, changes: Sequence[Change], view: FleetView
) -> tuple[Reach, frozenset[Ref]]:
    """``reach`` once ``changes``, which touched so much, have led to ``view``; and what differs."""
    stored = [change for change in changes if _is_stored(change)]
    traits = traits_after(reach.traits, stored) if stored else reach.traits
    anew = {ref for each in stored for ref in _written_anew(each)}
    rewritten = _with_those_who_use(anew, traits.users, view)
    holders = _Holders(view)
    found: dict[Ref, ClusterSet | None] = {}
    for ref in rewritten:
        selector = holders.selector(ref)
        found[ref] = None if selector is None else evaluate(selector, view)
    if touched.clusters:
        asked = _mentioning(touched, traits, view)
        asked -= rewritten
        found.update(_corrected(reach.sets, holders.selectors(asked), touched.clusters, view))
    turned = {ref: now for ref, now in found.items() if _differs(reach.sets.get(ref), now)}
    if not turned:
        return Reach(reach.sets, reach.layers, traits), frozenset()
    layers = {str(ref.key): now for ref, now in turned.items() if ref.kind is Kind.LAYER}
    made = Reach(_put(reach.sets, turned), _put(reach.layers, layers), traits)
    return made, frozenset(turned)


def _put(
    held: Mapping[_K, ClusterSet], now: Mapping[_K, ClusterSet | None]
) -> Mapping[_K, ClusterSet]:
    """``held`` with other sets; None for what is gone."""
    if not now:
        return held
    made = dict(held)
    for key, clusters in now.items():
        if clusters is None:
            del made[key]
        else:
            made[key] = clusters
    return made


def _of_layers(sets: Mapping[Ref, ClusterSet]) -> dict[str, ClusterSet]:
    return {str(ref.key): each for ref, each in sets.items() if ref.kind is Kind.LAYER}


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


def _mentioning(touched: Touched, traits: Traits, view: FleetView) -> set[Ref]:
    """Whose answer for the touched clusters may differ."""
    found = {
        each
        for ref in touched.refs
        if ref.kind is not Kind.LABEL_KEY
        for each in view.referrers(ref)
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
    if len(touched.clusters) > FEW:
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
    sets: Mapping[Ref, ClusterSet],
    selectors: Iterable[tuple[Ref, Selector]],
    among: ClusterSet,
    view: FleetView,
) -> Iterator[tuple[Ref, ClusterSet]]:
    """The answers with a few clusters put right; the same object where nothing differs."""
    if len(among) == 1:
        (one,) = among
        selectors = list(selectors)
        chosen = choosing(one, selectors, view)
        for ref, _ in selectors:
            was = sets[ref]
            if (one in was) is not (ref in chosen):
                yield ref, was ^ among
        return
    for ref, selector in selectors:
        yield ref, sets[ref].patched(among, within(selector, view, among))


def _differs(was: ClusterSet | None, now: ClusterSet | None) -> bool:
    """Whether a set is another one; an equal one stays the same object, so others can tell."""
    return was is not now and (was is None or now is None or was != now)
