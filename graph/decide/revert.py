"""Revert: part of the fleet back to what it was, as changes like any other.

Objects come back with the identity they had: a group that was deleted gets its own number again,
so what once named it means it still. ``plan_revert`` chooses what can come back and says what
cannot; ``decide_revert`` makes the changes and refuses if the fleet has moved on in between, so
that a revert planned before somebody's change never takes that change away unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from graph.decide.governance import demanding, newly_breached, to_blame
from graph.decide.hierarchies import weakest
from graph.decide.imagined import overlaid, quota_newly_broken
from graph.decide.outcome import Outcome
from graph.decide.references import called
from graph.decide.standards import standard_newly_broken
from graph.model.change import Change, Entity, same
from graph.model.cluster_set import ClusterSet
from graph.model.command import Revert
from graph.model.errors import Conflict, Rejected
from graph.model.inventory import Cluster, Group, Hierarchy, Mode
from graph.model.names import ClusterNumber, GroupNumber, Revision, counted
from graph.model.ref import Kind, Ref
from graph.model.view import FleetDraft, FleetView, entity_of, subtree
from graph.model.workload import (
    Application,
    Assignment,
    Layer,
    Namespace,
    Policy,
    Prohibition,
    Workload,
)


@dataclass(frozen=True, slots=True)
class Everything:
    """The whole fleet but its grants: who may do what is taken back by name or not at all."""


@dataclass(frozen=True, slots=True)
class Subtree:
    """A group, everything below it then or now, and the memberships in them."""

    group: GroupNumber


Part = Ref | Subtree
"""One object, or a subtree with its memberships. A hierarchy and its root group are one object;
an application comes with its layers, a namespace with its applications and assignments."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Several parts taken back together, as the old and the new holder of one name."""

    parts: tuple[Part, ...]


Scope = Part | Parts | Everything
"""What a revert takes back."""


@dataclass(frozen=True, slots=True)
class RevertPlan:
    """The command that takes the scope back, and what must be left, with the reason."""

    command: Revert
    left: tuple[str, ...]


def plan_revert(
    scope: Scope,
    then: FleetView,
    now: FleetView,
    touched: Iterable[Ref],
    drafted: Callable[[], FleetDraft],
) -> RevertPlan:
    """What of ``scope`` can be as it was; ``touched`` is everything changed since ``then``.

    ``drafted`` makes a draft of ``now``.
    """
    reach = _Reach(scope, then, now)
    touched = frozenset(touched)
    left = list(_grants_left(scope, touched, then, now))
    before: dict[Ref, Entity | None] = {}
    wanted: dict[Ref, Entity | None] = {}
    for ref in reach.refs(touched):
        was, is_now = entity_of(then, ref), entity_of(now, ref)
        state, lost = reach.wanted(ref, was, is_now)
        if lost:
            left.append(f"{_shown(ref, then, now)}: {lost}")
        if not same(state, is_now):
            before[ref], wanted[ref] = is_now, state
    while broken := _broken(Outcome(now, wanted), wanted) or _breaching(now, wanted, drafted):
        for ref, why in broken.items():
            left.append(f"{_shown(ref, then, now)}: {why}")
            del wanted[ref]
    changes = tuple(Change(before[ref], state) for ref, state in wanted.items())
    command = Revert(then.cursor.revision, repr(scope), now.cursor.revision, changes)
    return RevertPlan(command, tuple(left))


