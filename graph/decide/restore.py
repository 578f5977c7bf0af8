"""Revert: part of the fleet back to what it was, as changes like any other.

Objects come back with the identity they had: a group that was deleted gets its own number again,
so what once named it means it still. ``plan_restore`` chooses what can come back and says what
cannot; ``decide_restore`` makes the changes and refuses if the fleet has moved on in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from graph.model.change import Change, ref_of, same
from graph.model.command import Restore
from graph.model.errors import Rejected
from graph.model.inventory import (
    Cluster,
    Entity,
    Group,
    Hierarchy,
    LabelKey,
    Mode,
    SavedSelector,
)
from graph.model.names import GROUP_DEPTH_MAX, GroupNumber, Revision, counted
from graph.model.ref import Kind, Ref
from graph.model.selector import Saved, clauses, mentions
from graph.model.view import FleetView, entity_of, subtree


@dataclass(frozen=True, slots=True)
class Everything:
    """The whole fleet."""


@dataclass(frozen=True, slots=True)
class Subtree:
    """A group, everything below it then or now, and the memberships in them."""

    group: GroupNumber


Scope = Ref | Subtree | Everything
"""What a revert takes back: one object, a subtree with its memberships, or everything."""


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """The command that takes the scope back, and what must be left, with the reason."""

    command: Restore
    left: tuple[str, ...]


def plan_restore(
    scope: Scope, then: FleetView, now: FleetView, touched: Iterable[Ref]
) -> RestorePlan:
    """What of ``scope`` can be as it was; ``touched`` is everything changed since ``then``."""
    wanted: dict[Ref, Entity | None] = {}
    left: list[str] = []
    for ref in _in_scope(scope, then, now, frozenset(touched)):
        state = _wanted(ref, scope, then, now, left)
        if not same(state, entity_of(now, ref)):
            wanted[ref] = state
    while True:
        after = _After(now, wanted)
        broken = {ref: why for ref in wanted if (why := after.why_not(ref))}
        if not broken:
            break
        for ref, why in broken.items():
            left.append(f"{_shown(ref, then, now)}: {why}")
            del wanted[ref]
    entities = tuple(state for state in wanted.values() if state is not None)
    absent = tuple(ref for ref, state in wanted.items() if state is None)
    command = Restore(then.cursor.revision, repr(scope), entities, absent)
    return RestorePlan(command, tuple(left))


def decide_restore(command: Restore, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The changes of a planned restore, if it still fits the fleet."""
    wanted: dict[Ref, Entity | None] = {ref_of(each): each for each in command.entities}
    wanted |= dict.fromkeys(command.absent)
    after = _After(view, wanted)
    reasons = [f"{ref}: {why}" for ref in wanted if (why := after.why_not(ref))]
    if reasons:
        raise Rejected(
            f"{counted(len(reasons), 'object')} cannot be as at revision {command.to:,}",
            hint="the fleet has changed meanwhile; preview the revert again",
            reasons=reasons,
        )
    return tuple(
        Change(entity_of(view, ref), None if state is None else replace(state, changed=revision))
        for ref, state in wanted.items()
    )


def _in_scope(scope: Scope, then: FleetView, now: FleetView, touched: frozenset[Ref]) -> list[Ref]:
    match scope:
        case Everything():
            return sorted(touched, key=str)
        case Ref():
            return [scope]
        case Subtree(group):
            places = _places(group, then) | _places(group, now)
            inside = [ref for ref in touched if ref.kind is Kind.GROUP and ref.key in places]
            moved = [
                ref
                for ref in touched
                if ref.kind is Kind.CLUSTER
                and any(_in_places(view, ref, places) for view in (then, now))
            ]
            return sorted((*inside, *moved), key=str)


def _places(group: GroupNumber, view: FleetView) -> frozenset[int]:
    return frozenset(subtree(view, group)) if view.group(group) is not None else frozenset()


