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
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace

from graph.model.access import Grant
from graph.model.change import Change, Changeset, Entity, ref_of, same
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, LabelValue, SavedSelector
from graph.model.names import Revision
from graph.model.view import entity_of
from graph.scoped import ScopedView, readable
from graph.targeting.past import Past

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
        if isinstance(seen, SavedSelector) and not readable(seen.selector, view):
            return None
        return seen

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
        self._before = Past(
            today.scope,
            Revision(changeset.revision - 1),
            ((_either(each), each.before) for each in others),
            lambda: self._in_sight(_WAS),
            (today.base, today),
        )
        self._after = Past(
            today.scope,
            changeset.revision,
            ((_either(each), each.after) for each in others),
            lambda: self._in_sight(_IS),
            (today.base, today),
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
            case _:
                return disclosed(change, _judge(self._before), _judge(self._after))

    def _restated(self, was: LabelKey, now: LabelKey) -> Change | None:
        """A label key that was and is: a doubt about one side must not look like a difference."""
        sides = self._before, self._after
        kept = [each for each in was.allowed if each in now.allowed]
        unsure = {
            each for each in kept if not all(side.shows_label(was.name, each) for side in sides)
        }
        states = (replace(key, allowed=_without(key.allowed, unsure)) for key in (was, now))
        found = disclosed(Change(*states), _judge(self._before), _judge(self._after))
        if found is not None and None in (found.before, found.after):
            return None if same(replace(was, allowed=()), replace(now, allowed=())) else found
        return found

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
        before = _WAS if isinstance(was, Cluster) and self._before.sees(was) else 0
        return before | (_IS if isinstance(now, Cluster) and self._after.sees(now) else 0)

    def _in_sight(self, side: int) -> Iterator[Cluster]:
        """The clusters whose state on one side was in sight."""
        self._judge_clusters()
        for change, verdict in zip(self._changeset.changes, self._verdicts, strict=True):
            state = change.before if side == _WAS else change.after
            if verdict & side and isinstance(state, Cluster):
                yield state


def _judge(past: Past) -> Judge:
    """Judges states of one side of a changeset."""

    def judge(entity: Entity) -> Entity | None:
        match entity:
            case Cluster():
                shown = past.sees(entity)
            case Group(number=number):
                shown = past.shows_group(number)
            case Hierarchy(name=name):
                shown = past.shows_hierarchy(name)
            case LabelKey(name=name, allowed=allowed):
                seen = tuple(each for each in allowed if past.shows_label(name, each))
                return replace(entity, allowed=seen) if past.shows_label(name) else None
            case SavedSelector():
                shown = past.shows_selector(entity)
            case Grant():
                shown = False
        return entity if shown else None

    return judge


def _without(values: Iterable[LabelValue], gone: Set[LabelValue]) -> tuple[LabelValue, ...]:
    return tuple(each for each in values if each not in gone)


def _is_of_cluster(change: Change) -> bool:
    return isinstance(change.after, Cluster) or isinstance(change.before, Cluster)


def _either(change: Change) -> Entity:
    entity = change.before if change.after is None else change.after
    assert entity is not None, "a change has a before or an after"
    return entity
