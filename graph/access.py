"""Who may: the grants of an actor folded into one scope per role, and the role a command needs.

A role held over the whole fleet has the scope ``all``; a role held nowhere has none. Roles include
each other, so the scope of a stronger role lies inside the scope of every weaker one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graph.model.access import Actor, Grant, Role
from graph.model.change import Change
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
from graph.model.errors import Denied
from graph.model.names import quoted
from graph.model.ref import Kind
from graph.model.selector import Everything, Selector
from graph.model.view import FleetView
from graph.targeting.normal import any_of


@dataclass(frozen=True, slots=True)
class Access:
    """What one actor may do, and over which clusters."""

    actor: Actor
    scopes: tuple[tuple[Role, Selector], ...]
    """Weakest role first; a role held nowhere is left out."""
    key: str
    """Equal keys read the same: part of every cache key. Not for people."""

    def scope(self, role: Role) -> Selector | None:
        """The clusters over which the actor has ``role``; None if over none."""
        return next((scope for each, scope in self.scopes if each is role), None)

    @property
    def reads_grants(self) -> bool:
        """Whether the actor may read who was granted what: an admin of the whole fleet may."""
        return isinstance(self.scope(Role.ADMIN), Everything)

    def need(self, role: Role) -> Selector:
        """As ``scope``, refused where there is none."""
        scope = self.scope(role)
        if scope is None:
            raise Denied(
                f"{quoted(self.actor.name)} has not got the role {role}",
                hint=f"ask an admin for a grant of {role}",
            )
        return scope


def access_of(actor: Actor, grants: Iterable[Grant]) -> Access:
    """What ``grants`` and the standing role give ``actor``."""
    mine = [grant for grant in grants if _is_for(grant, actor)]
    found = [(role, _scope(actor, mine, role)) for role in Role]
    scopes = tuple((role, scope) for role, scope in found if scope is not None)
    return Access(actor, scopes, _key(dict(scopes)))


def reader_scope(actor: Actor, view: FleetView) -> Selector | None:
    """What the grants of ``view`` let ``actor`` read; None if nothing.

    Of two revisions: whether the one who followed from there to here saw through one scope.
    """
    return access_of(actor, view.grants()).scope(Role.READER)


def _key(scopes: Mapping[Role, Selector]) -> str:
    """What a reader's answers depend on: the scope, and whether grants are among them."""
    grants = "grants of " if isinstance(scopes.get(Role.ADMIN), Everything) else ""
    return f"{grants}{scopes[Role.READER]!r}" if scopes else ""


def _is_for(grant: Grant, actor: Actor) -> bool:
    if grant.subject:
        return grant.subject == actor.name
    return bool(grant.claim) and grant.claim in actor.claims


def _scope(actor: Actor, grants: Iterable[Grant], role: Role) -> Selector | None:
    """The union, in an order that depends on nothing but the scopes."""
    if actor.standing is not None and actor.standing.includes(role):
        return Everything()
    scopes = {repr(grant.scope): grant.scope for grant in grants if grant.role.includes(role)}
    if not scopes:
        return None
    if repr(Everything()) in scopes:
        return Everything()
    return any_of(scopes[text] for text in sorted(scopes))


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
}
"""The role each command needs; a revert needs what its changes need. A test holds it complete."""

_OF_ADMINS = frozenset({Kind.HIERARCHY, Kind.LABEL_KEY, Kind.GRANT})


def role_for(command: Command) -> Role:
    """The role ``command`` needs."""
    if isinstance(command, Revert):
        return Role.ADMIN if any(map(_of_admins, command.changes)) else Role.EDITOR
    return ROLES[type(command)]


def _of_admins(change: Change) -> bool:
    return change.ref.kind in _OF_ADMINS
