"""Whether a selector chooses one cluster, asked about that cluster alone.

``evaluate`` works with sets as large as the fleet; who has one changed cluster in hand, or a few,
asks about these: a group by whether it holds the cluster, a label by its value there. The answers
are the same: ``holds(selector, cluster, view)`` is ``cluster in evaluate(selector, view)``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.names import ClusterNumber
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
from graph.model.view import FleetView, lineage
from graph.targeting.cycles import ordered
from graph.targeting.doubt import all_hold, any_holds, opposite
from graph.targeting.evaluate import evaluate, satisfies
from graph.targeting.facts import reached
from graph.targeting.meaning import Meaning, Meanings, Named

K = TypeVar("K", bound=Hashable)

FEW = 4
"""Clusters that are cheaper to ask one by one than to work out the whole set."""


def holds(selector: Selector, cluster: ClusterNumber, view: FleetView) -> bool:
    """Whether ``selector`` chooses ``cluster``; one the view does not have is never chosen."""
    return cluster in view.everything() and _ask(selector, cluster, _Asked(view))


def choosing(
    cluster: ClusterNumber, selectors: Iterable[tuple[K, Selector]], view: FleetView
) -> set[K]:
    """Which of many selectors choose ``cluster``, by what they are kept under."""
    if cluster not in view.everything():
        return set()
    asked, ask = _Asked(view), _ASK
    return {key for key, each in selectors if ask[type(each)](each, cluster, asked)}


def within(selector: Selector, view: FleetView, among: ClusterSet) -> ClusterSet:
    """Which of the clusters ``among`` some of the view ``selector`` chooses."""
    if len(among) > FEW:
        return among & evaluate(selector, view)
    asked, here = _Asked(view), view.everything()
    found = [each for each in among if each in here and _ask(selector, each, asked)]
    return ClusterSet.of(found) if found else EMPTY


def depends_on_universe(selector: Selector) -> bool:
    """Whether ``selector`` may choose a cluster that has nothing of what it names.

    Only then can a cluster come into its answer, or leave it, without touching a group, a label
    or a name it mentions. What a saved selector or a namespace chooses is not known here.
    """
    return _of_stranger(selector) is not False


class _Asked:
    """What was found out so far while one question is asked."""

    __slots__ = ("answers", "meanings", "orders", "view")

    def __init__(self, view: FleetView) -> None:
        self.view = view
        self.meanings = Meanings(view)
        self.orders: dict[Named, list[Meaning]] = {}
        self.answers: dict[tuple[Named, ClusterNumber], bool] = {}

    def order(self, name: Named) -> list[Meaning]:
        """What ``name`` leads to, each after those it needs itself, and it last."""
        if name not in self.orders:
            self.orders[name] = ordered(name, self.meanings.of)
        return self.orders[name]


def _ask(selector: Selector, cluster: ClusterNumber, asked: _Asked) -> bool:
    return _ASK[type(selector)](selector, cluster, asked)


def _and(selector: And, cluster: ClusterNumber, asked: _Asked) -> bool:
    return all(_ASK[type(each)](each, cluster, asked) for each in selector.operands)


def _or(selector: Or, cluster: ClusterNumber, asked: _Asked) -> bool:
    return any(_ASK[type(each)](each, cluster, asked) for each in selector.operands)


def _not(selector: Not, cluster: ClusterNumber, asked: _Asked) -> bool:
    return not _ask(selector.operand, cluster, asked)


def _except(selector: Except, cluster: ClusterNumber, asked: _Asked) -> bool:
    return _ask(selector.left, cluster, asked) and not _ask(selector.right, cluster, asked)


def _everything(_clause: Everything, _cluster: ClusterNumber, _asked: _Asked) -> bool:
    return True


def _under(clause: Under, cluster: ClusterNumber, asked: _Asked) -> bool:
    return cluster in asked.view.members(clause.group)


def _only(clause: Only, cluster: ClusterNumber, asked: _Asked) -> bool:
    return clause.group in asked.view.memberships(cluster)


def _matching(clause: Matching, cluster: ClusterNumber, asked: _Asked) -> bool:
    """From the cluster upwards: the groups a wildcard matches may be thousands."""
    view = asked.view
    if cluster not in view.members(clause.base):
        return False
    return any(reached(clause, lineage(view, at)[::-1]) for at in view.memberships(cluster))


def _label_is(clause: LabelIs, cluster: ClusterNumber, asked: _Asked) -> bool:
    return satisfies(asked.view.label(cluster, clause.key), clause.comparison, clause.value)


def _label_in(clause: LabelIn, cluster: ClusterNumber, asked: _Asked) -> bool:
    value = asked.view.label(cluster, clause.key)
    return any(satisfies(value, Comparison.EQ, each) for each in clause.values)


def _has(clause: HasLabel, cluster: ClusterNumber, asked: _Asked) -> bool:
    return asked.view.label(cluster, clause.key) is not None


def _cluster(clause: IsCluster, cluster: ClusterNumber, _asked: _Asked) -> bool:
    return clause.cluster == cluster


def _named(clause: Named, cluster: ClusterNumber, asked: _Asked) -> bool:
    """Everything the name needs is asked before it, so nothing nests deeper."""
    answers = asked.answers
    if (clause, cluster) not in answers:
        for each in asked.order(clause):
            if (each.clause, cluster) not in answers:
                found = any(_ask(selector, cluster, asked) for selector in each.selectors)
                answers[each.clause, cluster] = found
    return answers.get((clause, cluster), False)


_ASK: dict[type, Callable[[Any, ClusterNumber, _Asked], bool]] = {
    And: _and,
    Or: _or,
    Not: _not,
    Except: _except,
    Everything: _everything,
    Under: _under,
    Only: _only,
    Matching: _matching,
    LabelIs: _label_is,
    LabelIn: _label_in,
    HasLabel: _has,
    IsCluster: _cluster,
    Saved: _named,
    InNamespace: _named,
}


def _of_stranger(selector: Selector) -> bool | None:
    """Whether ``selector`` chooses a cluster of which it names nothing; None if names decide."""
    match selector:
        case And(operands):
            found = all_hold(map(_of_stranger, operands))
        case Or(operands):
            found = any_holds(map(_of_stranger, operands))
        case Not(operand):
            found = opposite(_of_stranger(operand))
        case Except(left, right):
            found = all_hold((_of_stranger(left), opposite(_of_stranger(right))))
        case Saved() | InNamespace():
            found = None
        case _:
            found = isinstance(selector, Everything)
    return found
