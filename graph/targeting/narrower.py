"""Whether one selector can choose nothing outside another, by what the two say.

Clusters are not looked at, so the answer tells nothing about them: that is the point where the
asker may not see them all. It is on the safe side. "No" means that it could not be shown: a saved
selector is not opened, and a comparison is shown to lie within another only where they are equal.
"""

from __future__ import annotations

from collections.abc import Iterator

from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.inventory import LabelValue
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import (
    And,
    Clause,
    Comparison,
    Everything,
    Except,
    HasLabel,
    IsCluster,
    LabelIn,
    LabelIs,
    Matching,
    Not,
    Only,
    Or,
    Selector,
    Under,
)
from graph.model.view import FleetView, lineage
from graph.targeting.facts import Facts, clause_holds, reached

PAIRS_MAX = 100_000
"""Pairs of parts that are compared; beyond, nothing is shown."""

_NOBODY = ClusterNumber(-1)


def lies_within(selector: Selector, scope: Selector, view: FleetView, known: ClusterSet) -> bool:
    """Whether ``selector`` can be shown to choose nothing outside ``scope``.

    ``known`` are clusters of which the asker knows that ``scope`` chooses them; groups are looked
    up in ``view``.
    """
    return _Comparing(view, known).within(selector, scope)


class _Comparing:
    def __init__(self, view: FleetView, known: ClusterSet) -> None:
        self._view = view
        self._known = known
        self._pairs = 0

    def within(self, one: Selector, other: Selector) -> bool:
        """Whether ``one`` is part of ``other``: ways to take ``other`` apart come first."""
        self._pairs += 1
        if self._pairs > PAIRS_MAX:
            return False
        if isinstance(other, Everything) or one == other or self._is_known(one):
            return True
        match other:
            case And(operands):
                return all(self.within(one, each) for each in operands)
            case Except(left, right):
                return self.within(one, left) and self.apart(one, right)
            case Not(operand):
                return self.apart(one, operand)
            case _:
                return self._part_within(one, other)

    def _part_within(self, one: Selector, other: Selector) -> bool:
        match one:
            case Or(operands):
                return all(self.within(each, other) for each in operands)
            case And(operands) if any(self.within(each, other) for each in operands):
                return True
            case Except(left) if self.within(left, other):
                return True
            case _:
                pass
        if isinstance(other, Or):
            return any(self.within(one, each) for each in other.operands)
        return not isinstance(one, And | Except | Not) and self._clause_within(one, other)

    def apart(self, one: Selector, other: Selector) -> bool:
        """Whether the two have nothing in common."""
        self._pairs += 1
        if self._pairs > PAIRS_MAX:
            return False
        match one:
            case And(operands):
                return any(self.apart(each, other) for each in operands)
            case Or(operands):
                return all(self.apart(each, other) for each in operands)
            case Except(left, right):
                return self.apart(left, other) or self._turned().within(other, right)
            case Not(operand):
                return self._turned().within(other, operand)
            case _:
                return self._is_known(one)

    def _turned(self) -> _Comparing:
        """The other way round: what the scope leaves out is asked about, and nothing is known."""
        turned = _Comparing(self._view, EMPTY)
        turned._pairs = self._pairs
        return turned

    def _is_known(self, one: Selector) -> bool:
        """A cluster known to be chosen by the whole satisfies whatever its parts must."""
        return isinstance(one, IsCluster) and one.cluster in self._known

    def _clause_within(self, one: Clause, other: Selector) -> bool:
        match one, other:
            case Under(group), Under() | Matching(only=False):
                return self._reached(other, group)
            case Only(group), Under() | Only() | Matching():
                return self._reached(other, group)
            case Matching(base), Under():
                return self._reached(other, base)
            case LabelIs(key) | LabelIn(key), HasLabel(wanted):
                return key == wanted
            case LabelIs() | LabelIn(), LabelIs(wanted) | LabelIn(wanted):
                values = list(_values(one))
                facts = (Facts(_NOBODY, {one.key: each}, {}) for each in values)
                return bool(values) and all(clause_holds(other, each) for each in facts)
            case _:
                return False

    def _reached(self, clause: Under | Only | Matching, group: GroupNumber) -> bool:
        """Whether what lies at ``group`` satisfies the clause; a group that is gone does not."""
        if self._view.group(group) is None:
            return False
        return reached(clause, lineage(self._view, group)[::-1])


def _values(clause: LabelIs | LabelIn) -> Iterator[LabelValue]:
    """The values a clause asks for one by one; none if it asks otherwise."""
    match clause:
        case LabelIs(comparison=Comparison.EQ, value=value):
            yield value
        case LabelIn(values=values):
            yield from values
        case _:
            pass
