"""Commands on hierarchies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from graph.decide.fields import check_list, in_field
from graph.decide.lookup import existing_group, find_hierarchy
from graph.decide.references import refuse_if_named
from graph.model.change import Change
from graph.model.command import UNSET, CreateHierarchy, DeleteHierarchy, UpdateHierarchy
from graph.model.errors import Conflict, Invalid, Rejected
from graph.model.inventory import Group, Hierarchy, Mode
from graph.model.names import (
    RESERVED_HIERARCHIES,
    ClusterNumber,
    Revision,
    check_name,
    check_text,
    counted,
    quoted,
)
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView, subtree
from graph.model.workload_command import OrderHierarchies


def create_hierarchy(
    command: CreateHierarchy, view: FleetView, revision: Revision
) -> tuple[Change, ...]:
    """The hierarchy and its root group."""
    name = check_name(command.name, "hierarchy")
    if name in RESERVED_HIERARCHIES:
        raise Invalid(
            f"{quoted(name)} cannot name a hierarchy",
            hint=f"/{name}/... has another meaning in selectors; choose a longer name",
        )
    if view.hierarchy(name) is not None:
        raise Conflict(f"hierarchy {quoted(name)} exists", hint="choose another name, or update it")
    hierarchy = Hierarchy(
        name=name,
        mode=command.mode,
        required=command.required,
        title=check_text(command.title, "the title"),
        precedence=weakest(view.hierarchies()),
        changed=revision,
    )
    root = Group(
        number=view.numbers.group, hierarchy=name, parent=None, name=name, changed=revision
    )
    return Change(None, hierarchy), Change(None, root)


def update_hierarchy(
    command: UpdateHierarchy, view: FleetView, revision: Revision
) -> tuple[Change, ...]:
    """The hierarchy with what the command states."""
    before = find_hierarchy(view, command.name, "name")
    after = replace(before, changed=revision)
    if command.title is not UNSET:
        after = replace(after, title=check_text(command.title, "the title"))
    if command.required is not UNSET:
        after = replace(after, required=command.required)
    if command.mode is not UNSET:
        if command.mode is Mode.SINGLE and before.mode is Mode.MANY:
            _refuse_if_any_has_two(view, before)
        after = replace(after, mode=command.mode)
    return (Change(before, after),)


def order_hierarchies(
    command: OrderHierarchies, view: FleetView, revision: Revision
) -> tuple[Change, ...]:
    """Every hierarchy in its place of the order that decides between layers on groups."""
    listed = in_field("names", check_list, command.names, "hierarchies")
    ordered = [find_hierarchy(view, each, "names", at) for at, each in enumerate(listed)]
    missing = [each.name for each in view.hierarchies() if each.name not in listed]
    if missing:
        raise Invalid(
            f"the order leaves out {', '.join(f'/{name}' for name in missing)}",
            hint="name every hierarchy, weakest first",
            path=("names",),
        )
    return tuple(
        Change(before, replace(before, precedence=place, changed=revision))
        for place, before in enumerate(ordered)
        if before.precedence != place
    )


def weakest(hierarchies: Iterable[Hierarchy]) -> int:
    """The precedence of a hierarchy that shall be weaker than all these."""
    return min((each.precedence for each in hierarchies), default=1) - 1


def delete_hierarchy(command: DeleteHierarchy, view: FleetView, _: Revision) -> tuple[Change, ...]:
    """The hierarchy and its root gone, if nothing is in them."""
    hierarchy = find_hierarchy(view, command.name, "name")
    root = view.root(hierarchy.name)
    assert root is not None, "a hierarchy has a root group"
    groups, members = len(view.children(root)), len(view.direct_members(root))
    if groups or members:
        raise Rejected(
            f"/{hierarchy.name} holds {counted(groups, 'group')} "
            f"and {counted(members, 'direct member')}",
            hint="delete its groups and let its members leave first",
        )
    refuse_if_named(view, Ref(Kind.GROUP, root), f"/{hierarchy.name}")
    return Change(existing_group(view, root), None), Change(hierarchy, None)


def with_two_places(view: FleetView, hierarchy: str) -> list[ClusterNumber]:
    """The clusters with more than one place in a hierarchy of this view."""
    root = view.root(hierarchy)
    assert root is not None, "a hierarchy has a root group"
    groups = frozenset(subtree(view, root))
    if sum(len(view.direct_members(each)) for each in groups) == len(view.members(root)):
        return []

    def has_two(number: ClusterNumber) -> bool:
        return sum(each in groups for each in view.memberships(number)) > 1

    return [number for number in view.members(root) if has_two(number)]


def _refuse_if_any_has_two(view: FleetView, hierarchy: Hierarchy) -> None:
    found = with_two_places(view, hierarchy.name)
    if found:
        raise Rejected(
            f"more than one place in /{hierarchy.name} for {counted(len(found), 'cluster')}",
            hint="let them leave all but one first",
            reasons=tuple(view.cluster_name(number) for number in found[:20]),
        )