def decide_revert(command: Revert, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The changes of a planned revert, if it still fits the fleet."""
    for change in command.changes:
        if entity_of(view, change.ref) != change.before:
            raise Conflict(
                f"{change.ref} has changed since the revert was planned at revision "
                f"{command.base:,}",
                hint="plan the revert again",
            )
    wanted = {change.ref: change.after for change in command.changes}
    outcome = Outcome(view, wanted)
    reasons = [f"{ref}: {why}" for ref in wanted if (why := outcome.why_not(ref))]
    if reasons:
        raise Rejected(
            f"{counted(len(reasons), 'object')} cannot be as at revision {command.to:,}",
            hint="the fleet has changed meanwhile; plan the revert again",
            reasons=reasons,
        )
    return tuple(
        Change(each.before, None if each.after is None else replace(each.after, changed=revision))
        for each in command.changes
    )


def _broken(outcome: Outcome, wanted: dict[Ref, Entity | None]) -> dict[Ref, str]:
    """What cannot be as wanted, and why; the rest may have relied on it."""
    found = {ref: why for ref in wanted if (why := outcome.why_not(ref))}
    for ref, state in wanted.items():
        if ref in found:
            continue
        if why := _newly_broken(state, outcome):
            found[ref] = why
    return found


def _breaching(
    now: FleetView, wanted: dict[Ref, Entity | None], drafted: Callable[[], FleetDraft]
) -> dict[Ref, str]:
    """What would newly break a policy, and how."""
    if not wanted or not demanding(overlaid(now.workload, wanted)):
        return {}  # as most fleets, so that nothing needs to be drafted
    changes = [Change(entity_of(now, ref), state) for ref, state in wanted.items()]
    after = drafted()
    after.apply(changes)
    found: dict[Ref, str] = {}
    for breach in newly_breached(changes, now, after):
        for ref in to_blame(breach, changes, after):
            found.setdefault(ref, f"it would break a policy: {breach}")
    return found


def _newly_broken(state: Entity | None, outcome: Outcome) -> str:
    """The standard or quota that becoming so would break; empty if none."""
    if not isinstance(state, Cluster):
        return quota_newly_broken(state, outcome.view, outcome.workload)
    now = outcome.view.cluster(state.number)
    why = standard_newly_broken(now, state, outcome.view, outcome)
    return f"it would break the standard: {why}" if why else ""


class _Reach:
    """What a scope takes in, worked out once."""

    def __init__(self, scope: Scope, then: FleetView, now: FleetView) -> None:
        self._then = then
        self._now = now
        self._whole = isinstance(scope, Everything)
        parts = scope.parts if isinstance(scope, Parts) else (scope,)
        given = [part for part in parts if isinstance(part, Ref)]
        tops = [part.group for part in parts if isinstance(part, Subtree)]
        self._objects = {each for ref in given for each in self._with_its_own(ref)}
        for top in tops:
            self._objects.update(self._hierarchy_that_came_or_went(top))
        views = (then, now)
        held = [(view, top) for view in views for top in tops if view.group(top) is not None]
        self._places = frozenset(each for view, top in held for each in subtree(view, top))
        self._inside = ClusterSet.union(view.members(top) for view, top in held)

    def refs(self, touched: Iterable[Ref]) -> list[Ref]:
        """The objects to take back, in an order that depends on nothing but them."""
        found = set(self._objects)
        found.update(filter(self._takes, touched))
        return sorted(found, key=str)

    def wanted(self, ref: Ref, was: Entity | None, now: Entity | None) -> tuple[Entity | None, str]:
        """The state ``ref`` should have, and what of it is lost for good."""
        if isinstance(was, Hierarchy) and not self._whole:
            return self._in_order(was)
        if self._whole or ref.kind is not Kind.CLUSTER:
            return was, ""
        if ref in self._objects:
            if not isinstance(was, Cluster):
                return was, ""
            return self._with_memberships(was, was.memberships)
        if not isinstance(was, Cluster) or not isinstance(now, Cluster):
            return now, "it was registered or retired since"
        return self._with_memberships(now, self._blended(was, now))

    def _takes(self, ref: Ref) -> bool:
        if self._whole:
            return ref.kind is not Kind.GRANT
        match ref.kind, ref.key:
            case Kind.GROUP, int(number):
                return number in self._places
            case Kind.CLUSTER, int(number):
                return ClusterNumber(number) in self._inside
            case _:
                return False

    def _blended(self, was: Cluster, now: Cluster) -> Iterator[GroupNumber]:
        """The memberships then in the places taken back, and elsewhere those of now.

        Where a hierarchy gives one place, coming in or going out is one fact, taken back whole.
        """
        moved = {
            self._hierarchy(each)
            for each in (*was.memberships, *now.memberships)
            if each in self._places
        }
        whole = {name for name in moved if self._is_single(name)}
        for cluster, inside in ((was, True), (now, False)):
            for each in cluster.memberships:
                taken_back = each in self._places or self._hierarchy(each) in whole
                if taken_back is inside:
                    yield each

    def _with_memberships(
        self, cluster: Cluster, groups: Iterable[GroupNumber]
    ) -> tuple[Cluster, str]:
        wanted = set(groups)
        kept = sorted(each for each in wanted if self._will_be_there(each))
        lost = len(wanted) - len(kept)
        why = f"{lost:,} of its groups {'is' if lost == 1 else 'are'} gone" if lost else ""
        return replace(cluster, memberships=tuple(kept)), why

    def _will_be_there(self, number: GroupNumber) -> bool:
        comes_back = number in self._places or Ref(Kind.GROUP, number) in self._objects
        view = self._then if comes_back else self._now
        return view.group(number) is not None

    def _hierarchy(self, number: GroupNumber) -> str:
        group = self._then.group(number) or self._now.group(number)
        assert group is not None, f"group {number} is neither then nor now"
        return group.hierarchy

    def _is_single(self, name: str) -> bool:
        hierarchy = self._now.hierarchy(name) or self._then.hierarchy(name)
        return hierarchy is not None and hierarchy.mode is Mode.SINGLE

    def _in_order(self, was: Hierarchy) -> tuple[Hierarchy, str]:
        """The hierarchy in its place of the order, unless another has that by then."""
        views = ((self._then, True), (self._now, False))
        others = [
            each
            for view, back in views
            for each in view.hierarchies()
            if each.name != was.name and (Ref(Kind.HIERARCHY, each.name) in self._objects) is back
        ]
        if all(each.precedence != was.precedence for each in others):
            return was, ""
        now = self._now.hierarchy(was.name)
        precedence = weakest(others) if now is None else now.precedence
        if precedence == was.precedence:
            return was, ""
        return replace(was, precedence=precedence), "its place in the order is taken"

    def _with_its_own(self, ref: Ref) -> Iterator[Ref]:
        """``ref`` with what belongs to it alone, then or now."""
        yield from self._with_root(ref)
        if isinstance(ref.key, str):
            for view in (self._then, self._now):
                yield from belongings(ref.kind, ref.key, view.workload)

    def _with_root(self, ref: Ref) -> Iterator[Ref]:
        """``ref``; for a hierarchy or a root group, the hierarchy with its roots then and now."""
        yield ref
        name = ref.key if ref.kind is Kind.HIERARCHY else self._rooted_in(ref)
        if isinstance(name, str):
            yield Ref(Kind.HIERARCHY, name)
            roots = (self._then.root(name), self._now.root(name))
            yield from (Ref(Kind.GROUP, root) for root in roots if root is not None)

    def _rooted_in(self, ref: Ref) -> str | None:
        """The hierarchy of which ``ref`` is the root group, then or now."""
        group = entity_of(self._then, ref) or entity_of(self._now, ref)
        return group.hierarchy if isinstance(group, Group) and group.parent is None else None

    def _hierarchy_that_came_or_went(self, top: GroupNumber) -> Iterator[Ref]:
        """A root group is there exactly while its hierarchy is."""
        ref = Ref(Kind.GROUP, top)
        came_or_went = (self._then.group(top) is None) != (self._now.group(top) is None)
        if came_or_went and self._rooted_in(ref) is not None:
            yield from self._with_root(ref)


def belongings(kind: Kind, name: str, workload: Workload) -> Iterator[Ref]:
    """What is taken back with an application or a namespace.

    Of an application its layers; of a namespace its applications, their layers, its assignments.
    """
    if kind not in (Kind.APPLICATION, Kind.NAMESPACE):
        return
    own = {name}
    if kind is Kind.NAMESPACE:
        applications = workload.applications.values()
        own = {each.name for each in applications if each.namespace == name}
        yield from (Ref(Kind.APPLICATION, each) for each in own)
        for assignment in workload.assignments.values():
            if assignment.choice.namespace == name:
                yield Ref(Kind.ASSIGNMENT, assignment.name)
    layers = workload.layers.values()
    yield from (Ref(Kind.LAYER, each.name) for each in layers if each.application in own)


def _grants_left(
    scope: Scope, touched: Iterable[Ref], then: FleetView, now: FleetView
) -> Iterator[str]:
    """That grants stay as they are, where the whole fleet goes back and some would differ."""
    if not isinstance(scope, Everything):
        return
    grants = (ref for ref in touched if ref.kind is Kind.GRANT)
    differ = sum(not same(entity_of(then, ref), entity_of(now, ref)) for ref in grants)
    if differ:
        verb = "differs" if differ == 1 else "differ"
        yield f"grants stay as they are: {differ:,} {verb}; revert one by name"


def _shown(ref: Ref, then: FleetView, now: FleetView) -> str:
    entity = entity_of(now, ref) or entity_of(then, ref)
    match entity:
        case Cluster(name=name):
            return f"cluster {name}"
        case Group(name=name, hierarchy=hierarchy):
            return f"group {name} of /{hierarchy}"
        case Namespace() | Application() | Assignment() | Prohibition() | Layer() | Policy():
            return called(ref)
        case _:
            return str(ref)
