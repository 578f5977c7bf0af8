"""Tree to Cypher: one parameterised statement that answers a selector on the graph in Neo4j.

For analysts to read and run, and for tests as an independent oracle; never on the request path.

Each kind of clause collects its sets of cluster numbers once, and the operators combine those
lists. Started from the most selective group instead, or as a chain of EXISTS, the same question
takes 7 and 40 times as long. The sets are COLLECT expressions in one WITH: as subqueries of their
own they take the server's planner three times as long. Operators fold over lists with ``reduce``,
so that every operand is worked out once and a thousand operands nest no deeper than two.

Labels, types and property names are fixed here; whatever a person wrote is a parameter. The model:

    (:Cluster {number})-[:MEMBER_OF]->(:Group {number, name})-[:CHILD_OF]->(:Group)
    (:Cluster {number})-[:LABELLED]->(:LabelValue {key, value})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.model.names import GROUP_DEPTH_MAX
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
from graph.targeting.cycles import in_order
from graph.targeting.meaning import Named
from graph.targeting.missing import WILDCARD


@dataclass(frozen=True, slots=True)
class Statement:
    """Cypher and its parameters. Its rows are ``number``, ascending."""

    text: str
    parameters: Mapping[str, object]


def compile_cypher(selector: Selector, view: FleetView) -> Statement:
    """The statement that returns the numbers of the clusters ``selector`` chooses."""
    sets = _Sets()
    names: dict[Named, str] = {}
    meanings: list[str] = []
    for each in in_order(selector, view):
        variable = f"{_VARIABLES[type(each.clause)]}{len(names)}"
        meanings.append(f"WITH *, {_union(each.selectors, sets, names)} AS {variable}")
        names[each.clause] = variable
    answer = _expression(selector, sets, names)
    lines = [sets.text(), *meanings, f"UNWIND {answer} AS number", "RETURN number ORDER BY number"]
    return Statement("\n".join(lines), sets.parameters())


_VARIABLES: dict[type[Named], str] = {Saved: "saved", InNamespace: "namespace"}

_MEMBER = "<-[:MEMBER_OF]-(cluster:Cluster)"
_BELOW = f"<-[:CHILD_OF*0..{GROUP_DEPTH_MAX - 1}]-(:Group)"
_LABELLED = "<-[:LABELLED]-(cluster:Cluster)"

_NOTHING = "[]"

_LABEL = f"MATCH (label:LabelValue {{key: wanted.key}}){_LABELLED} WHERE label.value"

_COLLECT = {
    "under": f"MATCH (:Group {{number: wanted}}){_BELOW}{_MEMBER}",
    "only": f"MATCH (:Group {{number: wanted}}){_MEMBER}",
    "named": "MATCH (cluster:Cluster {number: wanted})",
    "has": f"MATCH (:LabelValue {{key: wanted}}){_LABELLED}",
    "equal": f"MATCH (:LabelValue {{key: wanted.key, value: wanted.value}}){_LABELLED}",
    "differs": f"{_LABEL} <> wanted.value",
    "below": f"{_LABEL} < wanted.value",
    "at_most": f"{_LABEL} <= wanted.value",
    "above": f"{_LABEL} > wanted.value",
    "at_least": f"{_LABEL} >= wanted.value",
    "among": f"{_LABEL} IN wanted.value",
}
"""How each kind of clause finds its clusters from what it wants."""

_COMPARED = {
    Comparison.EQ: "equal",
    Comparison.NE: "differs",
    Comparison.LT: "below",
    Comparison.LE: "at_most",
    Comparison.GT: "above",
    Comparison.GE: "at_least",
}


class _Sets:
    """The sets a statement collects: for each kind of clause, what each of them wants."""

    def __init__(self) -> None:
        self._wanted: dict[str, list[object]] = {}
        self._places: dict[Selector, str] = {}
        self._collect = dict(_COLLECT)
        self._fleet = False

    def fleet(self) -> str:
        """The variable that holds every cluster."""
        self._fleet = True
        return "fleet"

    def clause(self, clause: Selector) -> str:
        """Where the set of a clause is found; equal clauses share one."""
        if clause not in self._places:
            kind, wanted = self._kind(clause)
            listed = self._wanted.setdefault(kind, [])
            self._places[clause] = f"{kind}[{len(listed)}]"
            listed.append(wanted)
        return self._places[clause]

    def text(self) -> str:
        """The collections, one for each kind of clause in use."""
        found = [
            f"[wanted IN ${kind} | COLLECT {{\n    {self._collect[kind]}\n"
            f"    RETURN DISTINCT cluster.number\n  }}] AS {kind}"
            for kind in self._wanted
        ]
        if self._fleet:
            found.insert(0, "COLLECT { MATCH (cluster:Cluster) RETURN cluster.number } AS fleet")
        return "WITH\n  " + ",\n  ".join(found or [f"{_NOTHING} AS nothing"])

    def parameters(self) -> dict[str, object]:
        """What the clauses want, by kind."""
        return dict(self._wanted)

    def _kind(self, clause: Selector) -> tuple[str, object]:
        match clause:
            case Under(group):
                found: tuple[str, object] = ("under", group)
            case Only(group):
                found = ("only", group)
            case IsCluster(cluster):
                found = ("named", cluster)
            case HasLabel(key):
                found = ("has", key)
            case LabelIs(key, comparison, value):
                found = (_COMPARED[comparison], {"key": key, "value": value})
            case LabelIn(key, values):
                found = ("among", {"key": key, "value": list(values)})
            case Matching():
                found = self._matching(clause)
            case _:
                raise AssertionError(f"{type(clause).__name__} collects no set of its own")
        return found

    def _matching(self, clause: Matching) -> tuple[str, object]:
        """Cypher takes no parameter for how far to walk, so each distance is a kind of its own."""
        steps = len(clause.rest)
        kind = f"{'only_' if clause.only else ''}matching{steps}"
        self._collect[kind] = (
            f"MATCH path = (:Group {{number: wanted.base}})<-[:CHILD_OF*{steps}]-(end:Group) "
            f"WHERE all(step IN range(1, {steps}) WHERE wanted.rest[step - 1] IS NULL "
            f"OR wanted.rest[step - 1] = nodes(path)[step].name)\n"
            f"    MATCH (end){'' if clause.only else _BELOW}{_MEMBER}"
        )
        names = [None if name == WILDCARD else name for name in clause.rest]
        return kind, {"base": clause.base, "rest": names}


_Names = Mapping[Named, str]
"""The variable that holds what a name chooses; a name without one chooses nothing."""


def _expression(selector: Selector, sets: _Sets, names: _Names) -> str:
    """A Cypher expression for the list of numbers ``selector`` chooses, none of them twice."""
    match selector:
        case And(operands):
            kept = [each for each in operands if not isinstance(each, Not)]
            taken = [each.operand for each in operands if isinstance(each, Not)]
            return _less(_meet(kept, sets, names), taken, sets, names)
        case Or(operands):
            return _union(operands, sets, names)
        case Not(operand):
            return _less(sets.fleet(), [operand], sets, names)
        case Except(left, right):
            return _less(_expression(left, sets, names), [right], sets, names)
        case Saved() | InNamespace():
            return names.get(selector, _NOTHING)
        case _:
            return _clause(selector, sets)


def _clause(selector: Selector, sets: _Sets) -> str:
    return sets.fleet() if isinstance(selector, Everything) else sets.clause(selector)


def _union(selectors: Sequence[Selector], sets: _Sets, names: _Names) -> str:
    if len(selectors) < 2:
        return _expression(selectors[0], sets, names) if selectors else _NOTHING
    united = ", ".join(_expression(each, sets, names) for each in selectors)
    return f"reduce(kept = [], one IN [{united}] | kept + [n IN one WHERE NOT n IN kept])"


def _meet(operands: Sequence[Selector], sets: _Sets, names: _Names) -> str:
    if not operands:
        return sets.fleet()
    first, *others = (_expression(each, sets, names) for each in operands)
    if not others:
        return first
    return f"reduce(kept = {first}, one IN [{', '.join(others)}] | [n IN kept WHERE n IN one])"


def _less(kept: str, taken: Sequence[Selector], sets: _Sets, names: _Names) -> str:
    if not taken:
        return kept
    others = ", ".join(_expression(each, sets, names) for each in taken)
    return f"reduce(kept = {kept}, one IN [{others}] | [n IN kept WHERE NOT n IN one])"
