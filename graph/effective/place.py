"""Where one application stands by its own definition, before others are looked at.

Every assigned cluster is in exactly one of three sets: ``prohibited``, ``lacking`` what the
application requires, or ``placed``. The configurations are a partition of ``placed``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graph.composition.problem import Problem, Reason
from graph.composition.stack import Stack
from graph.effective.definition import Definition
from graph.effective.late import torn, unbound
from graph.effective.machines import Machines
from graph.effective.reach import Reach
from graph.effective.refine import Names, refine
from graph.effective.shift import Moved, Parts, Shift, Side, Step, shifted
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView


@dataclass(frozen=True, slots=True)
class Standing:
    """The assigned clusters, told apart."""

    assigned: ClusterSet
    veto: ClusterSet
    """Where it may not be, assigned or not: its own vetoes and those of what it depends on."""
    prohibited: ClusterSet
    lacking: ClusterSet
    placed: ClusterSet

    def is_same(self, other: Standing) -> bool:
        """Whether every set is the same object."""
        return (
            self.placed is other.placed
            and self.assigned is other.assigned
            and self.lacking is other.lacking
            and self.prohibited is other.prohibited
            and self.veto is other.veto
        )


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One application on the fleet."""

    standing: Standing
    configurations: Parts
    problems: Mapping[Names, tuple[Problem, ...]]
    """What is wrong with a configuration's values, where something is."""
    unbound: ClusterSet = EMPTY
    """Placed, but without a value for a late-bound key."""
    torn: ClusterSet = EMPTY
    """Placed, with two different values for a late-bound key that nothing orders."""
    mark: object = field(default_factory=object, repr=False)
    since: object = field(default=None, repr=False)
    """The mark of the place this one was made from; ``shift`` is since then."""
    shift: Shift = field(default_factory=dict[Step, ClusterSet], repr=False)

    @property
    def placed(self) -> ClusterSet:
        """Assigned, allowed and able."""
        return self.standing.placed

    def unfit(self, reason: Reason, among: ClusterSet) -> ClusterSet:
        """Those ``among`` some whose configuration has a problem of this kind."""
        if not self.problems:
            return EMPTY
        found = [
            self.configurations[names] & among
            for names, problems in self.problems.items()
            if any(problem.reason is reason for problem in problems)
        ]
        return ClusterSet.union(found) if found else EMPTY


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
    standing = _standing(definition, ground, vetoes)
    configurations = refine(standing.placed, ground.reached(definition.layers).items())
    problems = dict(_problems(definition.stack, configurations))
    return _bound(Place(standing, configurations, problems), definition, ground)


@dataclass(frozen=True, slots=True)
class Turn:
    """From one ground to the next, and what turned out otherwise on the way."""

    old: Ground
    new: Ground
    turned: frozenset[Ref]
    """Objects that reach other clusters than before."""
    layers: Mapping[str, Sequence[str]]
    """The layers among them, by the application they are for."""
    machines: bool
    """Whether machines changed."""
    among: ClusterSet | None
    """The only clusters for which anything can differ; None when it may for all."""


def place_again(
    was: Place,
    old: Definition,
    definition: Definition,
    turn: Turn,
    *,
    vetoes: Iterable[ClusterSet],
    vetoed: bool,
) -> Place:
    """As ``place``, at the cost of what moved since ``was``; ``was`` itself if nothing did.

    It is ``vetoed`` when the vetoes of what it depends on may be others than before.
    """
    standing = was.standing
    if vetoed or not _is_placed_alike(old, definition) or _is_displaced(definition, turn):
        standing = _standing_again(standing, definition, turn, vetoes)
    shift = _shift(was, standing.placed, (old, definition), turn)
    if standing is was.standing and not shift and old is definition and not definition.late_bound:
        return was
    configurations = Moved(was.configurations, shift) if shift else was.configurations
    problems = _judged_again(was, configurations, shift, old.stack, definition.stack)
    made = Place(standing, configurations, problems, since=was.mark, shift=shift)
    if turn.among is None:
        return _bound(made, definition, turn.new)
    return _bound_again(made, was, definition, turn.new, turn.among)


def rewritten(before: Stack, stack: Stack) -> frozenset[str] | None:
    """The layers that differ or are ordered otherwise; None when every configuration may differ."""
    if before is stack:
        return frozenset()
    if before.application != stack.application or before.everywhere != stack.everywhere:
        return None
    was = {each.name: each for each in before.keyed}
    now = {each.name: each for each in stack.keyed}
    changed = {name for name in was.keys() | now.keys() if was.get(name) != now.get(name)}
    return frozenset(changed) | stack.order.moved(before.order)


def _is_placed_alike(old: Definition, new: Definition) -> bool:
    """Whether two definitions place an application by the same objects."""
    was, now = old.application, new.application
    return old is new or (
        old.placing == new.placing
        and (was.requires, was.reconcilers, was.depends_on)
        == (now.requires, now.reconcilers, now.depends_on)
    )


