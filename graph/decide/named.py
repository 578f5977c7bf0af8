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
from graph.model.referring import labels_in
from graph.model.selector import Selector, Written, mentions
from graph.model.view import FleetView, entity_of, lineage
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    DeleteApplication,
    DeleteNamespace,
    LiftProhibition,
    OrderHierarchies,
    Prohibit,
    RemoveLayer,
    RemovePolicy,
    SetLayer,
    SetPolicy,
    Unassign,
)
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
            yield from (Ref(Kind.NAMESPACE, each) for each in command.namespaces)
            yield from (Ref(Kind.APPLICATION, each) for each in command.applications)
        case Revert(changes=changes):
            yield from (change.ref for change in changes)
        case (
            DefineNamespace()
            | DefineApplication()
            | Assign()
            | Prohibit()
            | SetLayer()
            | SetPolicy()
            | OrderHierarchies()
        ):
            yield from _of_workload(command, view)
        case _:
            yield _name_ref(command)


def _of_workload(
    command: DefineNamespace
    | DefineApplication
    | Assign
    | Prohibit
    | SetLayer
    | SetPolicy
    | OrderHierarchies,
    view: FleetView,
) -> Iterator[Ref]:
    """What a definition of the workload names: itself, by name, and with its selector."""
    match command:
        case OrderHierarchies(names):
            yield from (Ref(Kind.HIERARCHY, name) for name in names)
        case DefineNamespace(name):
            yield Ref(Kind.NAMESPACE, name)
        case DefineApplication(name=name, namespace=namespace, requires=requires):
            yield Ref(Kind.APPLICATION, name)
            yield Ref(Kind.NAMESPACE, namespace)
            yield from (Ref(Kind.APPLICATION, each) for each in command.depends_on)
            for late in command.late_bound:
                yield from (Ref(Kind.LABEL_KEY, key) for key in labels_in(late))
            yield from _named_in(requires, view)
        case Assign(name, choice, selector) | Prohibit(name, choice, selector):
            kind = Kind.ASSIGNMENT if isinstance(command, Assign) else Kind.PROHIBITION
            yield Ref(kind, name)
            yield Ref(Kind.NAMESPACE, choice.namespace)
            yield from (Ref(Kind.APPLICATION, each) for each in choice.applications)
            yield from _named_in(selector, view)
        case SetLayer(name=name, selector=selector, application=application):
            yield Ref(Kind.LAYER, name)
            yield Ref(Kind.APPLICATION, application)
            yield from _named_in(selector, view)
        case SetPolicy(name=name, namespaces=namespaces, selector=selector):
            yield Ref(Kind.POLICY, name)
            yield from (Ref(Kind.NAMESPACE, each) for each in namespaces)
            yield from _named_in(selector, view)


def _name_ref(
    command: CreateHierarchy
    | UpdateHierarchy
    | DeleteHierarchy
    | DeclareLabel
    | RemoveLabel
    | DeleteSelector
    | RevokeAccess
    | DeleteNamespace
    | DeleteApplication
    | Unassign
    | LiftProhibition
    | RemoveLayer
    | RemovePolicy,
) -> Ref:
    return Ref(_KINDS[type(command)], command.name)


_KINDS: Mapping[type[Command], Kind] = {
    CreateHierarchy: Kind.HIERARCHY,
    UpdateHierarchy: Kind.HIERARCHY,
    DeleteHierarchy: Kind.HIERARCHY,
    DeclareLabel: Kind.LABEL_KEY,
    RemoveLabel: Kind.LABEL_KEY,
    DeleteSelector: Kind.SAVED_SELECTOR,
    RevokeAccess: Kind.GRANT,
    DeleteNamespace: Kind.NAMESPACE,
    DeleteApplication: Kind.APPLICATION,
    Unassign: Kind.ASSIGNMENT,
    LiftProhibition: Kind.PROHIBITION,
    RemoveLayer: Kind.LAYER,
    RemovePolicy: Kind.POLICY,
}
"""What the commands that name one object and nothing else name."""


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


def _named_in(selector: Written | Selector | None, view: FleetView) -> Iterator[Ref]:
    """What a selector names; as it is written groups are named by path."""
    if selector is None:
        return
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
