"""What was worked out already: selector texts with their meaning, and answers at the newest view.

A text keeps its meaning until a name it may use is renamed, moved or removed: trees name groups by
number, so new groups and moved clusters change answers and not meanings. With the meaning its plan
is kept, so that a text is sorted out as seldom as it is read. It is found by the identity of the
tree: a text always means the same one, and hashing it costs as much as a step.

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
from graph.model.selector import Selector, mentions
from graph.model.view import FleetView, entity_of
from graph.scoped import ScopedView
from graph.settings import GraphSettings
from graph.targeting.evaluate import count, evaluate
from graph.targeting.parser import parse
from graph.targeting.plan import Plan, plan_of

TEXT_KEPT_MAX = 4_096
"""Characters of a text that is remembered; a longer one may mean a large tree."""

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
                self._keep_meaning(text, meaning)
        return meaning

    def _parse_under(self, view: ScopedView, text: str) -> Selector:
        try:
            meaning = self.parse(text, view.base)
        except TrellisError:
            return parse(text, view)  # which refuses it too, in names that are there
        shown = all(entity_of(view, ref) is not None for ref in mentions(meaning))
        return meaning if shown else parse(text, view)

    def _keep_meaning(self, text: str, meaning: Selector) -> None:
        kept_max = self._settings.selectors_kept_max
        _keep(self._meanings, text, meaning, kept_max)
        plan = plan_of(meaning)
        if plan is not None:  # it holds on to the tree, so that the id is its own
            _keep(self._plans, id(meaning), plan, kept_max)

    def count(self, selector: Selector, view: FleetView) -> int:
        """How many ``selector`` chooses; the set itself is not made for that."""
        if self._sets and view is self._view:  # a tree is hashed only where it may be found
            answer = self._sets.get(selector)
            if answer is not None:
                return len(answer)
        return count(selector, view, self._plans.get(id(selector)))

    def resolve(self, selector: Selector, view: FleetView) -> ClusterSet:
        """The clusters ``selector`` chooses in ``view``."""
        if view is not self._view:
            return evaluate(selector, view, self._plans.get(id(selector)))
        answer = self._sets.get(selector) if self._sets else None
        if answer is None:
            answer = evaluate(selector, view, self._plans.get(id(selector)))
            _keep(self._sets, selector, answer, self._settings.answers_kept_max)
        return answer

    def advance(self, view: FleetView, changes: Iterable[Change]) -> None:
        """Go on with ``view``; ``changes`` lead to it."""
        self._begin(view)
        if any(_may_rename(change) for change in changes):
            self._forget()

    def restart(self, view: FleetView) -> None:
        """Go on with a view that has nothing to do with the last."""
        self._begin(view)
        self._forget()

    def _begin(self, view: FleetView) -> None:
        self._view = view
        self._sets.clear()

    def _forget(self) -> None:
        self._meanings.clear()
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
