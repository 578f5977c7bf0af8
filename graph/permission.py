"""What an actor may change: a batch decided under the scopes of the roles it needs.

Whoever has the role over the whole fleet is decided for as if there were no access. Under a scope
a batch must pass four times, in this order:

P1  Decided on what its author may see, so that a refusal speaks of nothing else. That may be more
    than what they may change.
P2  Decided on the whole fleet. What is refused only there is refused without a reason.
P3  As far as the author sees, every object it changes lies inside the scope of the role before and
    after, with every cluster that the object concerns: a group's members, the users of a label
    key, the clusters an application or a namespace is assigned to. A stored selector must lie
    inside by what it says, not by what it finds; otherwise storing one would be a way to search
    the fleet. A refusal may name the object.
P4  And so on the whole fleet, where a refusal names nothing.

An object of the workload is asked about with every part it is about: grants that cover a part give
their role over that alone, and nothing of the inventory. A part that a grant names is its holder's
also where it runs nowhere yet; a new namespace takes a role over everything. Names in an object
that its author does not see stay in it.

What an application has outside any namespace concerns the whole fleet, and takes an admin of it.

P4 bounds the impact too: a saved selector's answer moves only by clusters that a changed object
concerns. What it does to applications is judged by ``graph.consequence``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from graph.access import (
    Access,
    Part,
    check_claims,
    parts_of,
    refuse_without_role,
)
from graph.decide.batch import decide_batch
from graph.decide.revert import Everything as RevertEverything
from graph.decide.revert import Parts, RevertPlan, Scope, plan_revert
from graph.index.builder import edit
from graph.index.snapshot import Snapshot
from graph.model.access import Grant, Role
from graph.model.change import Change, Entity, ref_of
from graph.model.cluster_set import ClusterSet
from graph.model.command import Batch, Revert
from graph.model.errors import Conflict, Denied, TrellisError
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, SavedSelector
from graph.model.ref import WORKLOAD, Kind, Ref
from graph.model.selector import Everything, InNamespace, Selector
from graph.model.view import FleetDraft, FleetView, entity_of, path_of, subtree
from graph.model.workload import Application, Namespace, OfWorkload, Policy
from graph.model.workload_command import DefineNamespace
from graph.rehearsal import Rehearsal, uncovers
from graph.roles import role_over, roles_for, strongest
from graph.scoped import ScopedView, outside_scope
from graph.targeting.evaluate import evaluate
from graph.targeting.narrower import lies_within
from graph.targeting.trim import dispensable


def decide_for(
    access: Access | None,
    batch: Batch,
    base: FleetView,
    draft: FleetDraft,
    rehearse_on: Callable[[], FleetDraft],
) -> tuple[Change, ...]:
    """As ``decide_batch``, for an actor; None is a trusted caller.

    ``rehearse_on`` makes another draft of ``base``.
    """
    if access is None:
        return decide_batch(batch, base, draft)
    refuse_without_role(access, batch)
    if isinstance(access.scope(strongest(roles_for(batch))), Everything):
        return check_claims(decide_batch(batch, base, draft), access)
    if access.sees_all:
        _refuse_new_namespaces(batch, base)
        changes = decide_batch(batch, base, draft)
        _check_inside(changes, _sides(access, batch, base, draft))
        return check_claims(changes, access)
    sight, coverage = access.need(Role.READER), access.coverage
    seen = ScopedView(base, sight, covered=coverage)
    _refuse_new_namespaces(batch, seen)
    changes = _decide_unseen(batch, seen, draft, rehearse_on)
    _refuse_dropped_names(changes, seen)
    then = ScopedView(draft, sight, covered=coverage)
    named = not uncovers(changes, seen, then)
    _check_inside(changes, _sides(access, batch, seen, then), named=named)
    _check_inside(changes, _sides(access, batch, base, draft), named=False)
    return check_claims(changes, access)


def _refuse_new_namespaces(batch: Batch, seen: FleetView) -> None:
    """Before anything is looked up: a name that is taken out of sight is refused alike."""
    for position, command in enumerate(batch.commands):
        if isinstance(command, DefineNamespace) and command.name not in seen.workload.namespaces:
            raise Denied(
                "a new namespace takes an operator of everything",
                hint="ask one to define it, and an admin for a grant that covers it",
            ).at("commands", position)


def _decide_unseen(
    batch: Batch, seen: ScopedView, draft: FleetDraft, rehearse_on: Callable[[], FleetDraft]
) -> tuple[Change, ...]:
    """What ``batch`` changes, for an author who sees a part of the fleet (P1, P2)."""
    reverts = [command for command in batch.commands if isinstance(command, Revert)]
    if reverts:
        _check_reverts(reverts, seen)
    else:
        decide_batch(batch, seen, Rehearsal(seen, rehearse_on()))
    try:
        return decide_batch(batch, seen.base, draft)
    except TrellisError as refusal:
        if isinstance(refusal, Conflict) and len(reverts) == len(batch.commands):
            raise  # one of the objects just checked has changed since the revert was planned
        raise outside_scope() from None


def _check_reverts(reverts: Iterable[Revert], before: ScopedView) -> None:
    """A revert was planned on the whole fleet: its author must see each of its objects."""
    for change in (change for revert in reverts for change in revert.changes):
        if change.before is not None and entity_of(before, change.ref) is None:
            raise outside_scope()


def _refuse_dropped_names(changes: Iterable[Change], seen: FleetView) -> None:
    """Refuse to write anew what names something its author could not write."""
    for change in changes:
        was, now = change.before, change.after
        if not isinstance(was, OfWorkload) or not isinstance(now, OfWorkload):
            continue
        dropped = dispensable(was) - dispensable(now)
        if any(entity_of(seen, ref) is None for ref in dropped):
            noun = f"{change.ref.kind} {change.ref.key}"
            raise Denied(
                f"{noun} names something you do not see, which this would take out of it",
                hint="ask somebody who sees it to make the change, or an admin for a grant",
            )


# inside

OfInventory = Hierarchy | Group | LabelKey | Cluster | SavedSelector | Grant
"""What no grant can cover a part of."""


class _Side:
    """A view before or after, and what of it an actor may change."""

    def __init__(self, access: Access, inventory: Role, view: FleetView) -> None:
        self.view = view
        self.access = access
        self._inventory = inventory
        self._through: dict[Selector, ScopedView] = {}

    def inventory(self) -> ScopedView | None:
        """The fleet as far as the actor may change its inventory; None if nowhere."""
        return self._scoped(self.access.scope(self._inventory))

    def part(self, role: Role, part: Part) -> ScopedView | None:
        """Likewise for a part of the workload."""
        return self._scoped(self.access.scope_for(role, *part))

    def _scoped(self, scope: Selector | None) -> ScopedView | None:
        if scope is not None and scope not in self._through:
            self._through[scope] = ScopedView(self.view, scope)
        return None if scope is None else self._through[scope]


def _sides(access: Access, batch: Batch, *views: FleetView) -> list[_Side]:
    """Before and after, for the strongest role that a command on the inventory needs."""
    roles = roles_for(batch, inventory_only=True)
    return [_Side(access, strongest(roles), view) for view in views]


def _check_inside(changes: Sequence[Change], sides: Sequence[_Side], *, named: bool = True) -> None:
    """Refuse what is not its author's to change before and after, with its name or without."""
    try:
        # label keys last: whether a cluster is the first to use one tells of the others
        for change in sorted(changes, key=lambda each: each.ref.kind is Kind.LABEL_KEY):
            _check_change(change, *sides)
    except Denied:
        if named:
            raise
        raise outside_scope() from None


