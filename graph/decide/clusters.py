"""Commands on clusters and their memberships."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace

from graph.decide.fields import check_size
from graph.decide.labels import check_labels, merge_labels
from graph.decide.lookup import existing_group, find_cluster, find_group
from graph.decide.references import refuse_if_named
from graph.model.change import Change
from graph.model.command import (
    UNSET,
    Join,
    Leave,
    RegisterCluster,
    RetireCluster,
    UpdateCluster,
)
from graph.model.errors import Conflict, Invalid, NotFound
from graph.model.hours import check_opening_hours, check_time_zone
from graph.model.inventory import (
    Cluster,
    ClusterKind,
    Group,
    Hierarchy,
    Mode,
    Reconciler,
)
from graph.model.names import GroupNumber, Revision, check_name, check_text, quoted
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView, path_of

MEMBERSHIPS_MAX = 1_000
"""Direct memberships of one cluster."""

_RECONCILERS = {
    ClusterKind.KUBERNETES: (Reconciler.FLUX, Reconciler.ARGOCD, Reconciler.KUSTOMIZE),
    ClusterKind.HOST: (Reconciler.ANSIBLE,),
}


def register_cluster(
    command: RegisterCluster, view: FleetView, revision: Revision, *, declare_labels: bool = False
) -> tuple[Change, ...]:
    """The cluster, and with ``declare_labels`` any label key it is the first to use."""
    name = check_name(command.name, "cluster")
    if view.cluster_number(name) is not None:
        raise Conflict(f"cluster {quoted(name)} exists", hint="choose another name, or update it")
    labels, declared = check_labels(command.labels, view, revision, declare=declare_labels)
    cluster = Cluster(
        number=view.numbers.cluster,
        name=name,
        title=check_text(command.title, "the title"),
        kind=command.kind,
        reconciler=_check_reconciler(command.kind, command.reconciler),
        labels=merge_labels({}, labels, frozenset()),
        memberships=_check_memberships(
            view,
            (find_group(view, each, "groups", at) for at, each in enumerate(command.groups)),
        ),
        capacity=check_size(command.capacity, "a capacity"),
        time_zone=check_time_zone(command.time_zone),
        opening_hours=command.opening_hours and check_opening_hours(command.opening_hours),
        changed=revision,
    )
    return (*declared, Change(None, cluster))


def update_cluster(
    command: UpdateCluster, view: FleetView, revision: Revision, *, declare_labels: bool = False
) -> tuple[Change, ...]:
    """The cluster with what the command states; see ``register_cluster`` for label keys."""
    before = find_cluster(view, command.name, "name")
    new = {key: value for key, value in command.labels.items() if value is not None}
    labels, declared = check_labels(new, view, revision, declare=declare_labels)
    removed = frozenset(key for key, value in command.labels.items() if value is None)
    kind = before.kind if command.kind is UNSET else command.kind
    reconciler = before.reconciler if kind is before.kind else None
    if command.reconciler is not UNSET:
        reconciler = command.reconciler
    after = replace(
        before,
        kind=kind,
        reconciler=_check_reconciler(kind, reconciler),
        labels=merge_labels(before.labels, labels, removed),
        changed=revision,
    )
    if command.title is not UNSET:
        after = replace(after, title=check_text(command.title, "the title"))
    if command.capacity is not UNSET:
        after = replace(after, capacity=check_size(command.capacity, "a capacity"))
    if command.time_zone is not UNSET:
        after = replace(after, time_zone=check_time_zone(command.time_zone))
    if command.opening_hours is not UNSET:
        hours = command.opening_hours and check_opening_hours(command.opening_hours)
        after = replace(after, opening_hours=hours)
    return (*declared, Change(before, after))


def retire_cluster(command: RetireCluster, view: FleetView, _: Revision) -> tuple[Change, ...]:
    """The cluster gone, unless something stored names it."""
    before = find_cluster(view, command.name, "name")
    refuse_if_named(view, Ref(Kind.CLUSTER, before.number), f"cluster {quoted(before.name)}")
    return (Change(before, None),)


def join(command: Join, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The cluster a direct member; in a ``single`` hierarchy instead of its old place."""
    before = find_cluster(view, command.cluster, "cluster")
    group = find_group(view, command.group, "group")
    stay: Iterable[GroupNumber] = before.memberships
    if mode_of(view, group) is Mode.SINGLE:
        held = (existing_group(view, number) for number in stay)
        stay = [each.number for each in held if each.hierarchy != group.hierarchy]
    memberships = _sorted({*stay, group.number})
    return (Change(before, replace(before, memberships=memberships, changed=revision)),)


def leave(command: Leave, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The cluster no longer a direct member."""
    before = find_cluster(view, command.cluster, "cluster")
    group = find_group(view, command.group, "group")
    if group.number not in before.memberships:
        there = [path_of(view, each) for each in before.memberships]
        here = [path for path in there if path.startswith(f"/{group.hierarchy}/")]
        raise NotFound(
            f"cluster {quoted(before.name)} is no direct member of {command.group}",
            hint=f"it is in {', '.join(here[:5])}" if here else f"it is not in /{group.hierarchy}",
        )
    kept = tuple(each for each in before.memberships if each != group.number)
    return (Change(before, replace(before, memberships=kept, changed=revision)),)


def mode_of(view: FleetView, group: Group) -> Mode:
    """The mode of the hierarchy a group is in."""
    hierarchy = view.hierarchy(group.hierarchy)
    assert hierarchy is not None, "a group has a hierarchy"
    return hierarchy.mode


def _check_memberships(view: FleetView, groups: Iterable[Group]) -> tuple[GroupNumber, ...]:
    chosen: dict[GroupNumber, Group] = {group.number: group for group in groups}
    if (found := second_place(chosen.values(), view.hierarchy)) is not None:
        first, second = found
        raise Invalid(
            f"{path_of(view, first.number)} and {path_of(view, second.number)} "
            f"are two places in /{first.hierarchy}, which allows one",
            hint="name one of them",
        )
    return _sorted(chosen.keys())


def _sorted(memberships: AbstractSet[GroupNumber]) -> tuple[GroupNumber, ...]:
    """Memberships as a cluster has them."""
    if len(memberships) > MEMBERSHIPS_MAX:
        raise Invalid(f"{len(memberships):,} memberships", hint=f"use at most {MEMBERSHIPS_MAX:,}")
    return tuple(sorted(memberships))


def second_place(
    groups: Iterable[Group], hierarchy: Callable[[str], Hierarchy | None]
) -> tuple[Group, Group] | None:
    """Two of the distinct ``groups`` in a hierarchy that allows one place, if there are."""
    places: dict[str, Group] = {}
    for group in groups:
        other = places.setdefault(group.hierarchy, group)
        if other is not group:
            found = hierarchy(group.hierarchy)
            if found is not None and found.mode is Mode.SINGLE:
                return other, group
    return None


def _check_reconciler(kind: ClusterKind, reconciler: Reconciler | None) -> Reconciler:
    fitting = _RECONCILERS[kind]
    if reconciler is None:
        return fitting[0]
    if reconciler not in fitting:
        raise Invalid(
            f"{reconciler} does not reconcile a cluster of kind {kind}",
            hint=f"use {' or '.join(fitting)}",
        )
    return reconciler
