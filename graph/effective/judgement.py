"""What keeps an application from running where it is placed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic

from graph.composition.problem import Reason
from graph.effective.demand import Demand, Leniency
from graph.effective.lens import Lens, P
from graph.effective.place import Place, Problems
from graph.effective.share import Share
from graph.effective.shift import Parts
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.workload import Application


@dataclass(frozen=True, slots=True)
class Placement:
    """One application: where it is assigned, where it runs, and why not elsewhere."""

    assigned: ClusterSet
    prohibited: ClusterSet
    """Assigned, and vetoed: itself or something it depends on."""
    lacking: ClusterSet
    """Assigned and not prohibited, without what it requires."""
    placed: ClusterSet
    """Assigned, allowed and able. What is blocked here keeps what it runs."""
    effective: ClusterSet
    blocked: Mapping[Reason, ClusterSet]
    """Why placed clusters are not effective; a cluster may be in several."""
    configurations: Parts
    """``placed`` by the layers that reach."""
    problems: Problems
    """What is wrong with the values of a configuration."""


NOWHERE = Placement(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, {}, {}, {})
"""An application that is not there."""


@dataclass(slots=True, eq=False)
class Verdict(Generic[P]):
    """Where an application runs after a turn, as far as a lens shows. Made once, not changed."""

    was: Placement
    """On the whole fleet, before."""
    share: Share[P]
    ran: P
    """Where it was effective."""
    effective: P
    """Where it is."""
    blocked: Mapping[Reason, P]

    @property
    def is_same(self) -> bool:
        """Whether it runs where it ran."""
        return self.ran is self.effective or self.ran == self.effective

    def gained(self) -> ClusterSet:
        """Effective now, and not placed before."""
        lens = self.share.lens
        return lens.set(lens.minus(self.effective, self.share.had))

    def lost(self) -> ClusterSet:
        """Placed before, and no more."""
        lens = self.share.lens
        return lens.set(lens.minus(self.share.had, self.share.placed))

    def freed(self) -> ClusterSet:
        """Placed and blocked before, effective now."""
        lens = self.share.lens
        return lens.set(lens.minus(self.effective & self.share.had, self.ran))

    def stayed(self) -> ClusterSet:
        """Placed before and now."""
        return self.share.lens.set(self.share.had & self.share.placed)

    def newly_blocked(self) -> dict[Reason, ClusterSet]:
        """Where something blocks it that did not before."""
        lens, before = self.share.lens, self.was.blocked
        found = {
            reason: lens.minus(now, lens.cut(before[reason])) if reason in before else now
            for reason, now in self.blocked.items()
        }
        return {reason: lens.set(part) for reason, part in found.items() if part}

    def placement(self, place: Place) -> Placement:
        """The verdict on the whole fleet, where it stands like ``place``."""
        was, lens, standing = self.was, self.share.lens, place.standing
        patched = {
            reason: lens.patched(
                was.blocked.get(reason, EMPTY), self.blocked.get(reason, lens.none)
            )
            for reason in Reason
            if reason in self.blocked or reason in was.blocked
        }
        blocked = {reason: clusters for reason, clusters in patched.items() if clusters}
        effective = lens.patched(was.effective, self.effective) if blocked else standing.placed
        return Placement(
            standing.assigned,
            standing.prohibited,
            standing.lacking,
            standing.placed,
            effective,
            blocked,
            place.configurations,
            place.problems,
        )


@dataclass(frozen=True, slots=True)
class Judgement(Generic[P]):
    """What applications are judged by."""

    demand: Demand
    leniency: Leniency
    effective: Callable[[str], P]
    """Where an application runs that another depends on."""

    def of(self, was: Placement, application: Application, share: Share[P]) -> Verdict[P]:
        """The verdict on an application that was placed like ``was``."""
        lens, effective = share.lens, share.placed
        blocked: dict[Reason, P] = {}
        if (
            share.problems
            or application.depends_on
            or (application.requests is not None and self.demand.over)
            or share.unbound
            or share.torn
        ):
            blocked = dict(self._blocked(application, share))
            if blocked:
                effective = lens.minus(effective, lens.union(list(blocked.values())))
        ran = lens.cut(was.effective) if was.blocked else share.had
        return Verdict(was, share, ran, effective, blocked)

    def _blocked(self, application: Application, share: Share[P]) -> Iterator[tuple[Reason, P]]:
        """Where something blocks the application."""
        for reason, clusters in (
            (Reason.SCHEMA, share.unfit(Reason.SCHEMA)),
            (Reason.CONFLICT, share.unfit(Reason.CONFLICT) | share.torn),
            (Reason.LATE_BOUND, share.unbound),
            (Reason.CAPACITY, self._over(application, share.placed, share.lens)),
            (Reason.DEPENDENCY, self._alone(application, share.placed, share.lens)),
        ):
            if clusters:
                yield reason, clusters

    def _over(self, application: Application, placed: P, lens: Lens[P]) -> P:
        if application.requests is None or not self.demand.over:
            return lens.none
        over = placed & lens.cut(self.demand.over)
        if not over:
            return over
        return lens.minus(over, lens.cut(self.leniency.forgives(application, lens.set(over))))

    def _alone(self, application: Application, placed: P, lens: Lens[P]) -> P:
        """Without something it depends on."""
        if not application.depends_on:
            return lens.none
        there = map(self.effective, application.depends_on)
        return lens.union([lens.minus(placed, each) for each in there])