def _is_displaced(definition: Definition, turn: Turn) -> bool:
    """Whether others of its inputs may place it elsewhere than before."""
    return not definition.placing.isdisjoint(turn.turned) or (
        turn.machines and bool(definition.application.reconcilers)
    )


def _standing(
    definition: Definition,
    ground: Ground,
    vetoes: Iterable[ClusterSet],
    among: ClusterSet | None = None,
) -> Standing:
    """Where the application stands, ``among`` some clusters or all."""
    application, sets = definition.application, ground.reach.sets
    chosen = [sets[ref] for ref in definition.assignments]
    vetoed = [*(sets[ref] for ref in definition.prohibitions), *vetoes]
    if among is not None:
        chosen, vetoed = [each & among for each in chosen], [each & among for each in vetoed]
    assigned, veto = ClusterSet.union(chosen), ClusterSet.union(vetoed)
    prohibited = assigned & veto if veto else EMPTY
    allowed = assigned - prohibited if prohibited else assigned
    placed = allowed
    if application.requires is not None:
        placed = placed & sets[Ref(Kind.APPLICATION, application.name)]
    if application.reconcilers:
        placed = placed & ground.machines.under(application.reconcilers)
    lacking = EMPTY if placed is allowed else allowed - placed
    return Standing(assigned, veto, prohibited, lacking, placed)


def _standing_again(
    was: Standing, definition: Definition, turn: Turn, vetoes: Iterable[ClusterSet]
) -> Standing:
    """As ``_standing``; what is as it was is the same object."""
    among, now = turn.among, _standing(definition, turn.new, vetoes, turn.among)
    made = Standing(
        _kept(was.assigned, now.assigned, among),
        _kept(was.veto, now.veto, among),
        _kept(was.prohibited, now.prohibited, among),
        _kept(was.lacking, now.lacking, among),
        _kept(was.placed, now.placed, among),
    )
    return was if made.is_same(was) else made


def _kept(was: ClusterSet, now: ClusterSet, among: ClusterSet | None) -> ClusterSet:
    if among is None:
        return was if was == now else now
    return was.patched(among, now)


def _shift(
    before: Place, now: ClusterSet, definitions: tuple[Definition, Definition], turn: Turn
) -> Shift:
    """Who goes from which configuration to which."""
    (old, new), was = definitions, before.placed
    names = _turned_layers(old, new, turn)
    if was is now and not names:
        return {}
    if turn.among is not None:
        kept = was & turn.among
        was, now = kept, kept if now is was else now & turn.among
        if not was and not now:
            return {}
    return shifted(
        before.configurations,
        Side(was, old.layers, turn.old.reach.layers),
        Side(now, new.layers, turn.new.reach.layers),
        names,
    )


def _turned_layers(old: Definition, new: Definition, turn: Turn) -> list[str]:
    """Layers that make configurations and reach others than before, or came, or went."""
    own = (*turn.layers.get(new.application.name, ()), *turn.layers.get("", ()))
    turned = [name for name in own if name in new.layers]
    return turned if old is new else [*{*turned, *(old.layers.keys() ^ new.layers.keys())}]


def _judged_again(
    was: Place, configurations: Parts, shift: Shift, before: Stack, stack: Stack
) -> Mapping[Names, tuple[Problem, ...]]:
    """The problems of every configuration, looked at again where they may differ."""
    known = was.configurations
    changed = rewritten(before, stack)
    if changed is not None and not changed:
        again = [new for _, new in shift if new is not None and new not in known]
    else:
        again = [
            names
            for names in configurations
            if names not in known or changed is None or not changed.isdisjoint(names)
        ]
    if not again and not was.problems:
        return was.problems
    problems = {names: each for names, each in was.problems.items() if names in configurations}
    for names in again:
        problems.pop(names, None)
    problems.update(_problems(stack, again))
    return problems


def _problems(
    stack: Stack, configurations: Iterable[Names]
) -> Iterator[tuple[Names, tuple[Problem, ...]]]:
    for names in configurations:
        if found := stack.problems(names):
            yield names, found


def _bound(made: Place, definition: Definition, ground: Ground) -> Place:
    """The place with what late-bound keys say of it."""
    application, stack = definition.application, definition.stack
    if not application.late_bound:
        return made
    return replace(
        made,
        unbound=unbound(application, stack, made.placed, ground.reach, ground.view),
        torn=torn(stack, made.placed, ground.reach),
    )


def _bound_again(
    made: Place, was: Place, definition: Definition, ground: Ground, among: ClusterSet
) -> Place:
    """As ``_bound``, where only some clusters can differ from ``was``."""
    application, stack = definition.application, definition.stack
    if not application.late_bound:
        return made
    placed = made.placed & among
    missing = unbound(application, stack, placed, ground.reach, ground.view)
    clashing = torn(stack, placed, ground.reach)
    if not (missing or clashing or was.unbound or was.torn):
        return made
    return replace(
        made,
        unbound=was.unbound.patched(among, missing),
        torn=was.torn.patched(among, clashing),
    )
