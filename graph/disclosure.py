"""What of a change may be seen: each state on its own, at the revision it belongs to.

Of a draft both views are at hand, and a state may be seen if the view it belongs to shows it. Of a
changeset they mostly are not, and what is at hand here need not be in another process. So a
changeset is always judged in one way, by what is certain about its two revisions
(``graph.targeting.past``).

D1  A state is shown only if it was surely in sight. What is in doubt is hidden, so less may be
    shown the more was written since; never more than the views of that time show.
D2  A cluster is judged by its own labels and places alone, and shown whole: with it all its places
    and labels were in sight. Anything else was there if there is a witness.
D3  A change of which nothing in sight differs is none.
D4  What holds a selector is shown if the text of that surely hides nothing; of the workload, names
    that were not surely there are left out, on both sides where both have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace

from graph.model.access import Grant
from graph.model.change import Change, Changeset, Entity, ref_of, same
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, LabelValue, SavedSelector
from graph.model.names import Revision
from graph.model.referring import selector_of
from graph.model.view import entity_of
from graph.model.workload import Assignment, OfWorkload
from graph.scoped import ScopedView, readable
from graph.targeting.past import Past
from graph.targeting.past_workload import HeldThen
from graph.targeting.sight import Sight
from graph.targeting.trim import dispensable, without

STRETCH = 1_000
"""Changes judged before others have their turn."""

_WAS, _IS = 1, 2
"""The bits of a verdict: the state before was in sight; the state after is."""

Judge = Callable[[Entity], Entity | None]
"""A state as far as it may be seen; None if not at all."""


def disclosed(change: Change, before: Judge, after: Judge) -> Change | None:
    """``change`` with the states that may be seen; None if they tell of no change."""
    was = None if change.before is None else before(change.before)
    now = None if change.after is None else after(change.after)
    return None if same(was, now) else Change(was, now)


def at_revision(view: ScopedView) -> Judge:
    """Judges states of the revision that ``view`` shows."""

    def judge(entity: Entity) -> Entity | None:
        ref = ref_of(entity)
        if entity_of(view.base, ref) != entity:
            return None  # a state of another history
        seen = entity_of(view, ref)
        selector = None if seen is None else selector_of(seen)
        return seen if selector is None or readable(selector, view) else None

    return judge


class Disclosure:
    """One changeset, judged for one scope by the newest view.

    ``verdicts`` are what was found about its clusters earlier; they hold until a group changes.
    """

    def __init__(
        self, changeset: Changeset, today: ScopedView, verdicts: bytes | None = None
    ) -> None:
        self._changeset = changeset
        self._verdicts = bytearray() if verdicts is None else verdicts
        others = [  # written out: a load has many thousands of clusters, and this goes past them
            each
            for each in changeset.changes
            if type(each.after) is not Cluster and type(each.before) is not Cluster
        ]
        before, after = Revision(changeset.revision - 1), changeset.revision
        self._before = _Side(
            today,
            before,
            [(_either(each), each.before) for each in others],
            lambda: self._in_sight(_WAS),
        )
        self._after = _Side(
            today,
            after,
            [(_either(each), each.after) for each in others],
            lambda: self._in_sight(_IS),
        )

    @property
    def verdicts(self) -> bytes:
        """What was found about the clusters, to be remembered."""
        return bytes(self._verdicts)

    def change(self, change: Change) -> Change | None:
        """What of one of the changes may be seen; None if nothing."""
        match change:
            case Change(LabelKey() as was, LabelKey() as now):
                return self._restated(was, now)
            case Change(was, now) if isinstance(was, OfWorkload) and isinstance(now, OfWorkload):
                return self._redefined(was, now)
            case _:
                return disclosed(change, self._before.judge, self._after.judge)

    def _restated(self, was: LabelKey, now: LabelKey) -> Change | None:
        """A label key that was and is: a doubt about one side must not look like a difference."""
        sides = self._before.past, self._after.past
        kept = [each for each in was.allowed if each in now.allowed]
        unsure = {
            each for each in kept if not all(side.shows_label(was.name, each) for side in sides)
        }
        states = (replace(key, allowed=_without(key.allowed, unsure)) for key in (was, now))
        found = disclosed(Change(*states), self._before.judge, self._after.judge)
        if found is not None and None in (found.before, found.after):
            return None if same(replace(was, allowed=()), replace(now, allowed=())) else found
        return found

    def _redefined(self, was: OfWorkload, now: OfWorkload) -> Change | None:
        """An object that names others, and was and is: likewise."""
        unsure = self._before.sight.hidden(was) | self._after.sight.hidden(now)
        unsure &= dispensable(was) & dispensable(now)
        states = without(was, unsure), without(now, unsure)
        if states == (None, None):
            return None
        return disclosed(Change(*states), self._before.judge, self._after.judge)

    def stretches(self) -> Iterator[None]:
        """Judge the clusters, giving way now and then."""
        if isinstance(self._verdicts, bytes):
            return
        changes = self._changeset.changes
        for position in range(len(self._verdicts), len(changes)):
            self._verdicts.append(self._verdict(changes[position]))
            if position % STRETCH == STRETCH - 1:
                yield

    def changes(self) -> tuple[Change, ...]:
        """What of the changeset may be seen."""
        return tuple(self._changes())

    def _changes(self) -> Iterator[Change]:
        self._judge_clusters()
        for change, verdict in zip(self._changeset.changes, self._verdicts, strict=True):
            if verdict == _WAS | _IS:
                yield change
            elif verdict:
                yield Change(change.before, None) if verdict == _WAS else Change(None, change.after)
            elif not _is_of_cluster(change) and (seen := self.change(change)) is not None:
                yield seen

    def _judge_clusters(self) -> None:
        for _ in self.stretches():
            pass

    def _verdict(self, change: Change) -> int:
        was, now = change.before, change.after
        before = _WAS if isinstance(was, Cluster) and self._before.past.sees(was) else 0
        return before | (_IS if isinstance(now, Cluster) and self._after.past.sees(now) else 0)

    def _in_sight(self, side: int) -> Iterator[Cluster]:
        """The clusters whose state on one side was in sight."""
        self._judge_clusters()
        for change, verdict in zip(self._changeset.changes, self._verdicts, strict=True):
            state = change.before if side == _WAS else change.after
            if verdict & side and isinstance(state, Cluster):
                yield state


class _Side:
    """One side of a changeset: what is certain of it, and what of the workload was in sight."""

    def __init__(
        self,
        today: ScopedView,
        revision: Revision,
        states: Sequence[_State],
        in_sight: Callable[[], Iterable[Cluster]],
    ) -> None:
        held, covered = HeldThen(today.base, revision, states), today.covered
        if covered is not None:
            states = _taken_out(states, Sight(held, _always, _always, covered))
        self.past = Past(today.scope, revision, states, in_sight, (today.whole, today))
        self.sight = Sight(held, self.past.reached, self.past.shows_label, covered)

    def judge(self, entity: Entity) -> Entity | None:
        """A state of this side as far as it may be seen."""
        match entity:
            case Cluster():
                shown = self.past.sees(entity)
            case Group(number=number):
                shown = self.past.shows_group(number)
            case Hierarchy(name=name):
                shown = self.past.shows_hierarchy(name)
            case LabelKey(name=name, allowed=allowed):
                seen = tuple(each for each in allowed if self.past.shows_label(name, each))
                return replace(entity, allowed=seen) if self.past.shows_label(name) else None
            case SavedSelector(selector=selector):
                shown = self.past.reached(selector) and self.past.readable(selector)
            case Grant():
                shown = False
            case _:
                return self._of_workload(entity)
        return entity if shown else None

    def _of_workload(self, entity: OfWorkload) -> Entity | None:
        selector = selector_of(entity)
        if selector is not None and not self.past.readable(selector):
            return None
        return self.sight.of(entity)


_State = tuple[Entity, Entity | None]
"""An object a changeset wrote, and its state on one side."""


def _taken_out(states: Sequence[_State], whole: Sight) -> list[_State]:
    """The states without assignments that a coverage leaves out: they choose nothing."""
    return [
        (entity, None if isinstance(state, Assignment) and whole.of(state) is None else state)
        for entity, state in states
    ]


def _always(_: object) -> bool:
    return True


def _without(values: Iterable[LabelValue], gone: Set[LabelValue]) -> tuple[LabelValue, ...]:
    return tuple(each for each in values if each not in gone)


def _is_of_cluster(change: Change) -> bool:
    return isinstance(change.after, Cluster) or isinstance(change.before, Cluster)


def _either(change: Change) -> Entity:
    entity = change.before if change.after is None else change.after
    assert entity is not None, "a change has a before or an after"
    return entity
