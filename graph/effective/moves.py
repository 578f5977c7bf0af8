"""What a change does to what runs: two states in, the difference per application out.

The cost follows the difference: an application that is the same object in both is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graph.composition.numbering import Names
from graph.composition.problem import Reason
from graph.effective.content import of_other_content
from graph.effective.judgement import NOWHERE, Placement, Verdict
from graph.effective.late_columns import Binding, bound_anew
from graph.effective.lens import WHOLE
from graph.effective.place import UNPLACED, Ground
from graph.effective.share import Share
from graph.effective.shift import STAYED, between
from graph.effective.state import State, Stride
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
    stride = now.stride if now.since is was.mark else None
    if stride is None:
        stride = _between(was, now)
    for name in sorted([*stride.verdicts, *stride.gone]):
        move = (
            _lost(name, was.placements[name])
            if name in stride.gone
            else _move(name, stride.verdicts[name], was, now, stride.ground)
        )
        if move:
            yield move


def _between(was: State, now: State) -> Stride:
    """What differs between any two states."""
    verdicts = {
        name: _verdict(name, placement, was, now)
        for name, placement in now.placements.items()
        if was.placements.get(name) is not placement
        or was.definitions.get(name) is not now.definitions[name]
    }
    ground = Ground(now.view, now.reach, now.machines)
    return Stride(ground, verdicts, was.placements.keys() - now.placements.keys())


def _verdict(name: str, after: Placement, was: State, now: State) -> Verdict[ClusterSet]:
    before, place = was.placements.get(name, NOWHERE), now.places[name]
    shift = between(before.configurations, after.configurations)
    share = Share(
        was.places.get(name, UNPLACED),
        WHOLE,
        before.placed,
        after.placed,
        place.standing,
        shift,
        shift.joined(before.configurations),
        after.problems,
        place.unbound,
        place.torn,
        after.configurations,
    )
    return Verdict(before, share, before.effective, after.effective, after.blocked)


def _lost(name: str, before: Placement) -> Move:
    """What it means that an application is no more."""
    none = frozenset[Names]()
    dropped = frozenset(before.configurations)
    placed = before.placed
    return Move(name, EMPTY, placed, EMPTY, {}, EMPTY, none, none, dropped, placed)


def _move(
    name: str,
    verdict: Verdict[Any],
    was: State,
    now: State,
    ground: Ground,
) -> Move:
    share = verdict.share
    before = share.was.configurations
    old, new = was.definitions.get(name), now.definitions[name]
    values = (old or new).stack.digest, new.stack.digest
    done = share.shift.outcome(before, *values) if share.shift.steps else STAYED
    changed, anew, bound = done.differing, frozenset[Names](), EMPTY
    if old is not None and old is not new:
        both = (names for names in before if names not in done.emptied)
        anew = frozenset(of_other_content(old, new, both))
        stayed = share.was.placed
        changed = _union([changed, *(share.configurations[each] & stayed for each in anew)])
    if old is not None and (old.late_bound or new.late_bound):
        binding = (
            Binding(old, was, share.was.torn),
            Binding(new, ground, share.disputed()),
        )
        touched = now.touched if now.since is was.mark else None
        bound = bound_anew(*binding, verdict.stayed(), touched)
        changed = _union([changed, bound]) if bound else changed
    stays = share.had is share.placed and verdict.is_same
    return Move(
        name,
        EMPTY if stays else verdict.gained(),
        EMPTY if stays else verdict.lost(),
        changed,
        verdict.newly_blocked() if verdict.blocked else {},
        EMPTY if stays else verdict.freed(),
        frozenset(share.added),
        anew,
        done.emptied,
        _union([done.everybody, bound]) if bound else done.everybody,
    )


def _union(sets: list[ClusterSet]) -> ClusterSet:
    """All of them, most of which have none."""
    some = [each for each in sets if each]
    return some[0] if len(some) == 1 else ClusterSet.union(some)
