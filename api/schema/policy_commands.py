"""Commands on policies as they travel."""

from __future__ import annotations

import strawberry

from api.schema.cluster_inputs import CapacityInput, capacity_of
from api.schema.intent import choice
from api.schema.names import Name
from api.schema.selector import SelectorInput, written
from api.schema.selector_commands import BATCH
from api.schema.workload_enums import Enforcement
from graph.model import workload
from graph.model import workload_command as core


@strawberry.input(
    description="A policy as it shall be, new or existing. Give one of namespaces and selector. For"
    " operators."
)
class SetPolicyInput:
    """As ``graph.model.workload_command.SetPolicy``; so for all below."""

    name: Name = strawberry.field(description="The name of the policy.")
    namespaces: list[Name] = strawberry.field(
        default_factory=list[Name], description="The namespaces it is for."
    )
    selector: SelectorInput | None = strawberry.field(
        default=strawberry.UNSET,
        description="Or: the clusters whose workload it is for." + BATCH,
    )
    quota_max: CapacityInput | None = strawberry.field(
        default=strawberry.UNSET, description="The largest quota a namespace may have."
    )
    required_labels: list[Name] = strawberry.field(
        default_factory=list[Name],
        description="Labels that namespaces and applications must carry.",
    )
    registries: list[str] = strawberry.field(
        default_factory=list[str], description="Registries images may come from; none: any."
    )
    oversubscription: Enforcement | None = strawberry.field(
        default=strawberry.UNSET,
        description="What happens when more is requested than a cluster has.",
    )
    title: str = strawberry.field(default="", description="What people call it.")

    def command(self) -> core.SetPolicy:
        """The core's command."""
        said = self.oversubscription
        return core.SetPolicy(
            name=self.name,
            namespaces=tuple(self.namespaces),
            selector=written(self.selector) if self.selector else None,
            quota_max=capacity_of(self.quota_max, "quotaMax") if self.quota_max else None,
            required_labels=tuple(self.required_labels),
            registries=tuple(self.registries),
            oversubscription=choice(workload.Enforcement, said) if said else None,
            title=self.title,
        )


@strawberry.input(description="Take a policy away. For operators.")
class RemovePolicyInput:
    """What to take away."""

    name: Name = strawberry.field(description="The policy.")

    def command(self) -> core.RemovePolicy:
        """The core's command."""
        return core.RemovePolicy(self.name)
