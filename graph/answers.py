"""What was worked out already: selector texts with their meaning, and answers at the newest view.

A tree that is counted again is not sorted out again: its plan is kept for the newest view, by the
tree's identity, because a text always means the same tree and hashing one costs as much as a step.

A text keeps its meaning until a name it may use is renamed, moved or removed: trees name groups by
number, so new groups and moved clusters change answers and not meanings.

Under a scope a text means what it means in the whole fleet, if all it names is there. So one memory
of meanings serves every scope; answers under a scope are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from graph.model.change import Change
from graph.model.cluster_set import ClusterSet
from graph.model.errors import TrellisError
from graph.model.inventory import Cluster
from graph.model.selector import And, Except, Selector, mentions
from graph.model.view import FleetView, entity_of
from graph.scoped import ScopedView
from graph.settings import GraphSettings
from graph.targeting.evaluate import count, evaluate
from graph.targeting.parser import parse
from graph.targeting.plan import Plan

TEXT_KEPT_MAX = 4_096
"""Characters of a text that is remembered; a longer one may mean a large tree."""
PLANS_KEPT_MAX = 1_000
"""Conjunctions of which it is remembered in what order to narrow."""

_K = TypeVar("_K")
_V = TypeVar("_V")


class Answers:
    """A bounded memory in front of ``parse`` and ``evaluate``, for the newest view alone."""

    def __init__(self, view: FleetView, settings: GraphSettings) -> None:
        self._view = view
        self._settings = settings
        self._meanings: dict[str, Selector] = {}
        self._sets: dict[Selector, ClusterSet] = {}
        self._plans: dict[int, Plan] = {}

    def parse(self, text: str, view: FleetView) -> Selector:
        """What ``text`` means in ``view``."""
        if view is not self._view:
            if isinstance(view, ScopedView) and view.base is self._view:
                return self._parse_under(view, text)
            return parse(text, view)
        meaning = self._meanings.get(text)
        if meaning is None:
            meaning = parse(text, view)
            if len(text) <= TEXT_KEPT_MAX:
                _keep(self._meanings, text, meaning, self._settings.selectors_kept_max)
        return meaning

    def _parse_under(self, view: ScopedView, text: str) -> Selector:
        try:
            meaning = self.parse(text, view.base)
        except TrellisError:
            return parse(text, view)  # which refuses it too, in names that are there
        shown = all(entity_of(view, ref) is not None for ref in mentions(meaning))
        return meaning if shown else parse(text, view)

    def count(self, selector: Selector, view: FleetView) -> int:
        """How many ``selector`` chooses; the set itself is not made for that."""
        if view is not self._view:
            return count(selector, view)
        if self._sets:
            answer = self._sets.get(selector)
            if answer is not None:
                return len(answer)
        return count(selector, view, self._plan(selector))

    def _plan(self, selector: Selector) -> Plan | None:
        """How to evaluate a conjunction; the same tree, as that of a text, is sorted out once."""
        plan = self._plans.get(id(selector))
        if plan is None and isinstance(selector, And | Except):
            plan = Plan(selector, self._view)  # which holds on to the tree, so the id is its own
            kept_max = min(PLANS_KEPT_MAX, self._settings.answers_kept_max)
            _keep(self._plans, id(selector), plan, kept_max)
        return plan

    def resolve(self, selector: Selector, view: FleetView) -> ClusterSet:
        """The clusters ``selector`` chooses in ``view``."""
        if view is not self._view:
            return evaluate(selector, view)
        answer = self._sets.get(selector)
        if answer is None:
            answer = evaluate(selector, view)
            _keep(self._sets, selector, answer, self._settings.answers_kept_max)
        return answer

    def advance(self, view: FleetView, changes: Iterable[Change]) -> None:
        """Go on with ``view``; ``changes`` lead to it."""
        self._begin(view)
        if any(_may_rename(change) for change in changes):
            self._meanings.clear()

    def restart(self, view: FleetView) -> None:
        """Go on with a view that has nothing to do with the last."""
        self._begin(view)
        self._meanings.clear()

    def _begin(self, view: FleetView) -> None:
        self._view = view
        self._sets.clear()
        self._plans.clear()


def _may_rename(change: Change) -> bool:
    """Whether a text that could be read before may mean something else, or nothing, now."""
    if isinstance(change.before, Cluster):
        return change.after is None
    return change.before is not None


def _keep(memory: dict[_K, _V], key: _K, value: _V, kept_max: int) -> None:
    while memory and len(memory) >= kept_max:
        del memory[next(iter(memory))]
    if kept_max:
        memory[key] = value
