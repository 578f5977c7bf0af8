"""What a change does to what runs: two states in, the difference per application out.

The cost follows the difference: an application that is the same object in both is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from graph.composition.problem import Reason
from graph.effective.content import of_other_content
from graph.effective.definition import Definition
from graph.effective.judgement import NOWHERE, Placement
from graph.effective.late_columns import rebound
from graph.effective.refine import Names
from graph.effective.shift import Shift, between, emptied
from graph.effective.state import State
from graph.model.cluster_set import EMPTY, ClusterSet


@dataclass(frozen=True, slots=True)
class Move:
    """What differs for one application."""

    application: str
    gained: ClusterSet
    """Effective now, and not placed before."""
    lost: ClusterSet
    """Placed before, and no more: there it is taken away."""
    reconfigured: ClusterSet
    """Placed before and now, with other values or from another definition."""
    blocked: Mapping[Reason, ClusterSet]
    """Newly blocked."""
    freed: ClusterSet
    """Placed and blocked before, effective now."""
    added: frozenset[Names]
    """Overlays that come."""
    rewritten: frozenset[Names]
    """Overlays whose content differs."""
    dropped: frozenset[Names]
    """Overlays that go."""
    repointed: ClusterSet
    """Clusters whose pointer differs."""

    def among(self, visible: ClusterSet) -> Move:
        """The move as far as it concerns some clusters; overlays are told by those alone."""
        return replace(
            self,
            gained=self.gained & visible,
            lost=self.lost & visible,
            reconfigured=self.reconfigured & visible,
            blocked={
                reason: seen for reason, each in self.blocked.items() if (seen := each & visible)
            },
            freed=self.freed & visible,
            added=frozenset(),
            rewritten=frozenset(),
            dropped=frozenset(),
            repointed=self.repointed & visible,
        )

    def __bool__(self) -> bool:
        return bool(
            self.repointed or self.reconfigured or self.blocked or self.freed or self.rewritten
        )


def moves(was: State, now: State) -> Iterator[Move]:
    """What differs from ``was`` to ``now``, by application."""
    for name in _altered(was, now):
        if move := _move(name, was, now):
            yield move


def _altered(was: State, now: State) -> list[str]:
    """The applications for which anything can differ."""
    if now.since is was.mark:
        return sorted(now.altered)
    return sorted(
        name
        for name in was.placements.keys() | now.placements.keys()
        if was.placements.get(name) is not now.placements.get(name)
        or was.definitions.get(name) is not now.definitions.get(name)
    )


def _move(name: str, was: State, now: State) -> Move:
    before = was.placements.get(name, NOWHERE)
    after = now.placements.get(name, NOWHERE)
    old, new = was.definitions.get(name), now.definitions.get(name)
    shift = _shift(name, was, now)
    found = _Reconfigured(EMPTY, EMPTY, frozenset())
    if old is not None and new is not None:
        found = _reconfigured((old, new), (before, after), (was, now), shift)
    gone, freed, gained = _come_and_gone(before, after, _only(was, now))
    return Move(
        application=name,
        gained=gained,
        lost=gone,
        reconfigured=found.clusters,
        blocked=_newly_blocked(before, after),
        freed=freed,
        added=frozenset(
            joined
            for _, joined in shift
            if joined is not None and joined not in before.configurations
        ),
        rewritten=found.rewritten,
        dropped=emptied(before.configurations, shift),
        repointed=_union([*shift.values(), found.rebound]),
    )


def _only(was: State, now: State) -> ClusterSet | None:
    """The clusters for which anything can differ; None for all."""
    return now.only if now.since is was.mark else None


def _come_and_gone(
    before: Placement, after: Placement, only: ClusterSet | None
) -> tuple[ClusterSet, ClusterSet, ClusterSet]:
    """Where the application is lost, freed and gained."""
    if before.placed is after.placed and before.effective is after.effective:
        return EMPTY, EMPTY, EMPTY
    had, has, ran, runs = before.placed, after.placed, before.effective, after.effective
    if only is not None:
        had, has, ran, runs = had & only, has & only, ran & only, runs & only
    return had - has, (runs & had) - ran, runs - had


@dataclass(frozen=True, slots=True)
class _Reconfigured:
    """Who has other values than before."""

    clusters: ClusterSet
    rebound: ClusterSet
    """Those with other late-bound values."""
    rewritten: frozenset[Names]
    """Configurations that are there before and after, with other content."""


def _reconfigured(
    definitions: tuple[Definition, Definition],
    placements: tuple[Placement, Placement],
    states: tuple[State, State],
    shift: Shift,
) -> _Reconfigured:
    (old, new), (before, after) = definitions, placements
    changed = list(_differing(old, new, shift))
    anew, bound_anew = frozenset[Names](), EMPTY
    if old is not new:
        both = before.configurations.keys() & after.configurations.keys()
        anew = frozenset(of_other_content(old, new, both))
        changed += (after.configurations[names] & before.placed for names in anew)
    if old.late_bound or new.late_bound:
        bound_anew = rebound(new.application.name, *states, before.placed & after.placed)
        changed.append(bound_anew)
    return _Reconfigured(_union(changed), bound_anew, anew)


def _union(sets: list[ClusterSet]) -> ClusterSet:
    """All of them, most of which have none."""
    some = [each for each in sets if each]
    return some[0] if len(some) == 1 else ClusterSet.union(some)


def _shift(name: str, was: State, now: State) -> Shift:
    """Who went from which configuration to which."""
    old, new = was.places.get(name), now.places.get(name)
    if old is new:
        return {}
    if old is not None and new is not None and new.since is old.mark:
        return new.shift
    return between(
        {} if old is None else old.configurations, {} if new is None else new.configurations
    )


def _differing(old: Definition, new: Definition, shift: Shift) -> Iterator[ClusterSet]:
    """Clusters that went from one configuration to another with other values."""
    for (left, joined), clusters in shift.items():
        if left is None or joined is None:
            continue
        if old.stack.digest(left) != new.stack.digest(joined):
            yield clusters


def _newly_blocked(before: Placement, after: Placement) -> dict[Reason, ClusterSet]:
    if before.blocked is after.blocked:
        return {}
    found = {
        reason: clusters - before.blocked.get(reason, EMPTY)
        for reason, clusters in after.blocked.items()
        if before.blocked.get(reason) is not clusters
    }
    return {reason: clusters for reason, clusters in found.items() if clusters}
