"""Which objects a command names: what ``expected_revision`` is about."""

from __future__ import annotations

from collections.abc import Iterator

from graph.model.change import ref_of
from graph.model.command import (
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    DeleteGroup,
    DeleteHierarchy,
    DeleteSelector,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RemoveLabel,
    RenameGroup,
    Restore,
    RetireCluster,
    SaveSelector,
    UpdateCluster,
    UpdateGroup,
    UpdateHierarchy,
)
from graph.model.errors import Invalid
from graph.model.inventory import Entity
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView, entity_of, group_at


def named(command: Command, view: FleetView) -> Iterator[Entity]:
    """The existing objects a command names."""
    for ref in _refs(command, view):
        entity = entity_of(view, ref)
        if entity is not None:
            yield entity


def _refs(command: Command, view: FleetView) -> Iterator[Ref]:
    match command:
        case RegisterCluster(groups=paths):
            yield from (ref for path in paths for ref in _group_ref(view, path))
        case Join(cluster, group) | Leave(cluster, group):
            yield from _cluster_ref(view, cluster)
            yield from _group_ref(view, group)
        case UpdateCluster(name=name) | RetireCluster(name):
            yield from _cluster_ref(view, name)
        case MoveGroup(path, parent):
            yield from _group_ref(view, path)
            yield from _group_ref(view, parent)
        case CreateGroup(path=path):
            yield from _group_ref(view, path.rpartition("/")[0])
        case UpdateGroup(path=path) | RenameGroup(path=path) | DeleteGroup(path=path):
            yield from _group_ref(view, path)
        case Restore(entities=entities, absent=absent):
            yield from (ref_of(entity) for entity in entities)
            yield from absent
        case _:
            yield _name_ref(command)


def _name_ref(
    command: CreateHierarchy
    | UpdateHierarchy
    | DeleteHierarchy
    | DeclareLabel
    | RemoveLabel
    | SaveSelector
    | DeleteSelector,
) -> Ref:
    match command:
        case DeclareLabel() | RemoveLabel():
            return Ref(Kind.LABEL_KEY, command.name)
        case SaveSelector() | DeleteSelector():
            return Ref(Kind.SAVED_SELECTOR, command.name)
        case CreateHierarchy() | UpdateHierarchy() | DeleteHierarchy():
            return Ref(Kind.HIERARCHY, command.name)


def _cluster_ref(view: FleetView, name: str) -> Iterator[Ref]:
    number = view.cluster_number(name)
    if number is not None:
        yield Ref(Kind.CLUSTER, number)


def _group_ref(view: FleetView, path: str) -> Iterator[Ref]:
    try:
        number = group_at(view, path)
    except Invalid:
        return  # the command itself will say so, with its own words
    if number is not None:
        yield Ref(Kind.GROUP, number)
