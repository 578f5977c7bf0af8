"""A namespace by itself as it travels; ``workload`` ties it to what it is related to."""

from __future__ import annotations

import strawberry

from api.schema.definition import Defined, WorkloadLabel, labels_of
from api.schema.inventory import Capacity, capacity_of
from api.schema.secret import SecretReference, secret_of
from graph.model import workload as core


@strawberry.type(description="The definition of a namespace.")
class NamespaceDefinition(Defined):
    """A namespace of one view."""

    definition: strawberry.Private[core.Namespace]

    def defined(self) -> core.Namespace:
        """The definition itself."""
        return self.definition

    @strawberry.field(description="Who answers for it.")
    def owners(self) -> list[str]:
        """The owners."""
        return list(self.definition.owners)

    @strawberry.field(description="Who pays for it; empty if that is not known.")
    def cost_center(self) -> str:
        """The cost centre."""
        return self.definition.cost_center

    @strawberry.field(description="Its labels, by key.")
    def labels(self) -> list[WorkloadLabel]:
        """The labels."""
        return labels_of(self.definition.labels)

    @strawberry.field(
        description="What all its applications together may take from one cluster; null: anything."
    )
    def quota(self) -> Capacity | None:
        """The quota."""
        found = self.definition.quota
        return None if found is None else capacity_of(found)

    @strawberry.field(description="What one container may take unless it says otherwise.")
    def limits(self) -> Capacity | None:
        """The limits."""
        found = self.definition.limits
        return None if found is None else capacity_of(found)

    @strawberry.field(
        description="The secrets its applications may use, by name: where they are kept, never what"
        " they are."
    )
    def secrets(self) -> list[SecretReference]:
        """The secrets."""
        return [secret_of(each) for each in self.definition.secrets]
