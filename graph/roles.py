"""The role each command needs, and each kind of object to be changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graph.model.access import Role
from graph.model.command import (
    Batch,
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
from graph.model.ref import WORKLOAD, Kind
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
    WorkloadCommand,
)

ROLES: Mapping[type[Command], Role] = {
    CreateHierarchy: Role.ADMIN,
    UpdateHierarchy: Role.ADMIN,
    DeleteHierarchy: Role.ADMIN,
    DeclareLabel: Role.ADMIN,
    RemoveLabel: Role.ADMIN,
    GrantAccess: Role.ADMIN,
    RevokeAccess: Role.ADMIN,
    CreateGroup: Role.EDITOR,
    UpdateGroup: Role.EDITOR,
    RenameGroup: Role.EDITOR,
    MoveGroup: Role.EDITOR,
    DeleteGroup: Role.EDITOR,
    RegisterCluster: Role.EDITOR,
    UpdateCluster: Role.EDITOR,
    RetireCluster: Role.EDITOR,
    Join: Role.EDITOR,
    Leave: Role.EDITOR,
    SaveSelector: Role.EDITOR,
    DeleteSelector: Role.EDITOR,
    OrderHierarchies: Role.ADMIN,
    DefineNamespace: Role.OPERATOR,
    DeleteNamespace: Role.OPERATOR,
    DefineApplication: Role.EDITOR,
    DeleteApplication: Role.EDITOR,
    Assign: Role.EDITOR,
    Unassign: Role.EDITOR,
    Prohibit: Role.OPERATOR,
    LiftProhibition: Role.OPERATOR,
    SetLayer: Role.EDITOR,
    RemoveLayer: Role.EDITOR,
    SetPolicy: Role.OPERATOR,
    RemovePolicy: Role.OPERATOR,
}
"""The role each command needs; a revert needs what its changes need. A test holds it complete."""

_OF_KINDS: Mapping[Kind, Role] = {
    Kind.HIERARCHY: Role.ADMIN,
    Kind.LABEL_KEY: Role.ADMIN,
    Kind.GRANT: Role.ADMIN,
    Kind.NAMESPACE: Role.OPERATOR,
    Kind.PROHIBITION: Role.OPERATOR,
    Kind.POLICY: Role.OPERATOR,
}
"""The role that changing an object of a kind needs, where it is not an editor's."""


def role_for(command: Command) -> Role:
    """The role ``command`` needs."""
    if not isinstance(command, Revert):
        return ROLES[type(command)]
    return strongest(role_over(change.ref.kind) for change in command.changes)


def role_over(kind: Kind) -> Role:
    """The role that changing an object of ``kind`` needs."""
    return _OF_KINDS.get(kind, Role.EDITOR)


def roles_for(batch: Batch, *, inventory_only: bool = False) -> list[Role]:
    """The roles a batch needs; one that may declare label keys needs the role for that too."""
    commands = [each for each in batch.commands if not (inventory_only and is_of_workload(each))]
    declaring = [role_over(Kind.LABEL_KEY)] if batch.declare_labels else []
    return [*map(role_for, commands), *declaring]


def strongest(roles: Iterable[Role]) -> Role:
    """The strongest of ``roles``; an editor's if there are none, for changes need no less."""
    found = set(roles)
    return next((role for role in (Role.ADMIN, Role.OPERATOR) if role in found), Role.EDITOR)


def is_of_workload(command: Command) -> bool:
    """Whether ``command`` changes nothing but objects of the workload."""
    if isinstance(command, Revert):
        return all(change.ref.kind in WORKLOAD for change in command.changes)
    return isinstance(command, WorkloadCommand) and not isinstance(command, OrderHierarchies)
