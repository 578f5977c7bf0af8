"""Where one application stands by its own definition, before others are looked at.

Every assigned cluster is in exactly one of three sets: ``prohibited``, ``lacking`` what the
application requires, or ``placed``. The configurations are a partition of ``placed``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic

from graph.composition.numbering import Names
from graph.composition.problem import Problem
from graph.composition.stack import Stack
from graph.effective.definition import Definition
from graph.effective.late import torn, unbound
from graph.effective.lens import WHOLE, Lens, P
from graph.effective.machines import Machines
from graph.effective.reach import Reach
from graph.effective.refine import refine
from graph.effective.shift import Parts
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView

Problems = Mapping[Names, tuple[Problem, ...]]
"""What is wrong with the values of configurations, where something is."""


@dataclass(frozen=True, slots=True)
class Standing(Generic[P]):
    """The assigned clusters, told apart."""

    assigned: P
    veto: P
    """Where it may not be, assigned or not: its own vetoes and those of what it depends on."""
    prohibited: P
    lacking: P
    placed: P


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One application on the fleet."""

    standing: Standing[ClusterSet]
    configurations: Parts
    problems: Problems
    unbound: ClusterSet = EMPTY
    """Placed, but without a value for a late-bound key."""
    torn: ClusterSet = EMPTY
    """Placed, with two different values for a late-bound key that nothing orders."""

    @property
    def placed(self) -> ClusterSet:
        """Assigned, allowed and able."""
        return self.standing.placed


UNPLACED = Place(Standing(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY), {}, {})
"""An application that is not there."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What an application is placed on."""

    view: FleetView
    reach: Reach
    machines: Machines

    def reached(self, layers: Iterable[str]) -> dict[str, ClusterSet]:
        """What each of some layers reaches."""
        sets = self.reach.layers
        return {name: sets[name] for name in layers}


def place(definition: Definition, ground: Ground, vetoes: Iterable[ClusterSet]) -> Place:
    """The application from nothing; ``vetoes`` are those of what it depends on."""
    standing = standing_of(definition, ground, vetoes, WHOLE)
    found = refine(standing.placed, ground.reached(definition.layers).items())
    own = definition.stack.numbering.own
    configurations = {own(names): clusters for names, clusters in found.items()}
    problems = dict(problems_of(definition.stack, configurations))
    return Place(
        standing, configurations, problems, *bound(standing.placed, definition, ground, WHOLE)
    )


def standing_of(
    definition: Definition, ground: Ground, vetoes: Iterable[P], lens: Lens[P]
) -> Standing[P]:
    """Where the application stands, as far as a lens shows."""
    application, sets = definition.application, ground.reach.sets
    cut = lens.cut
    assigned = lens.union([cut(sets[ref]) for ref in definition.assignments])
    vetoed = [cut(sets[ref]) for ref in definition.prohibitions]
    vetoed.extend(vetoes)
    veto = lens.union(vetoed)
    prohibited = assigned & veto if veto else lens.none
    allowed = lens.minus(assigned, prohibited) if prohibited else assigned
    placed = allowed
    if application.requires is not None:
        placed = placed & cut(sets[Ref(Kind.APPLICATION, application.name)])
    if application.reconcilers:
        placed = placed & cut(ground.machines.under(application.reconcilers))
    lacking = lens.none if placed is allowed else lens.minus(allowed, placed)
    return Standing(assigned, veto, prohibited, lacking, placed)


def problems_of(
    stack: Stack, configurations: Iterable[Names]
) -> Iterator[tuple[Names, tuple[Problem, ...]]]:
    """What is wrong with each of some configurations, where something is."""
    for names in configurations:
        if found := stack.problems(names):
            yield names, found


def bound(placed: P, definition: Definition, ground: Ground, lens: Lens[P]) -> tuple[P, P]:
    """Where late-bound keys have no value, and where they have two."""
    application, stack = definition.application, definition.stack
    if not application.late_bound or not placed:
        return lens.none, lens.none
    here = lens.set(placed)
    return (
        lens.cut(unbound(application, stack, here, ground.reach, ground.view)),
        lens.cut(torn(stack, here, ground.reach)),
    )
