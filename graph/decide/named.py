"""Which objects a command names: what ``expected_revision`` is about.

A path names every group on it: when one of them is renamed or moved, the same path may mean
another group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graph.model.change import Entity
from graph.model.command import (
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    DeleteGroup,
    DeleteHierarchy,
    DeleteSelector,
    GrantAccess,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RemoveLabel,
    RenameGroup,
    RetireCluster,
    Revert,
    RevokeAccess,
    SaveSelector,
    UpdateCluster,
    UpdateGroup,
    UpdateHierarchy,
)
from graph.model.errors import TrellisError
from graph.model.names import GroupNumber
from graph.model.ref import Kind, Ref
from graph.model.selector import Selector, Written, mentions
from graph.model.view import FleetView, entity_of, lineage
from graph.targeting.structured import read_selector


def named(command: Command, view: FleetView) -> Iterator[Entity]:
    """The existing objects a command names."""
    for ref in _refs(command, view):
        entity = entity_of(view, ref)
        if entity is not None:
            yield entity


def _refs(command: Command, view: FleetView) -> Iterator[Ref]:
    match command:
        case RegisterCluster(groups=paths, labels=labels):
            yield from (ref for path in paths for ref in _groups_on(view, path))
            yield from (Ref(Kind.LABEL_KEY, key) for key in labels)
        case Join(cluster, group) | Leave(cluster, group):
            yield from _cluster_ref(view, cluster)
            yield from _groups_on(view, group)
        case UpdateCluster(name=name, labels=labels):
            yield from _cluster_ref(view, name)
            yield from (Ref(Kind.LABEL_KEY, key) for key in labels)
        case RetireCluster(name):
            yield from _cluster_ref(view, name)
        case MoveGroup(path, parent):
            yield from _groups_on(view, path)
            yield from _groups_on(view, parent)
        case CreateGroup(path) | UpdateGroup(path) | RenameGroup(path) | DeleteGroup(path):
            yield from _groups_on(view, path)
        case SaveSelector(name, selector):
            yield Ref(Kind.SAVED_SELECTOR, name)
            yield from _named_in(selector, view)
        case GrantAccess(name=name, scope=scope):
            yield Ref(Kind.GRANT, name)
            yield from _named_in(scope, view)
        case Revert(changes=changes):
            yield from (change.ref for change in changes)
        case _:
            yield _name_ref(command)


def _name_ref(
    command: CreateHierarchy
    | UpdateHierarchy
    | DeleteHierarchy
    | DeclareLabel
    | RemoveLabel
    | DeleteSelector
    | RevokeAccess,
) -> Ref:
    match command:
        case DeclareLabel() | RemoveLabel():
            return Ref(Kind.LABEL_KEY, command.name)
        case DeleteSelector():
            return Ref(Kind.SAVED_SELECTOR, command.name)
        case RevokeAccess():
            return Ref(Kind.GRANT, command.name)
        case CreateHierarchy() | UpdateHierarchy() | DeleteHierarchy():
            return Ref(Kind.HIERARCHY, command.name)


def _cluster_ref(view: FleetView, name: str) -> Iterator[Ref]:
    number = view.cluster_number(name)
    if number is not None:
        yield Ref(Kind.CLUSTER, number)


def _groups_on(view: FleetView, path: str) -> Iterator[Ref]:
    """The groups along ``path``, as far as it leads."""
    names = iter(path.removeprefix("/").split("/"))
    at = view.root(next(names))
    while at is not None:
        yield Ref(Kind.GROUP, at)
        name = next(names, None)
        at = None if name is None else view.children(at).get(name)


def _named_in(selector: Written | Selector, view: FleetView) -> Iterator[Ref]:
    """What a selector names; as it is written groups are named by path."""
    if not isinstance(selector, str | Mapping):
        yield from mentions(selector)
        return
    try:
        found = mentions(read_selector(selector, view))
    except TrellisError:
        return  # it names what this batch makes, or the command itself will say so
    for ref in found:
        yield ref
        if ref.kind is Kind.GROUP:
            above = lineage(view, GroupNumber(int(ref.key)))
            yield from (Ref(Kind.GROUP, group.number) for group in above)
