"""A policy by itself as it travels; ``workload`` ties it to what it is related to."""

from __future__ import annotations

import strawberry

from api.schema.definition import Defined
from api.schema.inventory import Capacity, capacity_of
from api.schema.names import Name
from api.schema.stored_selector import StoredSelector
from api.schema.workload_enums import Enforcement
from graph.model import workload as core


@strawberry.type(description="The definition of a policy.")
class PolicyDefinition(Defined):
    """A policy of one view."""

    definition: strawberry.Private[core.Policy]

    def defined(self) -> core.Policy:
        """The definition itself."""
        return self.definition

    @strawberry.field(
        description="The clusters whose workload it is for; null: it is for namespaces."
    )
    def selector(self) -> StoredSelector | None:
        """Where."""
        found = self.definition.selector
        if found is None:
            return None
        return StoredSelector(context=self.context, view=self.view, selector=found)

    @strawberry.field(description="The largest quota a namespace may have; null: any.")
    def quota_max(self) -> Capacity | None:
        """The ceiling of quotas."""
        found = self.definition.quota_max
        return None if found is None else capacity_of(found)

    @strawberry.field(description="Labels that namespaces and applications must carry.")
    def required_labels(self) -> list[Name]:
        """The keys that must be there."""
        return [Name(each) for each in self.definition.required_labels]

    @strawberry.field(description="Registries images may come from; none: any.")
    def registries(self) -> list[str]:
        """The registries."""
        return list(self.definition.registries)

    @strawberry.field(
        description="What happens when more is requested than a cluster has; null: it says nothing"
        " about that."
    )
    def oversubscription(self) -> Enforcement | None:
        """Refused, or only reported."""
        found = self.definition.oversubscription
        return None if found is None else Enforcement(found.value)
