"""Tree to set: which clusters, and how many.

An intersection starts from its smallest operand, works out composed operands, ordering comparisons
and in a large fleet alternatives only for what is left, and stops as soon as nothing is. ``count``
never builds the set its last step would give. Sets that belong to the view are read, never changed.

A saved selector or a namespace is evaluated once however often it is named, so selectors made of
selectors cost the sum of their parts and not the product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import ge, gt, le, lt
from typing import Any

from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.label import type_of
from graph.model.names import GroupNumber
from graph.model.selector import (
    And,
    Comparison,
    Everything,
    Except,
    InNamespace,
    LabelIn,
    LabelIs,
    Matching,
    Not,
    Or,
    Saved,
    Selector,
    SelectorValue,
    Under,
)
from graph.model.view import FleetView
from graph.targeting.cycles import in_order
from graph.targeting.meaning import Named
from graph.targeting.missing import WILDCARD
from graph.targeting.plan import AT_HAND, Plan, plan_of

FEW = 12
"""Clusters that are cheaper to ask one by one than to intersect with a range."""
FEWER = 4
"""How many times fewer clusters than alternatives have are cheaper to meet with each of them."""
UNITED_MAX = 100_000
"""Clusters of a fleet any sets of which are united within a microsecond or two."""


def evaluate(selector: Selector, view: FleetView, plan: Plan | None = None) -> ClusterSet:
    """The clusters ``selector`` chooses; ``plan`` is the one for it, if kept."""
    return _chosen(plan, view, {}) if plan is not None else _find(selector, view, {})


def count(selector: Selector, view: FleetView, plan: Plan | None = None) -> int:
    """How many clusters ``selector`` chooses; ``plan`` is the one for it, if kept."""
    if plan is None:
        plan = plan_of(selector)
    if plan is not None:
        sets, excluded = _narrowed(plan, view, {})
        if excluded is None:
            return ClusterSet.common_size(sets)
        return len(sets[0]) - sets[0].size_with(excluded)
    if isinstance(selector, Not):
        return len(view.everything()) - count(selector.operand, view)
    return len(_find(selector, view, {}))


def satisfies(value: SelectorValue | None, comparison: Comparison, other: SelectorValue) -> bool:
    """Whether a label's value holds in a comparison; an absent label fails every one.

    A state of another time may have a value of another type: they are different, and not ordered.
    """
    if value is None:
        return False
    if type_of(value) is not type_of(other):
        return comparison is Comparison.NE
    if comparison is Comparison.EQ:
        return value == other
    if comparison is Comparison.NE:
        return value != other
    return _ORDERS[comparison](value, other)


def matched_groups(base: GroupNumber, rest: Iterable[str], view: FleetView) -> list[GroupNumber]:
    """The groups a path with wildcards matches."""
    found = [base]
    for name in rest:
        if name == WILDCARD:
            found = [child for at in found for child in view.children(at).values()]
        else:
            below = (view.children(at).get(name) for at in found)
            found = [child for child in below if child is not None]
    return found


_Known = dict[Named, ClusterSet]
"""Names already evaluated."""


def _find(selector: Selector, view: FleetView, known: _Known) -> ClusterSet:
    kind = type(selector)
    at_hand = AT_HAND.get(kind)
    if at_hand is not None:
        return at_hand(selector, view)
    return _FIND[kind](selector, view, known)


def _narrowed(
    plan: Plan, view: FleetView, known: _Known
) -> tuple[list[ClusterSet], ClusterSet | None]:
    """All of an intersection but its last step: the sets still to be met, or what to take out.

    There is one set at least, and only one where there is something to take out of it.
    """
    sets, spread = _at_hand(plan, view)
    for part in plan.later:
        if sets:
            sets = [ClusterSet.common(sets)]
            if not sets[0]:
                return sets, None
        sets.append(_find(part, view, known))
    if not sets:
        sets.append(view.everything())
    for clause in plan.ranges:
        kept = ClusterSet.common(sets)
        sets = [_those(kept, clause, view)] if len(kept) <= FEW else [kept, _range(clause, view)]
    for each in spread:
        sets = _with_any(ClusterSet.common(sets), each)
    if not plan.excluded:
        return sets, None
    kept = ClusterSet.common(sets)
    for part in plan.excluded[:-1]:
        if not kept:
            break
        kept = kept - _find(part, view, known)
    return [kept], _find(plan.excluded[-1], view, known) if kept else None


def _at_hand(plan: Plan, view: FleetView) -> tuple[list[ClusterSet], list[list[ClusterSet]]]:
    """The sets at hand, and alternatives that are better met than united."""
    sets = [look(clause, view) for look, clause in plan.ready]
    spread: list[list[ClusterSet]] = []
    for ready in plan.alternatives:
        found = [look(clause, view) for look, clause in ready]
        if _are_united(found, sets, view):
            sets.append(ClusterSet.union(found))
        else:
            spread.append(found)
    return sets, spread


def _are_united(found: Sequence[ClusterSet], sets: Sequence[ClusterSet], view: FleetView) -> bool:
    """Whether alternatives are better united before it is known what they are met with."""
    if not sets or len(view.everything()) <= UNITED_MAX:
        return True
    return sum(map(len, found)) <= min(map(len, sets))


def _with_any(kept: ClusterSet, sets: Sequence[ClusterSet]) -> list[ClusterSet]:
    """What is still to be met of ``kept`` and alternatives."""
    if FEWER * len(kept) < sum(map(len, sets)):
        return [ClusterSet.union([kept & each for each in sets])]
    return [kept, ClusterSet.union(sets)]


def _those(kept: ClusterSet, clause: LabelIs, view: FleetView) -> ClusterSet:
    """The few clusters of ``kept`` that satisfy a comparison, asked one by one."""
    key, comparison, other = clause.key, clause.comparison, clause.value
    label = view.label
    return ClusterSet.of([each for each in kept if satisfies(label(each, key), comparison, other)])


def _conjunction(selector: And | Except, view: FleetView, known: _Known) -> ClusterSet:
    return _chosen(Plan(selector), view, known)


def _chosen(plan: Plan, view: FleetView, known: _Known) -> ClusterSet:
    sets, excluded = _narrowed(plan, view, known)
    return ClusterSet.common(sets) if excluded is None else sets[0] - excluded


def _or(selector: Or, view: FleetView, known: _Known) -> ClusterSet:
    """Groups are united in one step: a list of two hundred cities is a common question."""
    operands = selector.operands
    groups = [each.group for each in operands if type(each) is Under]
    found = [_find(each, view, known) for each in operands if type(each) is not Under]
    if groups:
        found.append(view.members_of_any(groups))
    return ClusterSet.union(found)


def _not(selector: Not, view: FleetView, known: _Known) -> ClusterSet:
    return view.everything() - _find(selector.operand, view, known)


def _everything(_selector: Everything, view: FleetView, _known: _Known) -> ClusterSet:
    return view.everything()


def _label_is(clause: LabelIs, view: FleetView, _known: _Known) -> ClusterSet:
    if clause.comparison is Comparison.EQ:
        return view.label_equal(clause.key, clause.value)
    if clause.comparison is Comparison.NE:
        return view.labelled(clause.key) - view.label_equal(clause.key, clause.value)
    return _range(clause, view)


def _range(clause: LabelIs, view: FleetView) -> ClusterSet:
    assert not isinstance(clause.value, str), "text has no order"
    return view.label_range(clause.key, clause.comparison, clause.value)


def _label_in(clause: LabelIn, view: FleetView, _known: _Known) -> ClusterSet:
    return ClusterSet.union([view.label_equal(clause.key, value) for value in clause.values])


def _matching(clause: Matching, view: FleetView, _known: _Known) -> ClusterSet:
    groups = matched_groups(clause.base, clause.rest, view)
    if clause.only:
        return ClusterSet.union([view.direct_members(group) for group in groups])
    return view.members_of_any(groups)


def _named(clause: Named, view: FleetView, known: _Known) -> ClusterSet:
    """Everything the name needs is evaluated before it, so nothing nests deeper.

    One that the view does not show reaches nothing in it.
    """
    if clause not in known:
        for each in in_order(clause, view):
            if each.clause not in known:
                found = [_find(selector, view, known) for selector in each.selectors]
                known[each.clause] = ClusterSet.union(found)
    return known.get(clause, EMPTY)


_FIND: dict[type, Callable[[Any, FleetView, _Known], ClusterSet]] = {
    And: _conjunction,
    Except: _conjunction,
    Or: _or,
    Not: _not,
    Everything: _everything,
    LabelIs: _label_is,
    LabelIn: _label_in,
    Matching: _matching,
    Saved: _named,
    InNamespace: _named,
}

_ORDERS: dict[Comparison, Callable[[Any, Any], bool]] = {
    Comparison.LT: lt,
    Comparison.LE: le,
    Comparison.GT: gt,
    Comparison.GE: ge,
}