def _in_places(view: FleetView, ref: Ref, places: frozenset[int]) -> bool:
    cluster = entity_of(view, ref)
    return isinstance(cluster, Cluster) and any(each in places for each in cluster.memberships)


def _wanted(
    ref: Ref, scope: Scope, then: FleetView, now: FleetView, left: list[str]
) -> Entity | None:
    """The state ``ref`` should have; under a subtree a cluster takes back only its memberships."""
    was, is_now = entity_of(then, ref), entity_of(now, ref)
    if isinstance(scope, Subtree) and ref.kind is Kind.CLUSTER:
        if not isinstance(is_now, Cluster) or not isinstance(was, Cluster):
            left.append(f"{_shown(ref, then, now)}: it was registered or retired since")
            return is_now
        places = _places(scope.group, then) | _places(scope.group, now)
        inside = {each for each in was.memberships if each in places}
        outside = {each for each in is_now.memberships if each not in places}
        return replace(is_now, memberships=tuple(sorted(inside | outside)))
    if isinstance(scope, Ref) and isinstance(was, Cluster):
        kept = tuple(each for each in was.memberships if now.group(each) is not None)
        if lost := len(was.memberships) - len(kept):
            left.append(f"{_shown(ref, then, now)}: {lost:,} of its groups are gone")
        return replace(was, memberships=kept)
    return was


def _shown(ref: Ref, then: FleetView, now: FleetView) -> str:
    entity = entity_of(now, ref) or entity_of(then, ref)
    match entity:
        case Cluster(name=name):
            return f"cluster {name}"
        case Group(name=name, hierarchy=hierarchy):
            return f"group {name} of /{hierarchy}"
        case _:
            return str(ref)


