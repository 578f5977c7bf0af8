"""Who may: the grants of an actor folded into scopes.

A role held over the whole fleet has the scope ``all``; a role held nowhere has none. Roles include
each other, so the scope of a stronger role lies inside the scope of every weaker one.

A grant that covers a part of the workload gives its role over that part, on the clusters of its
scope, and nothing of the inventory but to be seen: what one may change is asked with the part it
belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graph.model.access import Actor, Coverage, Grant, Role
from graph.model.change import Change, Entity
from graph.model.command import Batch
from graph.model.errors import Denied
from graph.model.names import quoted
from graph.model.ref import Kind
from graph.model.selector import Everything, Or, Selector
from graph.model.view import FleetView
from graph.model.workload import (
    Application,
    Assignment,
    Layer,
    Namespace,
    OfWorkload,
    Policy,
    Prohibition,
)
from graph.roles import is_of_workload, role_for, role_over
from graph.targeting.normal import any_of
from graph.targeting.sight import CoveredBesides

Part = tuple[str, str]
"""A part of the workload, as grants cover it: a namespace and one of its applications; the
namespace as such, without one; the whole workload, without either."""


@dataclass(frozen=True, slots=True)
class Covered:
    """A role over a part of the workload, on the clusters of a scope."""

    role: Role
    coverage: Coverage
    scope: Selector


@dataclass(frozen=True, slots=True)
class Access:
    """What one actor may do, over which clusters and which part of the workload."""

    actor: Actor
    scopes: tuple[tuple[Role, Selector], ...]
    """Over inventory and workload alike: weakest role first; one held nowhere is left out."""
    covered: tuple[Covered, ...]
    """Over a part of the workload only."""
    sight: Selector | None
    """The clusters the actor sees by any grant."""
    coverage: Coverage | None
    """The part of the workload the actor sees; None is all that reaches a cluster in sight."""
    key: str
    """Equal keys read the same: part of every cache key. Not for people."""

    def scope(self, role: Role) -> Selector | None:
        """The clusters over which the actor has ``role``; None if over none.

        A reader reads them, whatever of the workload is covered; who changes the inventory has the
        role without a coverage.
        """
        return self.sight if role is Role.READER else self._whole(role)

    def scope_for(self, role: Role, namespace: str, application: str = "") -> Selector | None:
        """The clusters over which the actor has ``role`` for an application.

        Without an application: for the namespace as such. Without either: for the whole workload,
        as fleet layers are of it.
        """
        fitting = (
            each.scope
            for each in self.covered
            if each.role.includes(role) and each.coverage.covers(namespace, application)
        )
        return _union((self._whole(role), *fitting))

    def covers(self, role: Role, namespace: str, application: str = "") -> bool:
        """Whether a grant of ``role`` names this part, so that it is theirs wherever it runs."""
        return any(
            each.role.includes(role) and each.coverage.covers(namespace, application)
            for each in self.covered
        )

    def holds(self, role: Role) -> bool:
        """Whether the actor has ``role`` over anything at all."""
        return self._whole(role) is not None or any(
            each.role.includes(role) for each in self.covered
        )

    @property
    def sees_all(self) -> bool:
        """Whether nothing of fleet and workload is hidden from the actor."""
        return isinstance(self.sight, Everything) and self.coverage is None

    @property
    def reads_grants(self) -> bool:
        """Whether the actor may read who was granted what: an admin of the whole fleet may."""
        return isinstance(self.scope(Role.ADMIN), Everything)

    def need(self, role: Role) -> Selector:
        """As ``scope``, refused where there is none."""
        scope = self.scope(role)
        if scope is None:
            raise self._in_part(role) if self.holds(role) else self._denied(role)
        return scope

    def need_everywhere(self, role: Role) -> None:
        """Refuse whoever has not got ``role`` over the whole fleet and all that runs on it."""
        if not isinstance(self.need(role), Everything):
            raise Denied(
                f"{quoted(self.actor.name)} has the role {role} for a part of the fleet only",
                hint=f"this takes a grant of {role} over everything; ask an admin for one",
            )

    def _whole(self, role: Role) -> Selector | None:
        return next((scope for each, scope in self.scopes if each is role), None)

    def _in_part(self, role: Role) -> Denied:
        return Denied(
            f"{quoted(self.actor.name)} has the role {role} for a part of the workload only",
            hint=f"this takes a grant of {role} that covers no part; ask an admin for one",
        )

    def _denied(self, role: Role) -> Denied:
        return Denied(
            f"{quoted(self.actor.name)} has not got the role {role}",
            hint=f"ask an admin for a grant of {role}",
        )


def access_of(actor: Actor, grants: Iterable[Grant]) -> Access:
    """What ``grants`` and the standing role give ``actor``."""
    whole: list[Grant] = []
    covered: list[Covered] = []
    for grant in grants:
        if _is_for(grant, actor):
            if grant.coverage is None:
                whole.append(grant)
            else:
                covered.append(Covered(grant.role, grant.coverage, grant.scope))
    found = [(role, _scope(actor, whole, role)) for role in Role]
    scopes = tuple((role, scope) for role, scope in found if scope is not None)
    reads = dict(scopes).get(Role.READER)
    sight = _union((reads, *(each.scope for each in covered)))
    coverage = None if sight == reads else _together(covered, reads)
    key = _key(dict(scopes), sight, coverage)
    return Access(actor, scopes, tuple(covered), sight, coverage, key)


def reader_scope(actor: Actor, view: FleetView) -> tuple[Selector | None, Coverage | None]:
    """What the grants of ``view`` let ``actor`` read: which clusters, and what of the workload.

    Of two revisions: whether the one who followed from there to here saw through one scope.
    """
    access = access_of(actor, view.grants())
    return access.sight, access.coverage


def _key(scopes: Mapping[Role, Selector], sight: Selector | None, coverage: Coverage | None) -> str:
    """What a reader's answers depend on: scope and coverage, and whether grants are among them."""
    if sight is None:
        return ""
    grants = "grants of " if isinstance(scopes.get(Role.ADMIN), Everything) else ""
    part = ""
    if coverage is not None:
        part = f"{sorted(coverage.namespaces)} and {sorted(coverage.applications)} on "
        if isinstance(coverage, CoveredBesides):
            part = f"all on {coverage.wholly!r} besides {part}"
    return f"{grants}{part}{sight!r}"


