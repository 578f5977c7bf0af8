"""How to narrow: the operands of one intersection, sorted by what they cost.

Sets the view has at hand come first, smallest first. Alternatives whose sets are all at hand take
part as if they were one set; whether they are united first depends on what is left by then.
Exclusions are taken out at the end instead of building complements, so ``not`` never costs the size
of the fleet inside an intersection; nor does ``>=``, which is a label without what is below.

A plan belongs to one view and never changes, so whoever evaluates a selector again may keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.inventory import LabelType
from graph.model.selector import (
    And,
    Comparison,
    Everything,
    Except,
    HasLabel,
    InNamespace,
    IsCluster,
    LabelIn,
    LabelIs,
    Matching,
    Not,
    Only,
    Or,
    Saved,
    Selector,
    Under,
)
from graph.model.view import FleetView

SPREAD_MAX = 4
"""Alternatives that may be cheaper to meet one by one than to unite first."""


_SIZE = itemgetter(0)
_EQ, _NE = Comparison.EQ, Comparison.NE
_BELOW = {Comparison.GE: Comparison.LT, Comparison.GT: Comparison.LE}
"""The index has everything below a number at hand, and what is above only as the rest."""


class Plan:
    """The operands of one ``And`` or ``Except``, sorted out."""

    __slots__ = ("excluded", "later", "parts", "ranges", "ready", "selector", "view")

    def __init__(self, selector: And | Except, view: FleetView) -> None:
        self.selector = selector
        self.view = view
        self.ready: list[tuple[int, Sequence[ClusterSet]]] = []
        """Sets at hand, smallest first; several together are alternatives."""
        self.later: list[Selector] = []
        """What must be worked out."""
        self.ranges: list[tuple[LabelIs, LabelIs | None]] = []
        """Ordering comparisons, and what to take out of those that have the label instead."""
        self.excluded: list[Selector] = []
        self.parts: list[Selector] = [selector]
        if isinstance(selector, And):
            self.parts = list(selector.operands)
        for part in self.parts:  # grows while operands of operands join in
            at_hand = AT_HAND.get(type(part))
            if at_hand is not None:
                found = at_hand(part, view)
                self.ready.append((len(found), (found,)))
            else:
                _SORT[type(part)](self, part)
        if len(self.ready) > 1:
            self.ready.sort(key=_SIZE)
            _single_first(self.ready)


def _label_is(plan: Plan, part: LabelIs) -> None:
    if part.comparison is _EQ:
        found = plan.view.label_equal(part.key, part.value)
    elif part.comparison is _NE:
        found = plan.view.labelled(part.key)
        plan.excluded.append(LabelIs(part.key, _EQ, part.value))
    else:
        plan.ranges.append((part, _below(part, plan.view)))
        return
    plan.ready.append((len(found), (found,)))


def _below(part: LabelIs, view: FleetView) -> LabelIs | None:
    below = _BELOW.get(part.comparison)
    key = view.label_key(part.key)
    if below is None or key is None or key.type is not LabelType.NUMBER:
        return None  # a state of another time may have a key of another type
    return LabelIs(part.key, below, part.value)


def _single_first(ready: list[tuple[int, Sequence[ClusterSet]]]) -> None:
    """Alternatives are better met than united: let the smallest single set go before them."""
    for place, (_, sets) in enumerate(ready):
        if len(sets) == 1:
            ready.insert(0, ready.pop(place))
            return


def _label_in(plan: Plan, part: LabelIn) -> None:
    if len(part.values) > SPREAD_MAX:
        plan.later.append(part)
        return
    found = [plan.view.label_equal(part.key, value) for value in part.values]
    plan.ready.append((sum(map(len, found)), found))


def _or(plan: Plan, part: Or) -> None:
    operands = part.operands
    if len(operands) <= SPREAD_MAX:
        found: list[ClusterSet] = []
        size = 0
        for each in operands:
            at_hand = AT_HAND.get(type(each))
            if at_hand is None:
                break
            found.append(at_hand(each, plan.view))
            size += len(found[-1])
        else:
            plan.ready.append((size, found))
            return
    plan.later.append(part)


def _and(plan: Plan, part: And) -> None:
    plan.parts.extend(part.operands)


def _except(plan: Plan, part: Except) -> None:
    plan.parts.append(part.left)
    plan.excluded.append(part.right)


def _not(plan: Plan, part: Not) -> None:
    if isinstance(part.operand, Not):
        plan.parts.append(part.operand.operand)
    else:
        plan.excluded.append(part.operand)


def _everything(_plan: Plan, _part: Everything) -> None:
    """Nothing to narrow by."""


def _later(plan: Plan, part: Selector) -> None:
    plan.later.append(part)


def _under(clause: Under, view: FleetView) -> ClusterSet:
    return view.members(clause.group)


def _only(clause: Only, view: FleetView) -> ClusterSet:
    return view.direct_members(clause.group)


def _has(clause: HasLabel, view: FleetView) -> ClusterSet:
    return view.labelled(clause.key)


def _cluster(clause: IsCluster, view: FleetView) -> ClusterSet:
    # an earlier view may not have it yet, or no longer
    return ClusterSet.of((clause.cluster,)) if clause.cluster in view.everything() else EMPTY


AT_HAND: dict[type, Callable[[Any, FleetView], ClusterSet]] = {
    Under: _under,
    Only: _only,
    HasLabel: _has,
    IsCluster: _cluster,
}
"""Clauses whose sets the view has at hand."""

_SORT: dict[type, Callable[[Plan, Any], None]] = {
    LabelIs: _label_is,
    LabelIn: _label_in,
    Or: _or,
    And: _and,
    Except: _except,
    Not: _not,
    Everything: _everything,
    Matching: _later,
    Saved: _later,
    InNamespace: _later,
}
