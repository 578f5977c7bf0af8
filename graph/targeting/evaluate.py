"""Tree to set: which clusters, and how many.

An intersection starts from its smallest operand, works out composed operands and then ordering
comparisons only for what is left, and stops as soon as nothing is. ``count`` never builds the set
its last step would give. Sets that belong to the view are read, never changed.

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
from graph.targeting.plan import AT_HAND, Plan

FEW = 12
"""Clusters that are cheaper to ask one by one than to intersect with a range."""
FEWER = 4
"""How many times fewer clusters than alternatives have are cheaper to meet with each of them."""


def evaluate(selector: Selector, view: FleetView) -> ClusterSet:
    """The clusters ``selector`` chooses."""
    return _find(selector, view, {})


def count(selector: Selector, view: FleetView, plan: Plan | None = None) -> int:
    """How many clusters ``selector`` chooses; ``plan`` is the one for it and ``view``, if kept."""
    if isinstance(selector, And | Except):
        kept, last, wanted = _narrowed(plan or Plan(selector, view), {})
        if len(last) == 1:
            both = kept.size_with(last[0])
            return both if wanted else len(kept) - both
        return len(_met(kept, last))
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


def _narrowed(plan: Plan, known: _Known) -> tuple[ClusterSet, Sequence[ClusterSet], bool]:
    """All of an intersection but its last step: what is kept, what to meet it with or take out."""
    view, later, excluded = plan.view, plan.later, plan.excluded
    if plan.ready:
        kept, last = _start(plan.ready)
    elif later:
        kept, last, later = _find(later[0], view, known), (), later[1:]
    else:
        kept, last = view.everything(), ()
    for part in later:
        kept = _met(kept, last)
        if not kept:
            return EMPTY, (), True
        last = (_find(part, view, known),)
    for clause, below in plan.ranges:
        kept = _met(kept, last)
        if len(kept) <= FEW:
            kept, last = _those(kept, clause, view), ()
        elif below is not None:
            last, excluded = (view.labelled(clause.key),), [*excluded, below]
        else:
            last = (_label_is(clause, view, known),)
    if not excluded:
        return kept, last, True
    kept = _met(kept, last)
    for part in excluded[:-1]:
        if not kept:
            break
        kept = kept - _find(part, view, known)
    return kept, (_find(excluded[-1], view, known),) if kept else (), False


def _start(
    ready: Sequence[tuple[int, Sequence[ClusterSet]]],
) -> tuple[ClusterSet, Sequence[ClusterSet]]:
    """The sets at hand, met from the smallest on but for the last."""
    sets = ready[0][1]
    kept = sets[0] if len(sets) == 1 else ClusterSet.union(sets)
    if len(ready) == 1:
        return kept, ()
    for size, sets in ready[1:-1]:
        kept = kept & sets[0] if len(sets) == 1 else _met_any(kept, sets, size)
        if not kept:
            return EMPTY, ()
    return kept, ready[-1][1]


def _met(kept: ClusterSet, sets: Sequence[ClusterSet]) -> ClusterSet:
    """What ``kept`` has in common with any of ``sets``; all of it when there are none."""
    if len(sets) == 1:
        return kept & sets[0]
    return _met_any(kept, sets, sum(map(len, sets))) if sets else kept


def _met_any(kept: ClusterSet, sets: Sequence[ClusterSet], size: int) -> ClusterSet:
    """The same with alternatives, which have ``size`` clusters in all."""
    if FEWER * len(kept) < size:
        return ClusterSet.union([kept & each for each in sets])
    return kept & ClusterSet.union(sets)


def _those(kept: ClusterSet, clause: LabelIs, view: FleetView) -> ClusterSet:
    """The few clusters of ``kept`` that satisfy a comparison, asked one by one."""
    key, comparison, other = clause.key, clause.comparison, clause.value
    label = view.label
    return ClusterSet.of([each for each in kept if satisfies(label(each, key), comparison, other)])


def _conjunction(selector: And | Except, view: FleetView, known: _Known) -> ClusterSet:
    kept, last, wanted = _narrowed(Plan(selector, view), known)
    if wanted:
        return _met(kept, last)
    return kept - last[0] if last else kept


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
