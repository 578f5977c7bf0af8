"""How a set differs between two views, and which changes can have made it differ.

A selector is read once and asked of both views. What one of them does not have chooses nothing in
it: a group that came later, a saved selector that is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graph.model.change import Change, Changeset, Entity
from graph.model.cluster_set import ClusterSet
from graph.model.errors import ResyncRequired, TrellisError
from graph.model.inventory import Cluster, Group, LabelKey, SavedSelector
from graph.model.ref import Kind, Ref
from graph.model.selector import Selector
from graph.model.view import FleetView
from graph.model.workload import Assignment
from graph.targeting.cycles import needed
from graph.targeting.evaluate import evaluate


@dataclass(frozen=True, slots=True)
class SetDifference:
    """What a set gained and lost."""

    gained: ClusterSet
    lost: ClusterSet

    def __bool__(self) -> bool:
        return bool(self.gained or self.lost)


def difference(before: FleetView, after: FleetView, selector: Selector) -> SetDifference:
    """What ``selector`` gained and lost on the way from ``before`` to ``after``."""
    return between(evaluate(selector, before), evaluate(selector, after))


def between(was: ClusterSet, now: ClusterSet) -> SetDifference:
    """What a set gained and lost on the way from ``was`` to ``now``."""
    return SetDifference(now - was, was - now)


@dataclass(frozen=True, slots=True)
class Movers:
    """The changes that can have moved clusters into a selector's set, or out of it.

    They are: labels or memberships of a cluster that was gained or lost, and its coming and going;
    the place of a group that holds such a cluster in one of the two views, or that the selector
    names; the meaning of a saved selector or an assignment it leads to, or the type of a label key
    it asks for.
    """

    views: tuple[FleetView, FleetView]
    moved: ClusterSet
    named: frozenset[Ref]

    @staticmethod
    def of(selector: Selector, before: FleetView, after: FleetView, moved: ClusterSet) -> Movers:
        """The changes that can have moved ``moved`` between two views."""
        named = needed(selector, before) | needed(selector, after)
        return Movers((before, after), moved, named)

    def include(self, change: Change) -> bool:
        """Whether ``change`` is one of them."""
        if _asked(change.before) == _asked(change.after):
            return False
        match change.after or change.before:
            case Cluster(number=number):
                return number in self.moved
            case Group(number=number):
                held = (view.members(number).meets(self.moved) for view in self.views)
                return Ref(Kind.GROUP, number) in self.named or any(held)
            case _:
                return change.ref in self.named


def _asked(entity: Entity | None) -> object:
    """What a selector's answer can depend on, of one object."""
    match entity:
        case Cluster():
            return entity.labels, entity.memberships
        case Group():
            return entity.parent, entity.name
        case SavedSelector():
            return entity.selector
        case Assignment():
            return entity.choice.namespace, entity.selector
        case LabelKey():
            return entity.type
        case _:
            return None


Read = Callable[[FleetView], Selector]
"""Reads one selector, however it was written, against a view."""

Resolve = Callable[[Selector, FleetView], ClusterSet]
"""``evaluate``, or a memory of what it found."""


class MovingSet:
    """The set of one selector while the fleet changes.

    The selector is bound when it is first read: it means its groups wherever they are moved and
    whatever they are called. When what was written comes to mean something else, those who would
    read it anew would see another set, so the following ends with ``ResyncRequired``. While it
    cannot be read at all, its meaning stays.
    """

    def __init__(self, read: Read, view: FleetView, resolve: Resolve = evaluate) -> None:
        self._read = read
        self._resolve = resolve
        self.selector = read(view)
        self.held = resolve(self.selector, view)

    def move(self, view: FleetView, changesets: Sequence[Changeset] | None) -> SetDifference:
        """Go on with ``view``; ``changesets`` lead to it, None if they are not known."""
        if changesets is None or any(_may_rename(each) for each in changesets):
            self._check(view)
        was, self.held = self.held, self._resolve(self.selector, view)
        return between(was, self.held)

    def _check(self, view: FleetView) -> None:
        try:
            meaning = self._read(view)
        except TrellisError:
            return
        if meaning != self.selector:
            raise ResyncRequired(
                "the names in the selector have come to mean something else",
                hint="start again from a snapshot, with the selector as it should be",
            )


def _may_rename(changeset: Changeset) -> bool:
    """Whether what is written may mean something else after ``changeset``."""
    return any(
        not isinstance(change.before, Cluster) or change.after is None
        for change in changeset.changes
    )