def _is_for(grant: Grant, actor: Actor) -> bool:
    if grant.subject:
        return grant.subject == actor.name
    return bool(grant.claim) and grant.claim in actor.claims


def _scope(actor: Actor, grants: Iterable[Grant], role: Role) -> Selector | None:
    if actor.standing is not None and actor.standing.includes(role):
        return Everything()
    return _union(grant.scope for grant in grants if grant.role.includes(role))


def _union(scopes: Iterable[Selector | None]) -> Selector | None:
    """What any of ``scopes`` chooses, in an order that depends on nothing but them."""
    by_text = {repr(part): part for scope in scopes if scope is not None for part in _parts(scope)}
    if not by_text:
        return None
    if repr(Everything()) in by_text:
        return Everything()
    return any_of(by_text[text] for text in sorted(by_text))


def _parts(scope: Selector) -> Iterable[Selector]:
    """The alternatives of a scope, so that unions of unions come out alike."""
    return scope.operands if isinstance(scope, Or) else (scope,)


def _together(covered: Iterable[Covered], wholly: Selector | None) -> Coverage:
    """What any grant covers; what is seen ``wholly`` stays so, whatever is granted besides."""
    covered = tuple(covered)
    namespaces = frozenset(name for each in covered for name in each.coverage.namespaces)
    applications = frozenset(name for each in covered for name in each.coverage.applications)
    if wholly is None:
        return Coverage(namespaces, applications)
    return CoveredBesides(namespaces, applications, wholly=wholly)


def refuse_without_role(access: Access, batch: Batch) -> None:
    """Refuse a command whose role its author holds over nothing that it could concern."""
    for position, command in enumerate(batch.commands):
        role = role_for(command)
        if is_of_workload(command) and access.holds(role):
            continue  # over a part of the workload, perhaps
        try:
            access.need(role)
        except Denied as refusal:
            raise refusal.at("commands", position) from None
    role = role_over(Kind.LABEL_KEY)
    if batch.declare_labels and access.scope(role) is None:
        raise Denied(
            f"letting a batch declare label keys needs the role {role}, "
            f"which {quoted(access.actor.name)} has not got",
            hint="use keys that are declared, or ask an admin to declare the new ones",
            path=("declare_labels",),
        )
    if batch.expected_loss is not None and not access.holds(Role.OPERATOR):
        raise Denied(  # whoever accepts a loss answers for it
            "stating an expected loss needs the role operator, "
            f"which {quoted(access.actor.name)} has not got",
            hint="leave it out, or ask an operator to make the change",
            path=("expected_loss",),
        )


def check_claims(changes: tuple[Change, ...], access: Access) -> tuple[Change, ...]:
    """``changes``, unless they give an application other cluster-scoped objects than it had.

    These lie outside every namespace, so that no grant over a part is one over them: it takes an
    admin of everything.
    """
    for change in () if isinstance(access.scope(Role.ADMIN), Everything) else changes:
        was, now = (_claims(each) for each in (change.before, change.after))
        if was != now:
            raise Denied(
                f"application {change.ref.key} would have other cluster-scoped objects,"
                " and they are an admin's to give and take",
                hint="leave them as they are, or ask an admin of everything to make the change",
            )
    return changes


def _claims(entity: Entity | None) -> tuple[str, ...]:
    return entity.cluster_scoped if isinstance(entity, Application) else ()


def parts_of(entity: OfWorkload, view: FleetView) -> tuple[Part, ...]:
    """The parts of the workload that ``entity`` of ``view`` is about: each must be covered.

    What is chosen by label may be any application, also one to come.
    """
    match entity:
        case Namespace(name=name):
            return ((name, ""),)
        case Application():
            return ((entity.namespace, entity.name),)
        case Assignment(choice=choice) | Prohibition(choice=choice):
            named = tuple(_part(name, view) for name in choice.applications)
            return named or ((choice.namespace, ""),)
        case Layer(application=name):
            return (_part(name, view),)
        case Policy(namespaces=names):
            return tuple((name, "") for name in names) or (("", ""),)


def _part(application: str, view: FleetView) -> Part:
    found = view.workload.applications.get(application)
    return ("" if found is None else found.namespace), application
