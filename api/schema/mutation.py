"""The mutations: every command by itself, a batch of them, and a revert.

Each is one batch: all or nothing, with a reason, at one revision. Refusals are results; only a
fault of ours is an error. A batch that was handed over goes on when its caller goes away.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import strawberry

from api.context import Context
from api.finishing import finished
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
from api.schema.command import DECLARE, EXPECTED, KEY, LOSS, REASON, ApplyInput, Signature
from api.schema.failure import failure_of
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
from api.schema.intent import Intent, description_of
from api.schema.label_commands import DeclareLabelInput, RemoveLabelInput
from api.schema.layer_commands import RemoveLayerInput, SetLayerInput
from api.schema.names import Revision, RevisionOrTime
from api.schema.namespace_commands import DefineNamespaceInput, DeleteNamespaceInput
from api.schema.policy_commands import RemovePolicyInput, SetPolicyInput
from api.schema.publication import (
    ForgetPublicationInput,
    ForgetPublicationResult,
    ReportPublishedInput,
    ReportPublishedResult,
    forget_publication,
    report_published,
)
from api.schema.receipt import Applied, ApplyResult
from api.schema.revert import RevertScope, plan
from api.schema.selector_commands import DeleteSelectorInput, SaveSelectorInput
from graph.model.command import Batch
from graph.model.errors import TrellisError

Info = strawberry.Info[Context, None]
Reason = Annotated[str, strawberry.argument(description=REASON)]
Expected = Annotated[Revision | None, strawberry.argument(description=EXPECTED)]
Key = Annotated[str | None, strawberry.argument(description=KEY)]
Loss = Annotated[int | None, strawberry.argument(description=LOSS)]
Declare = Annotated[bool, strawberry.argument(description=DECLARE)]


def _alone(kind: type[Intent]) -> Any:
    """The mutation of one command: its input is the command's, the rest is the same for all."""

    async def resolve(
        info: Info,
        input: Intent,
        reason: Reason,
        expected_revision: Expected = None,
        idempotency_key: Key = None,
        expected_loss: Loss = None,
    ) -> ApplyResult:
        signature = Signature(reason, expected_revision, idempotency_key, expected_loss)
        return await _apply_alone(info, input, signature)

    return _mutation(kind, resolve)


def _alone_with_labels(kind: type[Intent]) -> Any:
    """As ``_alone``, for a command that gives a cluster labels."""

    async def resolve(
        info: Info,
        input: Intent,
        reason: Reason,
        expected_revision: Expected = None,
        idempotency_key: Key = None,
        expected_loss: Loss = None,
        declare_labels: Declare = False,
    ) -> ApplyResult:
        signature = Signature(
            reason, expected_revision, idempotency_key, expected_loss, declare_labels
        )
        return await _apply_alone(info, input, signature)

    return _mutation(kind, resolve)


def _mutation(kind: type[Intent], resolve: Callable[..., Awaitable[ApplyResult]]) -> Any:
    description = strawberry.argument(description="What to change.")
    resolve.__annotations__["input"] = Annotated[kind, description]
    return strawberry.mutation(resolve, description=description_of(kind))


async def _apply_alone(info: Info, input: Intent, signature: Signature) -> ApplyResult:
    async def commit(context: Context) -> Applied:
        try:
            return await _commit(context, signature.batch(context, [input]))
        except TrellisError as refusal:
            if refusal.path[:1] == ("commands",):  # there is no list of them to point into
                refusal.path = refusal.path[2:]
            raise

    return await _answer(info.context, commit)


