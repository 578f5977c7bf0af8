"""Commands on namespaces as they travel."""

from __future__ import annotations

import strawberry

from api.schema.cluster_inputs import CapacityInput, capacity_of
from api.schema.names import Name
from api.schema.secret import SecretReferenceInput, secrets_of
from api.schema.workload_inputs import WorkloadLabelInput, labels_of
from graph.model import workload_command as core


@strawberry.input(
    description="A namespace as it shall be, new or existing; what is left out is empty. For"
    " operators."
)
class DefineNamespaceInput:
    """As ``graph.model.workload_command.DefineNamespace``; so for all below."""

    name: Name = strawberry.field(description="Its name, final.")
    title: str = strawberry.field(default="", description="What people call it.")
    owners: list[str] = strawberry.field(
        default_factory=list[str], description="Who answers for it."
    )
    cost_center: str = strawberry.field(default="", description="Who pays for it.")
    labels: list[WorkloadLabelInput] = strawberry.field(
        default_factory=list[WorkloadLabelInput], description="Its labels, each key once."
    )
    quota: CapacityInput | None = strawberry.field(
        default=strawberry.UNSET,
        description="What all its applications together may take from one cluster.",
    )
    limits: CapacityInput | None = strawberry.field(
        default=strawberry.UNSET,
        description="What one container may take unless it says otherwise.",
    )
    secrets: list[SecretReferenceInput] = strawberry.field(
        default_factory=list[SecretReferenceInput],
        description="The secrets its applications may use, each name once: where they are kept,"
        " never what they are.",
    )

    def command(self) -> core.DefineNamespace:
        """The core's command."""
        return core.DefineNamespace(
            name=self.name,
            title=self.title,
            owners=tuple(self.owners),
            cost_center=self.cost_center,
            labels=labels_of(self.labels),
            quota=capacity_of(self.quota, "quota") if self.quota else None,
            limits=capacity_of(self.limits, "limits") if self.limits else None,
            secrets=secrets_of(self.secrets),
        )


@strawberry.input(description="Remove a namespace that nothing names. For operators.")
class DeleteNamespaceInput:
    """What to remove."""

    name: Name = strawberry.field(description="The namespace.")

    def command(self) -> core.DeleteNamespace:
        """The core's command."""
        return core.DeleteNamespace(self.name)
