"""Commands on groups. Only groups are renamed or moved, inside their hierarchy, never its root."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain

from graph.decide.lookup import existing_cluster, existing_group, find_group
from graph.decide.references import refuse_if_named
from graph.model.change import Change
from graph.model.command import CreateGroup, DeleteGroup, MoveGroup, RenameGroup, UpdateGroup
from graph.model.errors import Conflict, Invalid, Rejected
from graph.model.inventory import Cluster, Group
from graph.model.names import (
    GROUP_DEPTH_MAX,
    GroupNumber,
    Revision,
    check_name,
    check_text,
    counted,
    join_path,
    quoted,
    split_path,
)
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView, lineage, path_of, subtree


def create_group(command: CreateGroup, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The group, below a parent that exists."""
    segments = split_path(command.path)
    if len(segments) == 1:
        raise Invalid(
            f"{command.path} is the root of a hierarchy", hint="create the hierarchy instead"
        )
    parent = find_group(view, join_path(segments[:-1]), "path")
    _refuse_taken_name(view, parent, segments[-1])
    group = Group(
        number=view.numbers.group,
        hierarchy=parent.hierarchy,
        parent=parent.number,
        name=segments[-1],
        title=check_text(command.title, "the title"),
        changed=revision,
    )
    return (Change(None, group),)


def update_group(command: UpdateGroup, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The group with its new title."""
    before = find_group(view, command.path, "path")
    title = check_text(command.title, "the title")
    return (Change(before, replace(before, title=title, changed=revision)),)


def rename_group(command: RenameGroup, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The group under its new name; one change, whatever is below."""
    before = find_group(view, command.path, "path")
    name = check_name(command.name, "group")
    parent = _parent_of(view, before, "renamed")
    if name != before.name:
        _refuse_taken_name(view, parent, name)
    return (Change(before, replace(before, name=name, changed=revision)),)


def move_group(command: MoveGroup, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The group under its new parent; one change, whatever is below."""
    before = find_group(view, command.path, "path")
    _parent_of(view, before, "moved")
    parent = find_group(view, command.parent, "parent")
    if parent.hierarchy != before.hierarchy:
        raise Invalid(
            f"{command.path} cannot leave its hierarchy for {command.parent}",
            hint="create the group there and let clusters join it",
        )
    above = lineage(view, parent.number)
    if any(each.number == before.number for each in above):
        raise Rejected(
            f"{command.parent} lies in {command.path}: the move would form a cycle",
            hint="choose a parent outside the moved group",
        )
    if len(above) > len(lineage(view, before.number)) - 1:  # no path gets longer otherwise
        depth = len(above) + height(lambda each: view.children(each).values(), before.number)
        if depth > GROUP_DEPTH_MAX:
            raise Invalid(
                f"the move would make a path of {depth} levels",
                hint=f"use at most {GROUP_DEPTH_MAX}",
            )
    if parent.number != before.parent:
        _refuse_taken_name(view, parent, before.name)
    return (Change(before, replace(before, parent=parent.number, changed=revision)),)


def delete_group(command: DeleteGroup, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The group gone: empty, or with its subtree and the memberships in it."""
    group = find_group(view, command.path, "path")
    _parent_of(view, group, "deleted")
    gone = list(subtree(view, group.number))
    members = view.members(group.number)
    if not command.cascade and (len(gone) > 1 or members):
        raise Rejected(
            f"{command.path} holds {counted(len(gone) - 1, 'group')} "
            f"and {counted(len(members), 'cluster')}",
            hint="empty it first, or delete it with cascade: the clusters stay in the fleet "
            "and lose these memberships",
        )
    for number in gone:
        refuse_if_named(view, Ref(Kind.GROUP, number), path_of(view, number))
    lost = frozenset(gone)
    touched = [existing_cluster(view, number) for number in members]
    left = [Change(each, _without(each, lost, revision)) for each in touched]
    return (*left, *(Change(existing_group(view, number), None) for number in reversed(gone)))


def height(below: Callable[[GroupNumber], Iterable[GroupNumber]], number: GroupNumber) -> int:
    """Levels from the group down to its deepest descendant, itself included.

    ``below`` gives the groups right below one: those of a view, or those a revert would leave.
    """
    levels, row = 0, [number]
    while row:
        levels += 1
        row = list(chain.from_iterable(map(below, row)))
    return levels


def _without(cluster: Cluster, lost: frozenset[GroupNumber], revision: Revision) -> Cluster:
    kept = tuple(each for each in cluster.memberships if each not in lost)
    return replace(cluster, memberships=kept, changed=revision)


def _parent_of(view: FleetView, group: Group, done: str) -> Group:
    if group.parent is None:
        raise Invalid(
            f"/{group.name} is the root of its hierarchy and cannot be {done}",
            hint="a hierarchy's name is final; delete the hierarchy when it is empty",
        )
    return existing_group(view, group.parent)


def _refuse_taken_name(view: FleetView, parent: Group, name: str) -> None:
    if name in view.children(parent.number):
        raise Conflict(
            f"{path_of(view, parent.number)} has a group {quoted(name)} already",
            hint="choose another name",
        )