@strawberry.type(description="Everything that can be changed.")
class Mutation:
    """The roots of writing."""

    @strawberry.mutation(description="Any number of commands, all or nothing.")
    async def apply(
        self,
        info: Info,
        input: Annotated[ApplyInput, strawberry.argument(description="The batch.")],
    ) -> ApplyResult:
        """A batch."""

        async def commit(context: Context) -> Applied:
            return await _commit(context, input.batch(context))

        return await _answer(info.context, commit)

    @strawberry.mutation(
        description="Part of the fleet back to what it was, as a batch like any other."
    )
    async def revert(
        self,
        info: Info,
        to: Annotated[RevisionOrTime, strawberry.argument(description="The state to go back to.")],
        scope: Annotated[RevertScope, strawberry.argument(description="What to take back.")],
        reason: Reason,
        expected_revision: Expected = None,
        idempotency_key: Key = None,
        expected_loss: Loss = None,
    ) -> ApplyResult:
        """A revert, planned and made."""
        signature = Signature(reason, expected_revision, idempotency_key, expected_loss)

        async def commit(context: Context) -> Applied:
            found = await plan(context, to, scope)
            return await _commit(context, signature.sign(context, found.command), found.left)

        return await _answer(info.context, commit)

    @strawberry.mutation(
        description="What a renderer has brought out: kept beside the log, and shown to whoever"
        " asks whether a change has arrived. The last report of a name counts, and none goes back"
        " to an earlier revision. For editors of everything."
    )
    async def report_published(
        self,
        info: Info,
        input: Annotated[ReportPublishedInput, strawberry.argument(description="The report.")],
    ) -> ReportPublishedResult:
        """A report, which is no batch: it changes nothing of the fleet."""
        context = info.context
        try:
            return await finished(report_published(context, input.report()))
        except TrellisError as refusal:
            return failure_of(refusal, context.engine.view.cursor.revision)

    @strawberry.mutation(
        description="Forget what was reported under the name of an output that is no longer"
        " published to, so that it counts as behind no more. A later report under that name begins"
        " again. For editors of everything."
    )
    async def forget_publication(
        self,
        info: Info,
        input: Annotated[ForgetPublicationInput, strawberry.argument(description="Which one.")],
    ) -> ForgetPublicationResult:
        """No batch either."""
        context = info.context
        try:
            return await finished(forget_publication(context, input))
        except TrellisError as refusal:
            return failure_of(refusal, context.engine.view.cursor.revision)

    register_cluster = _alone_with_labels(RegisterClusterInput)
    update_cluster = _alone_with_labels(UpdateClusterInput)
    retire_cluster = _alone(RetireClusterInput)
    join = _alone(JoinInput)
    leave = _alone(LeaveInput)
    create_hierarchy = _alone(CreateHierarchyInput)
    update_hierarchy = _alone(UpdateHierarchyInput)
    delete_hierarchy = _alone(DeleteHierarchyInput)
    declare_label = _alone(DeclareLabelInput)
    remove_label = _alone(RemoveLabelInput)
    create_group = _alone(CreateGroupInput)
    update_group = _alone(UpdateGroupInput)
    rename_group = _alone(RenameGroupInput)
    move_group = _alone(MoveGroupInput)
    delete_group = _alone(DeleteGroupInput)
    save_selector = _alone(SaveSelectorInput)
    delete_selector = _alone(DeleteSelectorInput)
    grant_access = _alone(GrantAccessInput)
    revoke_access = _alone(RevokeAccessInput)
    order_hierarchies = _alone(OrderHierarchiesInput)
    define_namespace = _alone(DefineNamespaceInput)
    delete_namespace = _alone(DeleteNamespaceInput)
    define_application = _alone(DefineApplicationInput)
    delete_application = _alone(DeleteApplicationInput)
    assign = _alone(AssignInput)
    unassign = _alone(UnassignInput)
    prohibit = _alone(ProhibitInput)
    lift_prohibition = _alone(LiftProhibitionInput)
    set_layer = _alone(SetLayerInput)
    remove_layer = _alone(RemoveLayerInput)
    set_policy = _alone(SetPolicyInput)
    remove_policy = _alone(RemovePolicyInput)


async def _answer(context: Context, commit: Callable[[Context], Awaitable[Applied]]) -> ApplyResult:
    """What ``commit`` gives, or its refusal. Each mutation of a request sees those before it."""
    try:
        return await commit(Context.pin(context.engine, context.settings, context.identified))
    except TrellisError as refusal:
        return failure_of(refusal, context.engine.view.cursor.revision)


async def _commit(context: Context, batch: Batch, left: tuple[str, ...] = ()) -> Applied:
    """Make the batch durable, whether or not its caller waits for it."""
    receipt = await finished(context.engine.execute(batch, context.actor))
    return Applied(context=context, receipt=receipt, left=list(left))