def _check_change(change: Change, before: _Side, after: _Side) -> None:
    for entity, side in ((change.before, before), (change.after, after)):
        if entity is not None and not _is_inside(entity, side):
            raise _outside(entity, side.view)
    hidden = _not_theirs_either(change, before)
    if hidden is not None:
        raise _outside(hidden, before.view)


def _not_theirs_either(change: Change, before: _Side) -> Entity | None:
    """What else a change concerns, and is not its author's."""
    match change:
        case Change(Group() as was, Group() as now):
            view = before.inventory()
            return None if view is None else _taken_along(was, now, view)
        case Change(None, Namespace() as made):
            role = role_over(Kind.NAMESPACE)
            return None if isinstance(before.access.scope(role), Everything) else made
        case _:
            return None


def _outside(entity: Entity, seen: FleetView) -> Denied:
    """The refusal to change ``entity``, by its name if its author sees it."""
    found = entity_of(seen, ref_of(entity))
    if found is None:
        return outside_scope()
    name = path_of(seen, found.number) if isinstance(found, Group) else found.name
    over = "clusters, or another part of the workload" if _is_covered(entity) else "clusters"
    return Denied(
        f"{_noun(entity)} {name} does not lie inside what you may change",
        hint=f"you see it, but your role is over other {over}; ask an admin for a grant",
    )


def _noun(entity: Entity) -> str:
    return ref_of(entity).kind.replace("_", " ")


def _is_covered(entity: Entity) -> bool:
    return ref_of(entity).kind in WORKLOAD


def _is_inside(entity: Entity, side: _Side) -> bool:
    """Whether ``entity``, as its side has it, lies inside the scope whole (P3)."""
    if isinstance(entity, OfWorkload):
        return _is_of_their_part(entity, side)
    view = side.inventory()
    return view is not None and _is_of_their_inventory(entity, view)


def _is_of_their_inventory(entity: OfInventory, view: ScopedView) -> bool:
    match entity:
        case Cluster(number=number):
            return number in view.everything()
        case Group():
            return _is_theirs(entity, view)
        case LabelKey(name=name):
            return _only_visible(view.base.labelled(name), view)
        case SavedSelector():
            _check_narrow(entity.selector, view)
            _check_stays_in_sight(entity, view.base, f"@{entity.name} would choose")
            return True
        case Hierarchy() | Grant():
            return False  # they concern the whole fleet


