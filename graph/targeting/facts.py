"""What one cluster is, as far as selectors ask: its labels and its places.

Facts can be changed on paper, which is how a proposed change is checked before it is proposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graph.model.inventory import Group, LabelValue
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import (
    And,
    Clause,
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
from graph.model.view import FleetView, lineage
from graph.targeting.evaluate import satisfies
from graph.targeting.meaning import Meaning, Named
from graph.targeting.missing import WILDCARD


@dataclass(frozen=True, slots=True)
class Facts:
    """A cluster's labels, and for each membership the groups from the root down to it."""

    cluster: ClusterNumber
    labels: Mapping[str, LabelValue]
    places: Mapping[GroupNumber, Sequence[Group]]


def facts_of(
    cluster: ClusterNumber,
    labels: Mapping[str, LabelValue],
    memberships: Iterable[GroupNumber],
    view: FleetView,
) -> Facts:
    """The facts of a cluster with these labels and memberships."""
    return Facts(cluster, labels, {each: lineage(view, each)[::-1] for each in memberships})


def true_of(selector: Selector, facts: Facts, known: Mapping[Named, bool]) -> bool:
    """Whether ``selector`` chooses a cluster with these facts; names are ``known``.

    One that is not reaches nothing in the view the facts are from.
    """
    match selector:
        case And(operands):
            return all(true_of(each, facts, known) for each in operands)
        case Or(operands):
            return any(true_of(each, facts, known) for each in operands)
        case Not(operand):
            return not true_of(operand, facts, known)
        case Except(left, right):
            return true_of(left, facts, known) and not true_of(right, facts, known)
        case Saved() | InNamespace():
            return known.get(selector, False)
        case _:
            return clause_holds(selector, facts)


def known_names(meanings: Iterable[Meaning], facts: Facts) -> Mapping[Named, bool]:
    """Whether each name holds for ``facts``; each comes after those it needs."""
    known: dict[Named, bool] = {}
    for each in meanings:
        known[each.clause] = any(true_of(selector, facts, known) for selector in each.selectors)
    return known


def clause_holds(clause: Clause, facts: Facts) -> bool:
    """Whether one clause, not a name, chooses a cluster with these facts."""
    match clause:
        case Under() | Only() | Matching():
            found = any(reached(clause, place) for place in facts.places.values())
        case LabelIs(key, comparison, value):
            found = satisfies(facts.labels.get(key), comparison, value)
        case LabelIn(key, values):
            found = key in facts.labels and facts.labels[key] in values
        case HasLabel(key):
            found = key in facts.labels
        case IsCluster(cluster):
            found = cluster == facts.cluster
        case Everything() | Saved() | InNamespace():
            found = True
    return found


def reached(clause: Under | Only | Matching, place: Sequence[Group]) -> bool:
    """Whether a membership at ``place``, given from the root down, satisfies the clause."""
    match clause:
        case Under(group):
            return any(each.number == group for each in place)
        case Only(group):
            return place[-1].number == group
        case Matching(base, rest, only):
            below = _below(base, place)
            if below is None or len(below) < len(rest) or (only and len(below) > len(rest)):
                return False
            pairs = zip(rest, below, strict=False)
            return all(name in (WILDCARD, group.name) for name, group in pairs)


def _below(base: GroupNumber, place: Sequence[Group]) -> Sequence[Group] | None:
    for position, group in enumerate(place):
        if group.number == base:
            return place[position + 1 :]
    return None
