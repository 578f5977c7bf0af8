"""The nearest flip: the fewest changes to a cluster that would change a selector's answer.

Each part of the tree has a cheapest way to hold and a cheapest way not to; ``and`` adds up the one
and chooses among the other. That takes clauses as independent, which they are not: one join may
satisfy two of them, or undo a third. So fewer steps are tried first, as far as a bound allows, and
nothing is proposed that was not checked against the facts as they would then be. Nor is anything
that would be refused: a value that is not allowed, or leaving a hierarchy every cluster must be in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain, combinations, islice

from graph.model.names import GroupNumber
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
    clauses,
)
from graph.model.view import FleetView, lineage, path_of
from graph.targeting.evaluate import matched_groups
from graph.targeting.facts import Facts, clause_holds, known_names, reached, true_of
from graph.targeting.label_step import label_steps
from graph.targeting.meaning import Meaning, Named
from graph.targeting.step import LeaveGroup, Step, after, join, leave

TRIES_MAX = 5_000
"""Clauses looked at while trying combinations of fewer steps."""

STEPS_TRIED_MAX = 3
"""Steps that are tried together."""

CANDIDATES_MAX = 64
"""Single steps that combinations are made of."""

MATCHES_MAX = 256
"""Groups of a wildcard among which the first by path is proposed."""

_Way = tuple[Step, ...] | None
"""Steps that bring an answer about; None where none do."""

_Ways = tuple[_Way, _Way]
"""The way to hold, and the way not to; the one that is so already has no steps."""

_NEVER: _Ways = (None, ())
"""Fails, and no step would change that."""


def nearest_flip(
    selector: Selector,
    facts: Facts,
    meanings: Sequence[Meaning],
    view: FleetView,
    *,
    closed: Collection[Named] = (),
) -> tuple[Step, ...] | None:
    """The fewest steps after which ``selector`` answers otherwise; None if none were found.

    ``meanings`` are those of the names it leads to, each after those it needs itself. Names in
    ``closed`` are not opened: no step is taken from what they stand for.
    """
    search = _Search(selector, facts, meanings, view, closed)
    to_hold, to_fail = search.ways(selector)
    way = to_fail if search.answer(facts) else to_hold
    if way is None:
        return None
    works = search.flips(way)
    fewest = search.fewest(way, min(STEPS_TRIED_MAX, len(way)) if works else STEPS_TRIED_MAX)
    if fewest is None and works:
        return search.irreducible(way)
    return fewest


class _Search:
    def __init__(
        self,
        selector: Selector,
        facts: Facts,
        meanings: Sequence[Meaning],
        view: FleetView,
        closed: Collection[Named],
    ) -> None:
        self._selector, self._facts, self._meanings, self._view = selector, facts, meanings, view
        self._now = self.answer(facts)
        self._ways_of: dict[Named, _Ways] = {}
        self._candidates: dict[Step, None] = {}
        known = known_names(meanings, facts)
        for each in meanings:
            if each.clause in closed:
                self._ways_of[each.clause] = ((), None) if known[each.clause] else _NEVER
            else:
                self._ways_of[each.clause] = self._any(each.selectors)

    def answer(self, facts: Facts) -> bool:
        """Whether the selector holds for ``facts``."""
        return true_of(self._selector, facts, known_names(self._meanings, facts))

    def flips(self, steps: Sequence[Step]) -> bool:
        """Whether the answer is another one after ``steps``."""
        changed = after(steps, self._facts, self._view)
        return changed is not None and self.answer(changed) is not self._now

    def fewest(self, way: tuple[Step, ...], longest: int) -> tuple[Step, ...] | None:
        """At most ``longest`` steps that flip the answer, if a bounded search finds some."""
        ordered: dict[Step, None] = {**dict.fromkeys(way), **self._candidates}
        steps = list(ordered)[:CANDIDATES_MAX]
        tried = chain.from_iterable(combinations(steps, size) for size in range(1, longest + 1))
        trees = [self._selector, *(one for each in self._meanings for one in each.selectors)]
        cost = sum(1 for tree in trees for _ in clauses(tree))
        bounded = islice(tried, TRIES_MAX // cost + 1)
        return next((each for each in bounded if self.flips(each)), None)

    def irreducible(self, way: tuple[Step, ...]) -> tuple[Step, ...]:
        """``way`` without the steps it does not need."""
        for step in way:
            fewer = tuple(each for each in way if each != step)
            if fewer and self.flips(fewer):
                way = fewer
        return way

    def ways(self, selector: Selector) -> _Ways:
        """The cheapest steps to make ``selector`` hold, and to make it fail."""
        match selector:
            case And(operands):
                ways = [self.ways(each) for each in operands]
                return _together(hold for hold, _ in ways), _cheapest(fail for _, fail in ways)
            case Or(operands):
                return self._any(operands)
            case Not(operand):
                hold, fail = self.ways(operand)
                return fail, hold
            case Except(left, right):
                (hold, fail), (held, failed) = self.ways(left), self.ways(right)
                return _together((hold, failed)), _cheapest((fail, held))
            case Saved() | InNamespace():
                return self._ways_of.get(selector, _NEVER)
            case _:
                return self._clause(selector)

    def _any(self, selectors: Iterable[Selector]) -> _Ways:
        """The ways of a union; one of nothing never holds."""
        ways = [self.ways(each) for each in selectors]
        return _cheapest(hold for hold, _ in ways), _together(fail for _, fail in ways)

    def _clause(self, clause: Clause) -> _Ways:
        held = clause_holds(clause, self._facts)
        way = self._flip(clause, held=held)
        self._candidates.update(dict.fromkeys(way or ()))
        if held and isinstance(clause, Under | Only) and clause.group not in self._facts.places:
            # To be in one group and no longer in another below it, a cluster moves up.
            self._candidates[join(clause.group, self._facts, self._view)] = None
        return ((), way) if held else (way, ())

    def _flip(self, clause: Clause, *, held: bool) -> _Way:
        match clause:
            case Under() | Only() | Matching():
                return self._out_of(clause) if held else self._into(clause)
            case LabelIs() | LabelIn() | HasLabel():
                return label_steps(clause, self._facts, self._view, held=held)
            case IsCluster() | Everything() | Saved() | InNamespace():
                return None

    def _out_of(self, clause: Under | Only | Matching) -> _Way:
        places = self._facts.places.items()
        steps = [leave(each, self._view) for each, place in places if reached(clause, place)]
        steps.sort(key=lambda step: step.path)
        if after(steps, self._facts, self._view) is not None:
            return tuple(steps)
        return self._above(clause, steps)

    def _above(self, clause: Under | Only | Matching, leaving: Sequence[LeaveGroup]) -> _Way:
        """Out of a group, but not out of a hierarchy that every cluster must be in."""
        if isinstance(clause, Matching):
            above: GroupNumber | None = clause.base
        else:
            above = lineage(self._view, clause.group)[0].parent
        if above is None:
            return None
        up = join(above, self._facts, self._view)
        return (up,) if up.replaces else (up, *leaving)

    def _into(self, clause: Under | Only | Matching) -> _Way:
        if not isinstance(clause, Matching):
            return (join(clause.group, self._facts, self._view),)
        found = matched_groups(clause.base, clause.rest, self._view)[:MATCHES_MAX]
        if not found:
            return None
        group = min(found, key=lambda each: path_of(self._view, each))
        return (join(group, self._facts, self._view),)


def _together(ways: Iterable[_Way]) -> _Way:
    steps: dict[Step, None] = {}
    for way in ways:
        if way is None:
            return None
        steps.update(dict.fromkeys(way))
    return tuple(steps)


def _cheapest(ways: Iterable[_Way]) -> _Way:
    return min((way for way in ways if way is not None), key=len, default=None)