class _After:
    """The fleet as it would be: ``view`` with ``wanted`` put over it. Only looks, never builds."""

    def __init__(self, view: FleetView, wanted: Mapping[Ref, Entity | None]) -> None:
        self._view = view
        self._wanted = wanted
        self._wanted_below: dict[GroupNumber | None, list[Ref]] = {}
        for ref, state in wanted.items():
            if isinstance(state, Group):
                self._wanted_below.setdefault(state.parent, []).append(ref)

    def get(self, ref: Ref) -> Entity | None:
        return self._wanted[ref] if ref in self._wanted else entity_of(self._view, ref)

    def why_not(self, ref: Ref) -> str:
        """Why ``ref`` cannot be as wanted; empty if it can."""
        match self._wanted[ref]:
            case Group() as group:
                return self._why_not_group(group)
            case Cluster() as cluster:
                return self._why_not_cluster(cluster)
            case LabelKey() as key:
                now = self._view.label_key(key.name)
                return "" if now is None or now.type is key.type else "its type has changed"
            case SavedSelector() as saved:
                return self._why_not_saved(saved)
            case Hierarchy() as hierarchy:
                return self._why_not_hierarchy(hierarchy)
            case None:
                return self._why_not_absent(ref)

    def _why_not_group(self, group: Group) -> str:
        if self.get(Ref(Kind.HIERARCHY, group.hierarchy)) is None:
            return "its hierarchy is gone"
        at, depth = group, 1
        while at.parent is not None:
            above = self.get(Ref(Kind.GROUP, at.parent))
            if not isinstance(above, Group):
                return "a group above it is gone"
            if above.number == group.number:
                return "it would lie in itself"
            at, depth = above, depth + 1
            if depth > GROUP_DEPTH_MAX:
                return "it would lie in itself or too deep"
        return "its name is taken" if self._name_is_taken(group) else ""

    def _name_is_taken(self, group: Group) -> bool:
        if group.parent is None:
            root = self._view.root(group.hierarchy)
            return root is not None and root != group.number
        siblings = self._children(group.parent)
        return any(each.name == group.name and each.number != group.number for each in siblings)

    def _children(self, parent: GroupNumber) -> list[Group]:
        there = self._view.children(parent).values() if self._view.group(parent) else ()
        refs = {Ref(Kind.GROUP, number) for number in there}
        refs.update(self._wanted_below.get(parent, ()))
        states = [self.get(ref) for ref in refs]
        return [each for each in states if isinstance(each, Group) and each.parent == parent]

    def _why_not_cluster(self, cluster: Cluster) -> str:
        holder = self._view.cluster_number(cluster.name)
        if holder not in (None, cluster.number) and self.get(Ref(Kind.CLUSTER, int(holder or 0))):
            return "its name is taken"
        places: set[str] = set()
        for number in cluster.memberships:
            group = self.get(Ref(Kind.GROUP, number))
            if not isinstance(group, Group):
                return "a group it was in is gone"
            hierarchy = self.get(Ref(Kind.HIERARCHY, group.hierarchy))
            single = isinstance(hierarchy, Hierarchy) and hierarchy.mode is Mode.SINGLE
            if single and group.hierarchy in places:
                return f"/{group.hierarchy} allows one place now"
            places.add(group.hierarchy)
        for name in cluster.labels:
            if self.get(Ref(Kind.LABEL_KEY, name)) is None:
                return f"label key {name} is gone"
        return ""

    def _why_not_saved(self, saved: SavedSelector) -> str:
        for ref in mentions(saved.selector):
            if self.get(ref) is None:
                return f"{ref} is gone"
        seen: set[str] = set()
        waiting = [saved]
        while waiting:
            for clause in clauses(waiting.pop().selector):
                if isinstance(clause, Saved) and clause.name not in seen:
                    if clause.name == saved.name:
                        return "it would select through itself"
                    seen.add(clause.name)
                    below = self.get(Ref(Kind.SAVED_SELECTOR, clause.name))
                    if isinstance(below, SavedSelector):
                        waiting.append(below)
        return ""

    def _why_not_hierarchy(self, hierarchy: Hierarchy) -> str:
        now = self._view.hierarchy(hierarchy.name)
        if now is None or hierarchy.mode is now.mode or hierarchy.mode is Mode.MANY:
            return ""
        root = self._view.root(hierarchy.name)
        groups = frozenset(subtree(self._view, root)) if root is not None else frozenset[int]()
        for number in self._view.members(root) if root is not None else ():
            state = self.get(Ref(Kind.CLUSTER, number))
            if isinstance(state, Cluster) and sum(g in groups for g in state.memberships) > 1:
                return f"cluster {state.name} has two places in it"
        return ""

    def _why_not_absent(self, ref: Ref) -> str:
        for name in sorted(self._view.mentioned_by(ref)):
            saved = self.get(Ref(Kind.SAVED_SELECTOR, name))
            if isinstance(saved, SavedSelector) and ref in mentions(saved.selector):
                return f"@{name} names it"
        match ref.kind, ref.key:
            case Kind.GROUP, int(number):
                return self._why_not_empty(GroupNumber(number))
            case Kind.LABEL_KEY, str(name):
                holders = self._view.labelled(name)
                if any(self._has_label(holder, name) for holder in holders):
                    return "clusters use it"
            case Kind.HIERARCHY, str(name):
                root = self._view.root(name)
                if root is not None and self.get(Ref(Kind.GROUP, root)) is not None:
                    return "it has groups"
            case _:
                pass
        return ""

    def _has_label(self, number: int, name: str) -> bool:
        state = self.get(Ref(Kind.CLUSTER, number))
        return isinstance(state, Cluster) and name in state.labels

    def _why_not_empty(self, number: GroupNumber) -> str:
        if self._children(number):
            return "it has groups that were not there then"
        for member in self._view.direct_members(number) if self._view.group(number) else ():
            state = self.get(Ref(Kind.CLUSTER, member))
            if isinstance(state, Cluster) and number in state.memberships:
                return "it has members that were not there then"
        return ""
