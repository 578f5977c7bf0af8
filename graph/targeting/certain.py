"""Whether a selector chose a cluster at a time of which not everything is known any more.

There are three answers: yes, no, and None where nobody can say. What a cluster was is known from
its own state; where its groups were, only as far up as their states of that time are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from graph.model.inventory import Cluster
from graph.model.names import GroupNumber
from graph.model.selector import (
    And,
    Comparison,
    Except,
    InNamespace,
    LabelIn,
    Matching,
    Not,
    Only,
    Or,
    Saved,
    Selector,
    Under,
    parts,
)
from graph.targeting.cycles import ordered
from graph.targeting.doubt import all_hold, any_holds, opposite
from graph.targeting.evaluate import satisfies
from graph.targeting.facts import Facts, clause_holds
from graph.targeting.meaning import Meaning, Named
from graph.targeting.missing import WILDCARD


@dataclass(frozen=True, slots=True)
class Line:
    """A group and the groups above it, nearest first, as far up as is known."""

    numbers: tuple[GroupNumber, ...]
    names: tuple[str, ...]
    """What they were called; not known of the last one unless the line is whole."""
    whole: bool
    """Whether it goes up to a root."""

    def matches(self, at: int, base: GroupNumber, rest: Sequence[str]) -> bool | None:
        """Whether the group at a position is one that ``rest`` below ``base`` matches."""
        top = at + len(rest)
        if top >= len(self.numbers):
            return False if self.whole else None
        wanted = zip(reversed(rest), self.names[at:top], strict=True)
        return self.numbers[top] == base and all(name in (WILDCARD, own) for name, own in wanted)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one time."""

    line: Callable[[GroupNumber], Line]
    meaning: Callable[[Named], Meaning | None]
    """What a name surely stood for; None if that is not known. A namespace may have had more
    assignments, that are gone now."""


_Answers = dict[Named, bool | None]


def certain(selector: Selector, cluster: Cluster, known: Known) -> bool | None:
    """Whether ``selector`` chose ``cluster``; None if nobody can say."""
    return _certain(selector, cluster, known, {})


def _certain(selector: Selector, cluster: Cluster, known: Known, answers: _Answers) -> bool | None:
    match selector:
        case And(operands):
            found = all_hold(_certain(each, cluster, known, answers) for each in operands)
        case Or(operands):
            found = any_holds(_certain(each, cluster, known, answers) for each in operands)
        case Not(operand):
            found = opposite(_certain(operand, cluster, known, answers))
        case Except(left, right):
            sides = (left, Not(right))
            found = all_hold(_certain(each, cluster, known, answers) for each in sides)
        case Under() | Only() | Matching():
            found = any_holds(_reached(selector, known.line(each)) for each in cluster.memberships)
        case LabelIn(key, values):
            value = cluster.labels.get(key)
            found = any(satisfies(value, Comparison.EQ, each) for each in values)
        case Saved() | InNamespace():
            found = _named(selector, cluster, known, answers)
        case _:
            found = clause_holds(selector, Facts(cluster.number, cluster.labels, {}))
    return found


def _named(name: Named, cluster: Cluster, known: Known, answers: _Answers) -> bool | None:
    """Everything the name needs is answered before it, so nothing nests deeper."""
    if name not in answers:
        for each in ordered(name, known.meaning):
            found = [_certain(one, cluster, known, answers) for one in each.selectors]
            if isinstance(each.clause, InNamespace):
                found.append(None)
            answers[each.clause] = any_holds(found)
    return answers.get(name)


def covers(selector: Selector, line: Line) -> bool:
    """Whether the group at the foot of ``line`` surely lay at or under one ``selector`` names.

    As ``NamedGroups.cover``: the nearest named group decides.
    """
    for at in range(len(line.numbers)):
        named = set(_names(selector, line, at, wanted=True))
        if named:
            return named == {True}
    return False


def takes_in(selector: Selector, line: Line) -> bool:
    """Whether ``selector`` surely named the very group at the foot of ``line``, to take it in."""
    return set(_names(selector, line, 0, wanted=True)) == {True}


def _names(selector: Selector, line: Line, at: int, *, wanted: bool) -> Iterator[bool | None]:
    """For each time the group at a position is named: to take it in, or not, or maybe not."""
    match selector:
        case Under(group) | Only(group):
            if line.numbers[at] == group:
                yield wanted
        case Matching(base, rest):
            matched = line.matches(at, base, rest)
            if matched:
                yield wanted
            elif matched is None and not wanted:
                yield None
        case Not(operand):
            yield from _names(operand, line, at, wanted=not wanted)
        case Except(left, right):
            yield from _names(left, line, at, wanted=wanted)
            yield from _names(right, line, at, wanted=not wanted)
        case _:
            for part in parts(selector):
                yield from _names(part, line, at, wanted=wanted)


def _reached(clause: Under | Only | Matching, line: Line) -> bool | None:
    """Whether a membership at the foot of ``line`` satisfies the clause."""
    match clause:
        case Only(group):
            return line.numbers[0] == group
        case Under(group):
            return True if group in line.numbers else _absent(line)
        case Matching(base, rest, only):
            if base not in line.numbers:
                return _absent(line)
            at = line.numbers.index(base) - len(rest)
            return at >= 0 and (at == 0 or not only) and line.matches(at, base, rest)


def _absent(line: Line) -> bool | None:
    return False if line.whole else None
