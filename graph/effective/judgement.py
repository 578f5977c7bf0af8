"""What keeps an application from running where it is placed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from graph.composition.problem import Problem, Reason
from graph.effective.demand import Demand, Leniency
from graph.effective.place import Place
from graph.effective.refine import Names
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
    problems: Mapping[Names, tuple[Problem, ...]]
    """What is wrong with the values of a configuration."""


NOWHERE = Placement(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, {}, {}, {})
"""An application that is not there."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What applications are judged by."""

    demand: Demand
    leniency: Leniency
    placements: Mapping[str, Placement]
    """Of what an application depends on, at least."""

    def of(self, application: Application, found: Place) -> Placement:
        """The verdict on an application."""
        placed = found.placed
        blocked = dict(self._blocked(application, found, placed))
        effective = placed - ClusterSet.union(blocked.values()) if blocked else placed
        return _placement(found, effective, blocked)

    def again(
        self, was: Placement, application: Application, found: Place, among: ClusterSet
    ) -> Placement:
        """As ``of``, where only some clusters can differ from ``was``."""
        if (
            found.placed is was.placed
            and not was.blocked
            and not self._may_block(application, found)
        ):
            return _placement(found, was.effective, was.blocked)
        placed = found.placed & among
        part = dict(self._blocked(application, found, placed))
        blocked = {
            reason: clusters
            for reason in Reason
            if (reason in part or reason in was.blocked)
            and (clusters := was.blocked.get(reason, EMPTY).patched(among, part.get(reason, EMPTY)))
        }
        effective = placed - ClusterSet.union(part.values()) if part else placed
        return _placement(found, was.effective.patched(among, effective), blocked)

    def _may_block(self, application: Application, found: Place) -> bool:
        """Whether anything can block the application at all."""
        return bool(
            found.problems
            or application.depends_on
            or (application.requests is not None and self.demand.over)
            or found.unbound
            or found.torn
        )

    def _blocked(
        self, application: Application, found: Place, placed: ClusterSet
    ) -> Iterator[tuple[Reason, ClusterSet]]:
        """Those of ``placed`` that something blocks."""
        if not self._may_block(application, found):
            return
        for reason, clusters in (
            (Reason.SCHEMA, found.unfit(Reason.SCHEMA, placed)),
            (Reason.CONFLICT, found.unfit(Reason.CONFLICT, placed) | (found.torn & placed)),
            (Reason.LATE_BOUND, found.unbound & placed),
            (Reason.CAPACITY, self._over(application, placed)),
            (Reason.DEPENDENCY, self._alone(application, placed)),
        ):
            if clusters:
                yield reason, clusters

    def _over(self, application: Application, placed: ClusterSet) -> ClusterSet:
        if application.requests is None or not self.demand.over:
            return EMPTY
        over = placed & self.demand.over
        return over - self.leniency.forgives(application, over)

    def _alone(self, application: Application, placed: ClusterSet) -> ClusterSet:
        """Without something it depends on."""
        if not application.depends_on:
            return EMPTY
        there = (self.placements[name].effective for name in application.depends_on)
        return ClusterSet.union([placed - each for each in there])


def _placement(
    found: Place, effective: ClusterSet, blocked: Mapping[Reason, ClusterSet]
) -> Placement:
    standing = found.standing
    return Placement(
        standing.assigned,
        standing.prohibited,
        standing.lacking,
        standing.placed,
        effective,
        blocked,
        found.configurations,
        found.problems,
    )
