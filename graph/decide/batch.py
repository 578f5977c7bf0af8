"""A batch becomes changes: commands in order, each seeing those before; guards on the net result.

The order of checks is part of the promise: the idempotency key (the engine's, before this), then
``expected_revision``, then the commands, then the guards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from graph.decide import (
    applications,
    assignments,
    clusters,
    grants,
    groups,
    hierarchies,
    labels,
    layers,
    namespaces,
    policies,
    revert,
    selectors,
)
from graph.decide.claims import refuse_claimed_twice
from graph.decide.governance import refuse_newly_breached
from graph.decide.named import named
from graph.decide.quotas import refuse_over_quota
from graph.decide.standards import refuse_newly_broken
from graph.model.change import Change, net, ref_of
from graph.model.command import (
    COMMANDS_MAX,
    LOSS_MAX,
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
from graph.model.errors import Conflict, Invalid, TrellisError
from graph.model.names import Revision, check_text
from graph.model.ref import Ref
from graph.model.view import FleetDraft, FleetView, entity_of
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

ACTOR_LENGTH_MAX = 200
REASON_LENGTH_MAX = 2_000
KEY_LENGTH_MAX = 200


def decide_batch(batch: Batch, base: FleetView, draft: FleetDraft) -> tuple[Change, ...]:
    """The net changes of a checked batch; ``draft`` starts as ``base`` and ends as its result."""
    _refuse_if_changed_since(batch, base)
    revision = Revision(base.cursor.revision + 1)
    made: list[Change] = []
    by_workload: set[Ref] = set()
    for position, command in enumerate(batch.commands):
        try:
            changes = decide(command, draft, revision, declare_labels=batch.declare_labels)
        except TrellisError as refusal:
            raise refusal.at("commands", position) from None
        draft.apply(changes)
        made.extend(changes)
        if isinstance(command, WorkloadCommand | Revert):
            by_workload.update(change.ref for change in changes)
    changes = net(made)
    _settle(draft, base, made, changes)
    refuse_newly_broken(changes, base, draft)
    refuse_over_quota(changes, base, draft)
    refuse_claimed_twice(changes, draft)
    refuse_newly_breached(changes, by_workload, base, draft)
    return changes


def _settle(
    draft: FleetDraft, base: FleetView, made: Sequence[Change], changes: Sequence[Change]
) -> None:
    """Put back what the batch touched and left as it was, so ``draft`` is what is recorded."""
    untouched = {change.ref for change in made} - {change.ref for change in changes}
    states = ((entity_of(draft, ref), entity_of(base, ref)) for ref in untouched)
    draft.apply([Change(now, was) for now, was in states if now != was])


def decide(
    command: Command, view: FleetView, revision: Revision, *, declare_labels: bool = False
) -> tuple[Change, ...]:
    """The changes one command makes to ``view``, written by ``revision``."""
    rule = RULES[type(command)]
    if isinstance(command, RegisterCluster | UpdateCluster):
        return rule(command, view, revision, declare_labels=declare_labels)
    return rule(command, view, revision)


RULES: Mapping[type[Command], Callable[..., tuple[Change, ...]]] = {
    CreateHierarchy: hierarchies.create_hierarchy,
    UpdateHierarchy: hierarchies.update_hierarchy,
    DeleteHierarchy: hierarchies.delete_hierarchy,
    DeclareLabel: labels.declare_label,
    RemoveLabel: labels.remove_label,
    CreateGroup: groups.create_group,
    UpdateGroup: groups.update_group,
    RenameGroup: groups.rename_group,
    MoveGroup: groups.move_group,
    DeleteGroup: groups.delete_group,
    RegisterCluster: clusters.register_cluster,
    UpdateCluster: clusters.update_cluster,
    RetireCluster: clusters.retire_cluster,
    Join: clusters.join,
    Leave: clusters.leave,
    SaveSelector: selectors.save_selector,
    DeleteSelector: selectors.delete_selector,
    GrantAccess: grants.grant_access,
    RevokeAccess: grants.revoke_access,
    OrderHierarchies: hierarchies.order_hierarchies,
    DefineNamespace: namespaces.define_namespace,
    DeleteNamespace: namespaces.delete_namespace,
    DefineApplication: applications.define_application,
    DeleteApplication: applications.delete_application,
    Assign: assignments.assign,
    Unassign: assignments.unassign,
    Prohibit: assignments.prohibit,
    LiftProhibition: assignments.lift_prohibition,
    SetLayer: layers.set_layer,
    RemoveLayer: layers.remove_layer,
    SetPolicy: policies.set_policy,
    RemovePolicy: policies.remove_policy,
    Revert: revert.decide_revert,
}
"""The rule of each command; a test holds it complete."""


def check_batch(batch: Batch) -> None:
    """Refuse a batch that no fleet could take: empty, too long, unsigned."""
    if not batch.commands:
        raise Invalid("the batch has no commands", hint="send at least one")
    if len(batch.commands) > COMMANDS_MAX:
        raise Invalid(
            f"the batch has {len(batch.commands):,} commands", hint=f"send at most {COMMANDS_MAX:,}"
        )
    for value, noun, length_max in (
        (batch.actor, "actor", ACTOR_LENGTH_MAX),
        (batch.reason, "reason", REASON_LENGTH_MAX),
    ):
        if not value.strip():
            raise Invalid(f"the batch has no {noun}", hint="say who changes the fleet, and why")
        check_text(value, f"the {noun}", length_max=length_max)
    check_text(batch.on_behalf_of, "the subject acted for", length_max=ACTOR_LENGTH_MAX)
    if batch.idempotency_key is not None:
        check_text(batch.idempotency_key, "the idempotency key", length_max=KEY_LENGTH_MAX)
        if not batch.idempotency_key:
            raise Invalid("the idempotency key is empty", hint="leave it out, or send a unique one")
    if batch.expected_loss is not None:
        _check_loss(batch.expected_loss)


def _check_loss(expected: int) -> None:
    if not 0 <= expected <= LOSS_MAX:
        raise Invalid(
            f"an expected loss of {expected:,}",
            hint=f"state how many applications on clusters may be lost, at most {LOSS_MAX:,}, "
            "or leave it out",
            path=("expected_loss",),
        )


def _refuse_if_changed_since(batch: Batch, base: FleetView) -> None:
    expected = batch.expected_revision
    if expected is None:
        return
    if expected > base.cursor.revision:
        raise Conflict(
            f"the fleet is at revision {base.cursor.revision:,}, before the expected {expected:,}",
            hint="send the revision that was read",
        )
    for position, command in enumerate(batch.commands):
        for entity in named(command, base):
            if entity.changed > expected:
                raise Conflict(
                    f"{ref_of(entity)} has changed at revision {entity.changed:,}, "
                    f"after the expected {expected:,}",
                    hint="read it again and decide anew",
                ).at("commands", position)
