"""Commands as they travel: any of them, and a batch of them with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import strawberry

from api.context import Context
from api.schema.application_commands import DefineApplicationInput, DeleteApplicationInput
from api.schema.assignment_commands import (
    AssignInput,
    LiftProhibitionInput,
    ProhibitInput,
    UnassignInput,
)
from api.schema.cluster_commands import (
    JoinInput,
    LeaveInput,
    RegisterClusterInput,
    RetireClusterInput,
    UpdateClusterInput,
)
from api.schema.grant_commands import GrantAccessInput, RevokeAccessInput
from api.schema.group_commands import (
    CreateGroupInput,
    DeleteGroupInput,
    MoveGroupInput,
    RenameGroupInput,
    UpdateGroupInput,
)
from api.schema.hierarchy_commands import (
    CreateHierarchyInput,
    DeleteHierarchyInput,
    OrderHierarchiesInput,
    UpdateHierarchyInput,
)
from api.schema.intent import Intent, description_of, inside, refuse_stranger
from api.schema.label_commands import DeclareLabelInput, RemoveLabelInput
from api.schema.layer_commands import RemoveLayerInput, SetLayerInput
from api.schema.names import Revision
from api.schema.namespace_commands import DefineNamespaceInput, DeleteNamespaceInput
from api.schema.policy_commands import RemovePolicyInput, SetPolicyInput
from api.schema.selector_commands import DeleteSelectorInput, SaveSelectorInput
from graph.model.command import COMMANDS_MAX, Batch, Command
from graph.model.names import Revision as CoreRevision
from graph.roles import role_for

REASON = "Why, for the record."
EXPECTED = "Refuse if anything the commands name has changed since this revision."
KEY = "Your own name for this request: sent again under it, it takes effect once."
LOSS = (
    "How many applications on clusters this may take away at most, counting each application once"
    " for every cluster. For operators."
)
DECLARE = (
    "Declare the label keys that are used here for the first time, each with the type of its value."
    " Without it a key that nobody declared is refused. For admins."
)


def _choice(kind: type[Intent]) -> Any:
    return strawberry.field(default=strawberry.UNSET, description=description_of(kind))


@strawberry.input(one_of=True, description="One command. Exactly one field.")
class CommandInput:
    """Any command of the core but a revert, which is planned before it is one."""

    register_cluster: RegisterClusterInput | None = _choice(RegisterClusterInput)
    update_cluster: UpdateClusterInput | None = _choice(UpdateClusterInput)
    retire_cluster: RetireClusterInput | None = _choice(RetireClusterInput)
    join: JoinInput | None = _choice(JoinInput)
    leave: LeaveInput | None = _choice(LeaveInput)
    create_hierarchy: CreateHierarchyInput | None = _choice(CreateHierarchyInput)
    update_hierarchy: UpdateHierarchyInput | None = _choice(UpdateHierarchyInput)
    delete_hierarchy: DeleteHierarchyInput | None = _choice(DeleteHierarchyInput)
    declare_label: DeclareLabelInput | None = _choice(DeclareLabelInput)
    remove_label: RemoveLabelInput | None = _choice(RemoveLabelInput)
    create_group: CreateGroupInput | None = _choice(CreateGroupInput)
    update_group: UpdateGroupInput | None = _choice(UpdateGroupInput)
    rename_group: RenameGroupInput | None = _choice(RenameGroupInput)
    move_group: MoveGroupInput | None = _choice(MoveGroupInput)
    delete_group: DeleteGroupInput | None = _choice(DeleteGroupInput)
    save_selector: SaveSelectorInput | None = _choice(SaveSelectorInput)
    delete_selector: DeleteSelectorInput | None = _choice(DeleteSelectorInput)
    grant_access: GrantAccessInput | None = _choice(GrantAccessInput)
    revoke_access: RevokeAccessInput | None = _choice(RevokeAccessInput)
    order_hierarchies: OrderHierarchiesInput | None = _choice(OrderHierarchiesInput)
    define_namespace: DefineNamespaceInput | None = _choice(DefineNamespaceInput)
    delete_namespace: DeleteNamespaceInput | None = _choice(DeleteNamespaceInput)
    define_application: DefineApplicationInput | None = _choice(DefineApplicationInput)
    delete_application: DeleteApplicationInput | None = _choice(DeleteApplicationInput)
    assign: AssignInput | None = _choice(AssignInput)
    unassign: UnassignInput | None = _choice(UnassignInput)
    prohibit: ProhibitInput | None = _choice(ProhibitInput)
    lift_prohibition: LiftProhibitionInput | None = _choice(LiftProhibitionInput)
    set_layer: SetLayerInput | None = _choice(SetLayerInput)
    remove_layer: RemoveLayerInput | None = _choice(RemoveLayerInput)
    set_policy: SetPolicyInput | None = _choice(SetPolicyInput)
    remove_policy: RemovePolicyInput | None = _choice(RemovePolicyInput)

    def chosen(self) -> Intent:
        """The one that is given; GraphQL has seen to it that there is one."""
        found: list[Intent] = [each for name in _NAMES if (each := getattr(self, name))]
        return found[0]


_NAMES = tuple(field.name for field in fields(CommandInput))


@strawberry.input(description="Commands that happen together or not at all.")
class ApplyInput:
    """A batch."""

    commands: list[CommandInput] = strawberry.field(
        description=f"In order, each seeing those before it; at most {COMMANDS_MAX:,}."
    )
    reason: str = strawberry.field(description=REASON)
    expected_revision: Revision | None = strawberry.field(
        default=strawberry.UNSET, description=EXPECTED
    )
    idempotency_key: str | None = strawberry.field(default=strawberry.UNSET, description=KEY)
    expected_loss: int | None = strawberry.field(default=strawberry.UNSET, description=LOSS)
    declare_labels: bool = strawberry.field(default=False, description=DECLARE)

    def batch(self, context: Context) -> Batch:
        """The batch of the core."""
        signature = Signature(
            self.reason,
            self.expected_revision,
            self.idempotency_key,
            self.expected_loss,
            self.declare_labels,
        )
        return signature.batch(context, (each.chosen() for each in self.commands))


@dataclass(frozen=True, slots=True)
class Signature:
    """What comes with commands: why, since when, under which key, and what it may do besides."""

    reason: str
    expected_revision: Revision | None
    idempotency_key: str | None
    expected_loss: int | None = None
    declare_labels: bool = False

    def batch(self, context: Context, intents: Iterable[Intent]) -> Batch:
        """These commands, by the actor of ``context``.

        The core decides who may; whoever has a role nowhere is refused before more is read.
        """
        found: list[Command] = []
        for position, intent in enumerate(intents):
            with inside("commands", position):
                command = intent.command()
                refuse_stranger(context.access, role_for(command))
                found.append(command)
        return self.sign(context, *found)

    def sign(self, context: Context, *commands: Command) -> Batch:
        """As ``batch``, for commands of the core."""
        expected, key, loss = self.expected_revision, self.idempotency_key, self.expected_loss
        return Batch(
            commands=commands,
            actor=context.actor.name,
            reason=self.reason,
            expected_revision=CoreRevision(expected) if isinstance(expected, int) else None,
            idempotency_key=key if isinstance(key, str) else None,
            expected_loss=loss if isinstance(loss, int) else None,
            declare_labels=self.declare_labels,
        )
