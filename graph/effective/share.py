"""One application after a turn, on those clusters for which anything can differ.

What is found there is all that is needed to say what a change does. The application on the whole
fleet is put together from it, and from what it was, when somebody asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from graph.composition.numbering import Names
from graph.composition.problem import Reason
from graph.composition.stack import Stack
from graph.effective.definition import Definition
from graph.effective.lens import WHOLE, Lens, P
from graph.effective.near import Shifting
from graph.effective.place import (
    UNPLACED,
    Ground,
    Place,
    Problems,
    Standing,
    bound,
    problems_of,
    standing_of,
)
from graph.effective.shift import Parts, Shift, Step, moved
from graph.model.cluster_set import ClusterSet


@dataclass(slots=True, eq=False)
class Share(Generic[P]):
    """The application as far as a lens shows. Made once, and not changed."""

    was: Place
    """On the whole fleet, before."""
    lens: Lens[P]
    had: P
    """Where it was placed."""
    placed: P
    """Where it is."""
    standing: Standing[P] | None
    """None when it stands as it did."""
    shift: Shift[P]
    added: Sequence[Names]
    """Configurations that nobody had."""
    problems: Problems
    """On the whole fleet, now."""
    unbound: P
    torn: P
    _configurations: Parts | None = None

    @property
    def configurations(self) -> Parts:
        """On the whole fleet, now."""
        if self._configurations is None:
            self._configurations = moved(self.was.configurations, self.shift)
        return self._configurations

    def place(self) -> Place:
        """The application on the whole fleet; what is as it was is the same object."""
        was, patched = self.was, self.lens.patched
        standing, now = was.standing, self.standing
        if now is not None:
            standing = Standing(
                patched(standing.assigned, now.assigned),
                patched(standing.veto, now.veto),
                patched(standing.prohibited, now.prohibited),
                patched(standing.lacking, now.lacking),
                patched(standing.placed, now.placed),
            )
        return Place(
            standing,
            self.configurations,
            self.problems,
            patched(was.unbound, self.unbound),
            patched(was.torn, self.torn),
        )

    def disputed(self) -> ClusterSet:
        """Where layers that nothing orders give a late-bound key different values."""
        return self.lens.set(self.torn)

    @property
    def vetoes_otherwise(self) -> bool:
        """Whether it may not be elsewhere than before."""
        if self.standing is None:
            return False
        return self.standing.veto != self.lens.cut(self.was.standing.veto)

    def unfit(self, reason: Reason) -> P:
        """Where the configuration has a problem of this kind."""
        found = [
            self.lens.cut(self.configurations[names])
            for names, problems in self.problems.items()
            if any(problem.reason is reason for problem in problems)
        ]
        return self.lens.union(found) if found else self.lens.none


@dataclass(frozen=True, slots=True)
class Turn(Generic[P]):
    """From one ground to the next, and what turned out otherwise on the way."""

    lens: Lens[P]
    """The only clusters for which anything can differ."""
    ground: Ground
    """The next one, to be read through the lens alone."""
    shifting: Shifting[P]
    still: Shift[P]
    """Nobody goes anywhere."""
    layers: Mapping[str, Sequence[str]]
    """Layers that reach other clusters than before, by application; those of the fleet included."""
    fleet: Sequence[str]
    """Those of the fleet alone."""
    labels: frozenset[str]
    """Labels that are others on some clusters."""


def new_share(found: Place) -> Share[ClusterSet]:
    """The share of an application that was not there before."""
    steps: dict[Step, ClusterSet] = {
        (None, names): each for names, each in found.configurations.items()
    }
    return Share(
        UNPLACED,
        WHOLE,
        UNPLACED.placed,
        found.placed,
        found.standing,
        Shift(steps, WHOLE),
        list(found.configurations),
        found.problems,
        found.unbound,
        found.torn,
        found.configurations,
    )


def same_share(place: Place, lens: Lens[P]) -> Share[P]:
    """The share of an application that stands as it did."""
    placed = lens.cut(place.placed)
    return Share(
        place,
        lens,
        placed,
        placed,
        None,
        Shift({}, lens),
        (),
        place.problems,
        lens.cut(place.unbound),
        lens.cut(place.torn),
    )


def share_after(
    was: Place,
    old: Definition,
    new: Definition,
    turn: Turn[P],
    *,
    displaced: bool,
    vetoes: Sequence[P],
) -> Share[P] | None:
    """The share of an application that stood like ``was``; None if nothing differs.

    It is ``displaced`` when something may place it elsewhere than before; ``vetoes``, those of what
    it depends on, are then asked for.
    """
    lens, standing = turn.lens, None
    had = placed = lens.cut(was.placed)
    if displaced or not _is_placed_alike(old, new):
        standing = standing_of(new, turn.ground, vetoes, lens)
        if standing.placed != had:
            placed = standing.placed
        elif _is_same(standing, was.standing, lens):
            standing = None
    turned = turn.layers.get(new.application.name, turn.fleet)
    shift = turn.still
    if had or placed:
        names = _turned_layers(old, new, turned)
        if names or had is not placed:
            shift = turn.shifting.shift(was.configurations, had, placed, (old, new), names)
    if standing is None and not shift.steps and old is new and not new.late_bound:
        return None
    if had is placed and _is_bound_alike(old, new, turned, turn.labels):
        missing, clashing = lens.cut(was.unbound), lens.cut(was.torn)
    else:
        missing, clashing = bound(placed, new, turn.ground, lens)
    added = shift.joined(was.configurations) if shift.steps else ()
    made = Share(was, lens, had, placed, standing, shift, added, was.problems, missing, clashing)
    if shift.steps or old is not new:
        made.problems = _judged_again(made, old.stack, new.stack)
    return made


def _is_placed_alike(old: Definition, new: Definition) -> bool:
    """Whether two definitions place an application by the same objects."""
    was, now = old.application, new.application
    return old is new or (
        old.placing == new.placing
        and (was.requires, was.reconcilers, was.depends_on)
        == (now.requires, now.reconcilers, now.depends_on)
    )


def _is_bound_alike(
    old: Definition, new: Definition, turned: Sequence[str], labels: frozenset[str]
) -> bool:
    """Whether its late-bound keys are given by the same objects to the same clusters."""
    if not new.late_bound:
        return old is new
    return old is new and new.late.isdisjoint(turned) and new.late_labels.isdisjoint(labels)


def _is_same(now: Standing[P], was: Standing[ClusterSet], lens: Lens[P]) -> bool:
    """Whether it stands as it did, where it is placed as it was."""
    cut = lens.cut
    return (
        now.assigned == cut(was.assigned)
        and now.lacking == cut(was.lacking)
        and now.prohibited == cut(was.prohibited)
        and now.veto == cut(was.veto)
    )


def _turned_layers(old: Definition, new: Definition, turned: Sequence[str]) -> Sequence[str]:
    """Layers that make configurations and reach others than before, or came, or went."""
    names = [name for name in turned if name in new.layers]
    return names if old is new else [*{*names, *(old.layers.keys() ^ new.layers.keys())}]


def _judged_again(made: Share[P], before: Stack, stack: Stack) -> Problems:
    """The problems of every configuration, looked at again where they may differ."""
    was, changed = made.was.problems, stack.rewritten_here(before)
    again = made.added
    if changed is None or changed:
        held = made.was.configurations
        again = [
            names
            for names in made.configurations
            if names not in held or changed is None or not changed.isdisjoint(names)
        ]
    found = dict(problems_of(stack, again)) if again else {}
    if not found and not was:
        return was
    kept = (was.keys() & made.configurations.keys()).difference(again)
    return {names: was[names] for names in was if names in kept} | found
