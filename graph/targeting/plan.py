"""How to narrow: the operands of one intersection, sorted out by how their sets are had.

Clauses whose sets a view has at hand come first. Alternatives whose sets are all at hand take part
as if they were one clause; whether they are united first depends on what is left by then.
Exclusions are taken out at the end instead of building complements, so ``not`` never costs the size
of the fleet inside an intersection.

A plan belongs to a selector and to no view: it is what the selector says, in the order in which to
ask. Whoever evaluates a selector again may keep it, whatever happens to the fleet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graph.model.cluster_set import EMPTY, ClusterSet
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

Look = Callable[[Any, FleetView], ClusterSet]
Ready = tuple[Look, Selector]
"""How the set of a clause is looked up, and the clause."""


class Plan:
    """The operands of one ``And`` or ``Except``, sorted out."""

    __slots__ = ("alternatives", "excluded", "later", "parts", "ranges", "ready", "selector")

    def __init__(self, selector: And | Except) -> None:
        self.selector = selector
        self.ready: list[Ready] = []
        """What a view has at hand."""
        self.alternatives: list[Sequence[Ready]] = []
        """Of each, one must hold; a view has all of them at hand."""
        self.later: list[Selector] = []
        """What must be worked out."""
        self.ranges: list[LabelIs] = []
        """Ordering comparisons."""
        self.excluded: list[Selector] = []
        self.parts: list[Selector] = [selector]
        if isinstance(selector, And):
            self.parts = list(selector.operands)
        for part in self.parts:  # grows while operands of operands join in
            at_hand = AT_HAND.get(type(part))
            if at_hand is not None:
                self.ready.append((at_hand, part))
            else:
                _SORT[type(part)](self, part)


def plan_of(selector: Selector) -> Plan | None:
    """The plan of a selector that is an intersection."""
    return Plan(selector) if isinstance(selector, And | Except) else None


def _label_is(plan: Plan, part: LabelIs) -> None:
    if part.comparison is Comparison.EQ:
        plan.ready.append((_equal, part))
    elif part.comparison is Comparison.NE:
        plan.ready.append((_has, part))
        plan.excluded.append(LabelIs(part.key, Comparison.EQ, part.value))
    else:
        plan.ranges.append(part)


def _label_in(plan: Plan, part: LabelIn) -> None:
    if len(part.values) > SPREAD_MAX:
        plan.later.append(part)
    else:
        each = [LabelIs(part.key, Comparison.EQ, value) for value in part.values]
        plan.alternatives.append([(_equal, clause) for clause in each])


def _or(plan: Plan, part: Or) -> None:
    ready = [(AT_HAND[type(each)], each) for each in part.operands if type(each) in AT_HAND]
    if len(ready) == len(part.operands) <= SPREAD_MAX:
        plan.alternatives.append(ready)
    else:
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


def _has(clause: HasLabel | LabelIs, view: FleetView) -> ClusterSet:
    return view.labelled(clause.key)


def _equal(clause: LabelIs, view: FleetView) -> ClusterSet:
    return view.label_equal(clause.key, clause.value)


def _cluster(clause: IsCluster, view: FleetView) -> ClusterSet:
    # an earlier view may not have it yet, or no longer
    return ClusterSet.of((clause.cluster,)) if clause.cluster in view.everything() else EMPTY


AT_HAND: dict[type, Look] = {
    Under: _under,
    Only: _only,
    HasLabel: _has,
    IsCluster: _cluster,
}
"""Clauses whose sets a view has at hand."""

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