def _is_of_their_part(entity: OfWorkload, side: _Side) -> bool:
    """Whether every part it is about, as far as the side shows it, is theirs where it matters."""
    ref = ref_of(entity)
    role, shown = role_over(ref.kind), entity_of(side.view, ref)
    for part in parts_of(shown if isinstance(shown, OfWorkload) else entity, side.view):
        view = side.part(role, part)
        if view is None:
            return False
        _check_stays_in_sight(entity, side.view, f"{_noun(entity)} {entity.name} would reach")
        concerned = _concerned(entity, part, side.view)
        if isinstance(concerned, ClusterSet):
            known = isinstance(view.scope, Everything) or side.access.covers(role, *part)
            if not (known or concerned) or not concerned <= view.everything():
                return False
        else:
            _check_narrow(concerned, view)
    return True


def _concerned(entity: OfWorkload, part: Part, view: FleetView) -> ClusterSet | Selector:
    """The clusters that ``entity`` concerns, or the selector that says which."""
    match entity:
        case Application():
            taking = (
                each for each in view.workload.assignments.values() if each.choice.takes(entity)
            )
            return ClusterSet.union([evaluate(each.selector, view) for each in taking])
        case Namespace() | Policy(selector=None):
            return evaluate(InNamespace(part[0]), view)
        case _:
            assert entity.selector is not None, "a policy without namespaces has a selector"
            return entity.selector


def _only_visible(clusters: ClusterSet, view: ScopedView) -> bool:
    """Some, and all of them in sight."""
    return bool(clusters) and clusters <= view.everything()


def _is_theirs(group: Group, view: ScopedView) -> bool:
    """Under a named group, or theirs by what it holds; a group above a named one never is."""
    members = view.base.members(group.number)
    if view.covers(group.number):
        return members <= view.everything()
    return not view.leads_to(group.number) and _only_visible(members, view)


def _check_narrow(selector: Selector, view: ScopedView) -> None:
    if not lies_within(selector, view.scope, view.base, view.everything()):
        raise Denied(
            "the selector could choose clusters outside your scope",
            hint="let it begin with your scope, as: /your/scope and (...)",
        )


def _check_stays_in_sight(entity: Entity, seen: FleetView, told: str) -> None:
    if entity_of(seen, ref_of(entity)) is None:
        raise Denied(
            f"{told} none of the clusters you see, and you could not see it",
            hint="write it once it does, or together with what makes it do so",
        )


def _taken_along(was: Group, now: Group, before: ScopedView) -> Group | None:
    """A group outside the scope that ``was`` would take along to where it goes."""
    if (was.parent, was.name) == (now.parent, now.name):
        return None
    below = subtree(before.base, was.number)
    found = next((each for each in below if not before.shows_group(each)), None)
    return None if found is None else before.base.group(found)


# taking back


def plan_for(
    access: Access,
    scope: Scope,
    then: Snapshot,
    now: Snapshot,
    touched: Iterable[Ref],
    seen: tuple[FleetView, FleetView],
) -> RevertPlan:
    """As ``plan_revert``, for an actor to whom the two views look like ``seen``."""
    if not access.reads_grants:
        touched = [ref for ref in touched if ref.kind is not Kind.GRANT]
        scope = _without_grants(scope)
    plan = plan_revert(_in_sight(scope, seen), then, now, touched, lambda: edit(now))
    batch = Batch((plan.command,), access.actor.name, "planned")
    decide_for(access, batch, now, edit(now), lambda: edit(now))
    if seen[1] is not now and plan.left:
        return RevertPlan(plan.command, ("some of it cannot be as it was",))
    return plan


def _without_grants(scope: Scope) -> Scope:
    """The scope without grants that are named: whoever may not read them finds none."""
    if isinstance(scope, RevertEverything):
        return scope
    parts = scope.parts if isinstance(scope, Parts) else (scope,)
    named = (part for part in parts if isinstance(part, Ref) and part.kind is Kind.GRANT)
    gone = set(named)
    return Parts(tuple(part for part in parts if part not in gone)) if gone else scope


def _in_sight(scope: Scope, seen: Sequence[FleetView]) -> Scope:
    """The scope without what its author sees neither then nor now."""
    if isinstance(scope, RevertEverything):
        return scope
    parts = scope.parts if isinstance(scope, Parts) else (scope,)
    refs = [part if isinstance(part, Ref) else Ref(Kind.GROUP, part.group) for part in parts]
    kept = tuple(
        part
        for part, ref in zip(parts, refs, strict=True)
        if any(entity_of(view, ref) is not None for view in seen)
    )
    return scope if len(kept) == len(parts) else Parts(kept)
