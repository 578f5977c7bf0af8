"""The second peer: a Kubernetes-style selector loop.

Every cluster has a dictionary of labels and, more than Kubernetes gives, the set of all groups it
is in or below, worked out beforehand. A selector is a list of requirements, each with an operator
as in ``matchExpressions``; a cluster is chosen if it meets them all. The loop asks every cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from graph.model.inventory import LabelValue
from graph.model.names import GroupNumber
from graph.model.selector import (
    And,
    Comparison,
    Everything,
    Except,
    LabelIs,
    Not,
    Or,
    Selector,
    Under,
)
from graph.model.view import FleetView, lineage


class Operator(StrEnum):
    """As in Kubernetes, with ``groups`` and numbers that compare beyond Gt and Lt."""

    IN = "In"
    NOT_IN = "NotIn"
    AT_LEAST = "Ge"
    GROUPS = "Groups"
    NOT_GROUPS = "NotGroups"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label, or on the groups."""

    operator: Operator
    key: str = ""
    values: frozenset[LabelValue] = frozenset()
    least: float = 0
    groups: frozenset[GroupNumber] = frozenset()

    def matches(self, labels: Mapping[str, LabelValue], groups: frozenset[GroupNumber]) -> bool:
        """Whether a cluster meets it. An absent label fails every operator but NotIn."""
        operator = self.operator
        if operator is Operator.GROUPS:
            return not self.groups.isdisjoint(groups)
        if operator is Operator.NOT_GROUPS:
            return self.groups.isdisjoint(groups)
        value = labels.get(self.key)
        if operator is Operator.IN:
            return value in self.values
        if operator is Operator.NOT_IN:
            return value not in self.values
        return value is not None and not isinstance(value, str) and value >= self.least


class LabelLoop:
    """The fleet as a list of clusters with labels and groups."""

    def __init__(self, view: FleetView) -> None:
        self._clusters = list(_clusters(view))

    def count(self, requirements: list[Requirement]) -> int:
        """How many clusters meet all requirements."""
        return len(self.numbers(requirements))

    def numbers(self, requirements: list[Requirement]) -> list[int]:
        """Which clusters meet all requirements."""
        found: list[int] = []
        for number, labels, groups in self._clusters:
            for requirement in requirements:
                if not requirement.matches(labels, groups):
                    break
            else:
                found.append(number)
        return found


def requirements(selector: Selector) -> list[Requirement]:
    """A selector that is a conjunction, as Kubernetes can say it."""
    match selector:
        case And(operands):
            return [each for operand in operands for each in requirements(operand)]
        case Except(left, right):
            return [*requirements(left), *requirements(Not(right))]
        case Everything():
            return []
        case LabelIs(key, Comparison.GE, value):
            return [Requirement(Operator.AT_LEAST, key, least=float(value))]
        case Not(operand):
            return [_alternatives(operand, Operator.NOT_GROUPS, Operator.NOT_IN)]
        case _:
            return [_alternatives(selector, Operator.GROUPS, Operator.IN)]


def _alternatives(selector: Selector, grouped: Operator, labelled: Operator) -> Requirement:
    """One group or label value, or several of a kind."""
    operands = selector.operands if isinstance(selector, Or) else (selector,)
    groups = frozenset(each.group for each in operands if isinstance(each, Under))
    if len(groups) == len(operands):
        return Requirement(grouped, groups=groups)
    equal = [
        each for each in operands if isinstance(each, LabelIs) and each.comparison is Comparison.EQ
    ]
    keys = {each.key for each in equal}
    assert len(equal) == len(operands), "Kubernetes has no such alternatives"
    assert len(keys) == 1, "Kubernetes has no alternatives between keys"
    return Requirement(labelled, keys.pop(), frozenset(each.value for each in equal))


def _clusters(
    view: FleetView,
) -> Iterator[tuple[int, Mapping[str, LabelValue], frozenset[GroupNumber]]]:
    above: dict[GroupNumber, frozenset[GroupNumber]] = {}
    for number in view.everything():
        cluster = view.cluster(number)
        assert cluster is not None
        for group in cluster.memberships:
            if group not in above:
                above[group] = frozenset(each.number for each in lineage(view, group))
        groups = frozenset[GroupNumber]().union(*(above[group] for group in cluster.memberships))
        yield number, cluster.labels, groups
