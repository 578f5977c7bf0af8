"""The fleet a revert would leave behind, and why an object cannot be in it as it was.

Only looks, never builds: the states a revert wants lie over the view. What every fleet satisfies is
asked of each wanted state, and whatever is wrong is blamed on a wanted state, never on one that
stays: without any of them the fleet is as it is now, which is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graph.decide.clusters import MEMBERSHIPS_MAX, second_place
from graph.decide.groups import height
from graph.decide.hierarchies import with_two_places
from graph.decide.imagined import overlaid, why_not_workload
from graph.decide.references import by_kind, called
from graph.decide.selectors import fits
from graph.model.access import Grant
from graph.model.change import Entity
from graph.model.inventory import (
    Cluster,
    Group,
    Hierarchy,
    LabelKey,
    LabelValue,
    Mode,
    SavedSelector,
)
from graph.model.label import type_of
from graph.model.names import GROUP_DEPTH_MAX, GroupNumber
from graph.model.ref import Kind, Ref
from graph.model.referring import named_in, selector_of
from graph.model.selector import HasLabel, LabelIn, LabelIs, Saved, Selector, clauses
from graph.model.view import FleetView, entity_of
from graph.model.workload import OfWorkload, Workload
from graph.targeting.cycles import reaches

States = Mapping[Ref, Entity | None]
"""What objects should be; None stands for absence."""


class Outcome:
    """``view`` with the ``wanted`` states put over it."""

    def __init__(self, view: FleetView, wanted: States) -> None:
        self.view = view
        self._wanted = wanted
        self.workload: Workload = overlaid(view.workload, wanted)
        """The workload as it will be."""
        self._below: dict[GroupNumber | None, list[Group]] = {}
        self._at: dict[tuple[GroupNumber | None, str], int] = {}
        for state in wanted.values():
            if isinstance(state, Group):
                self._below.setdefault(state.parent, []).append(state)
                place = (state.parent, state.name)
                self._at[place] = self._at.get(place, 0) + 1

    def get(self, ref: Ref) -> Entity | None:
        """The object as it will be."""
        return self._wanted[ref] if ref in self._wanted else entity_of(self.view, ref)

    def group(self, number: GroupNumber) -> Group | None:
        """The group as it will be."""
        state = self.get(Ref(Kind.GROUP, number))
        return state if isinstance(state, Group) else None

    def hierarchy(self, name: str) -> Hierarchy | None:
        """The hierarchy as it will be."""
        state = self.get(Ref(Kind.HIERARCHY, name))
        return state if isinstance(state, Hierarchy) else None

    def label_key(self, name: str) -> LabelKey | None:
        """The label key as it will be."""
        state = self.get(Ref(Kind.LABEL_KEY, name))
        return state if isinstance(state, LabelKey) else None

    def saved_selector(self, name: str) -> SavedSelector | None:
        """The saved selector as it will be."""
        state = self.get(Ref(Kind.SAVED_SELECTOR, name))
        return state if isinstance(state, SavedSelector) else None

    def why_not(self, ref: Ref) -> str:
        """Why ``ref`` cannot be as wanted; empty if it can."""
        match self._wanted[ref]:
            case Group() as group:
                return self._why_not_group(group)
            case Cluster() as cluster:
                return self._why_not_cluster(cluster)
            case LabelKey() as key:
                return self._why_not_label_key(key)
            case Hierarchy() as hierarchy:
                return self._why_not_hierarchy(hierarchy)
            case None:
                return self._why_not_absent(ref)
            case stored:
                return self._why_not_stored(stored)

    # groups and hierarchies

    def _why_not_group(self, group: Group) -> str:
        if self.hierarchy(group.hierarchy) is None:
            return "its hierarchy is gone"
        at, depth = group, 1
        while at.parent is not None:
            above = self.group(at.parent)
            if above is None:
                return "a group above it is gone"
            if above.number == group.number or depth > GROUP_DEPTH_MAX:
                return "it would lie in itself or too deep"
            at, depth = above, depth + 1
        if self._name_is_taken(group):
            return "its name is taken"
        return self._why_not_that_deep(group, depth)

    def _why_not_that_deep(self, group: Group, depth: int) -> str:
        """A path can only be too deep below a group that takes another parent."""
        now = self.view.group(group.number)
        if now is not None and now.parent == group.parent:
            return ""
        levels = depth - 1 + height(self._children, group.number)
        return f"{levels} levels would be too deep" if levels > GROUP_DEPTH_MAX else ""

    def _name_is_taken(self, group: Group) -> bool:
        parent = group.parent
        if self._at[parent, group.name] > 1:
            return True
        if parent is None:
            holder = self.view.root(group.hierarchy)
        else:
            holder = self.view.children(parent).get(group.name)
        if holder is None or holder == group.number:
            return False
        state = self.group(holder)
        return state is not None and (state.parent, state.name) == (parent, group.name)

    def _children(self, parent: GroupNumber) -> Iterator[GroupNumber]:
        """Groups right below ``parent`` as it will be."""
        for number in self.view.children(parent).values():
            if Ref(Kind.GROUP, number) not in self._wanted:
                yield number
        yield from (group.number for group in self._below.get(parent, ()))

    def _root(self, hierarchy: str) -> GroupNumber | None:
        for group in self._below.get(None, ()):
            if group.hierarchy == hierarchy:
                return group.number
        now = self.view.root(hierarchy)
        return now if now is not None and self.group(now) is not None else None

    def _is_rootless(self, hierarchy: str) -> bool:
        return self.hierarchy(hierarchy) is not None and self._root(hierarchy) is None

    def _why_not_hierarchy(self, hierarchy: Hierarchy) -> str:
        if self._is_rootless(hierarchy.name):
            return "it would have no root group"
        now = self.view.hierarchy(hierarchy.name)
        if now is not None and now.mode is Mode.MANY and hierarchy.mode is Mode.SINGLE:
            for number in with_two_places(self.view, hierarchy.name):
                state = self.get(Ref(Kind.CLUSTER, number))
                if isinstance(state, Cluster) and self._place_too_many(state) is not None:
                    return f"cluster {state.name} has two places in it"
        return ""

    # clusters and labels

    def _why_not_cluster(self, cluster: Cluster) -> str:
        holder = self.view.cluster_number(cluster.name)
        if (
            holder is not None
            and holder != cluster.number
            and self.get(Ref(Kind.CLUSTER, holder)) is not None
        ):
            return "its name is taken"
        if any(self.group(number) is None for number in cluster.memberships):
            return "a group it was in is gone"
        if (place := self._place_too_many(cluster)) is not None:
            return f"/{place.hierarchy} allows one place now"
        if len(cluster.memberships) > MEMBERSHIPS_MAX:
            return f"{len(cluster.memberships):,} memberships are too many"
        return self._why_not_labels(cluster)

    def _place_too_many(self, cluster: Cluster) -> Group | None:
        groups = [self.group(number) for number in cluster.memberships]
        found = second_place((each for each in groups if each is not None), self.hierarchy)
        return None if found is None else found[1]

    def _why_not_labels(self, cluster: Cluster) -> str:
        for name, value in cluster.labels.items():
            key = self.label_key(name)
            if key is None:
                return f"label key {name} is gone"
            if type_of(value) is not key.type:
                return f"label {name} is a {key.type} now"
        return ""

    def _why_not_label_key(self, key: LabelKey) -> str:
        now = self.view.label_key(key.name)
        if now is None or now.type is key.type:
            return ""
        if any(type_of(value) is not key.type for value in self._values(key.name)):
            return f"clusters use it as a {now.type}"
        for name, state in self._naming(Ref(Kind.LABEL_KEY, key.name)):
            selector = selector_of(state)
            if selector is not None and self._misfit(selector):
                return f"{name} uses it as a {now.type}"
        return ""

    def _values(self, key: str) -> Iterator[LabelValue]:
        """The values of a label on the clusters that have it now, as they will be."""
        for number in self.view.labelled(key):
            state = self.get(Ref(Kind.CLUSTER, number))
            if isinstance(state, Cluster) and key in state.labels:
                yield state.labels[key]

    # what names others: saved selectors, grants, the workload

    def _why_not_stored(self, stored: SavedSelector | Grant | OfWorkload) -> str:
        for ref in sorted(named_in(stored), key=str):
            if self.get(ref) is None:
                return f"{ref} is gone"
        selector = selector_of(stored)
        if selector is not None and (misfit := self._misfit(selector)):
            return f"label {misfit} has another type now"
        if isinstance(stored, SavedSelector):
            chain = reaches(stored.selector, Saved(stored.name), self)
            return "" if chain is None else "it would select through itself"
        if isinstance(stored, Grant):
            return ""
        return why_not_workload(stored, self.view.workload, self)

    def _misfit(self, selector: Selector) -> str:
        """A label key whose type the selector does not fit."""
        for clause in clauses(selector):
            if isinstance(clause, LabelIs | LabelIn | HasLabel):
                key = self.label_key(clause.key)
                if key is not None and not fits(clause, key):
                    return key.name
        return ""

    def _naming(self, ref: Ref) -> Iterator[tuple[str, Entity]]:
        """The objects that name ``ref`` now and still will, with what people call them."""
        for referrer in by_kind(self.view.referrers(ref)):
            state = self.get(referrer)
            if state is not None and ref in named_in(state):
                yield called(referrer), state

    # absence

    def _why_not_absent(self, ref: Ref) -> str:
        for name, _ in self._naming(ref):
            return f"{name} names it"
        match ref.kind, ref.key:
            case Kind.GROUP, int(number):
                return self._why_not_without_group(GroupNumber(number))
            case Kind.LABEL_KEY, str(name):
                return "clusters use it" if any(True for _ in self._values(name)) else ""
            case Kind.HIERARCHY, str(name):
                return "it has groups" if self._root(name) is not None else ""
            case _:
                return ""

    def _why_not_without_group(self, number: GroupNumber) -> str:
        now = self.view.group(number)
        if now is None:
            return ""
        if now.parent is None and self._is_rootless(now.hierarchy):
            return "its hierarchy would have no root group"
        if any(True for _ in self._children(number)):
            return "it has groups that were not there then"
        for member in self.view.direct_members(number):
            state = self.get(Ref(Kind.CLUSTER, member))
            if isinstance(state, Cluster) and number in state.memberships:
                return "it has members that were not there then"
        return ""
