"""What an actor may change: a batch decided under the scope of the role it needs.

Whoever has the role over the whole fleet is decided for as if there were no access. Under a scope
a batch must pass four times, in this order:

P1  Decided on what its author may see, so that a refusal speaks of nothing else. That may be more
    than what they may change.
P2  Decided on the whole fleet. What is refused only there is refused without a reason.
P3  As far as the author sees, every object it changes lies inside the scope of the role before and
    after, with every cluster that the object concerns: a group's members, the users of a label
    key. A saved selector must lie inside by what it says, not by what it finds; otherwise saving
    one would be a way to search the fleet. A refusal may name the object.
P4  And so on the whole fleet, where a refusal names nothing.

P4 bounds the impact too: a saved selector's answer moves only by clusters that a changed object
concerns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from graph.access import Access, role_for
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
from graph.model.ref import Kind, Ref
from graph.model.selector import Everything, Selector
from graph.model.view import FleetDraft, FleetView, entity_of, path_of, subtree
from graph.rehearsal import Rehearsal
from graph.scoped import ScopedView, outside_scope
from graph.targeting.narrower import lies_within


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
    scope = Everything() if access is None else _scope_for(access, batch)
    if access is None or isinstance(scope, Everything):
        return decide_batch(batch, base, draft)
    sight = access.need(Role.READER)
    if isinstance(sight, Everything):
        changes = decide_batch(batch, base, draft)
        _check_inside(changes, (base, draft), scope)
        return changes
    seen = ScopedView(base, sight)
    changes = _decide_unseen(batch, seen, draft, rehearse_on)
    _check_inside(changes, (seen, ScopedView(draft, sight)), scope)
    _check_inside(changes, (base, draft), scope, named=False)
    return changes


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


def _scope_for(access: Access, batch: Batch) -> Selector:
    """The scope of the strongest role a command needs: it lies inside those of the others."""
    strongest = Role.READER
    for position, command in enumerate(batch.commands):
        role = role_for(command)
        try:
            access.need(role)
        except Denied as refusal:
            raise refusal.at("commands", position) from None
        strongest = role if role.includes(strongest) else strongest
    return access.need(strongest)


def _check_reverts(reverts: Iterable[Revert], before: ScopedView) -> None:
    """A revert was planned on the whole fleet: its author must see each of its objects."""
    for change in (change for revert in reverts for change in revert.changes):
        if change.before is not None and entity_of(before, change.ref) is None:
            raise outside_scope()


def _check_inside(
    changes: Sequence[Change],
    views: tuple[FleetView, FleetView],
    scope: Selector,
    *,
    named: bool = True,
) -> None:
    """Refuse what leaves ``scope`` in the views before and after, with its name or without."""
    before, after = (ScopedView(view, scope) for view in views)
    # label keys last: whether a cluster is the first to use one tells of the others
    for change in sorted(changes, key=lambda each: each.ref.kind is Kind.LABEL_KEY):
        for entity, view in ((change.before, before), (change.after, after)):
            if entity is not None and not _is_inside(entity, view):
                raise _outside(entity, view.base) if named else outside_scope()
        if isinstance(change.before, Group) and isinstance(change.after, Group):
            hidden = _taken_along(change.before, change.after, before)
            if hidden is not None:
                raise _outside(hidden, before.base) if named else outside_scope()


def _outside(entity: Entity, seen: FleetView) -> Denied:
    """The refusal to change ``entity``, by its name if its author sees it."""
    found = entity_of(seen, ref_of(entity))
    if found is None:
        return outside_scope()
    name = path_of(seen, found.number) if isinstance(found, Group) else found.name
    noun = ref_of(entity).kind.replace("_", " ")
    return Denied(
        f"{noun} {name} does not lie inside what you may change",
        hint="you see it, but your role is over other clusters; ask an admin for a grant",
    )


def _is_inside(entity: Entity, view: ScopedView) -> bool:
    """Whether ``entity``, as ``view`` has it, lies inside the scope whole (P3)."""
    match entity:
        case Cluster(number=number):
            return number in view.everything()
        case Group():
            return _is_theirs(entity, view)
        case LabelKey(name=name):
            return _only_visible(view.base.labelled(name), view)
        case SavedSelector():
            return _is_narrow(entity, view)
        case Hierarchy() | Grant():
            return False  # they concern the whole fleet


def _only_visible(clusters: ClusterSet, view: ScopedView) -> bool:
    """Some, and all of them in sight."""
    return bool(clusters) and clusters <= view.everything()


def _is_theirs(group: Group, view: ScopedView) -> bool:
    """Under a named group, or theirs by what it holds; a group above a named one never is."""
    members = view.base.members(group.number)
    if view.covers(group.number):
        return members <= view.everything()
    return not view.leads_to(group.number) and _only_visible(members, view)


def _is_narrow(saved: SavedSelector, view: ScopedView) -> bool:
    if not lies_within(saved.selector, view.scope, view.base, view.everything()):
        raise Denied(
            "the selector could choose clusters outside your scope",
            hint="let it begin with your scope, as: /your/scope and (...)",
        )
    if view.base.saved_selector(saved.name) is None:
        raise Denied(
            f"@{saved.name} would choose none of the clusters you see, and you could not see it",
            hint="save it once it chooses one",
        )
    return True


def _taken_along(was: Group, now: Group, before: ScopedView) -> Group | None:
    """A group outside the scope that ``was`` would take along to where it goes."""
    if (was.parent, was.name) == (now.parent, now.name):
        return None
    below = subtree(before.base, was.number)
    found = next((each for each in below if not before.shows_group(each)), None)
    return None if found is None else before.base.group(found)


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
    plan = plan_revert(_in_sight(scope, seen), then, now, touched)
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
