"""Commands on applications as they travel."""

from __future__ import annotations

import strawberry

from api.schema.application import RECONCILERS
from api.schema.cluster_inputs import CapacityInput, capacity_of
from api.schema.intent import choice
from api.schema.inventory_enums import Reconciler
from api.schema.names import Json, Name
from api.schema.selector import SelectorInput, written
from api.schema.selector_commands import BATCH
from api.schema.workload_inputs import (
    LateBoundInput,
    SourceInput,
    WorkloadLabelInput,
    labels_of,
    late_bound_of,
    maybe_values_of,
    source_of,
)
from graph.model import inventory
from graph.model import workload_command as core


@strawberry.input(
    description="An application as it shall be, new or existing; what is left out is empty."
)
class DefineApplicationInput:
    """As ``graph.model.workload_command.DefineApplication``; so for all below."""

    name: Name = strawberry.field(description="Its name, final.")
    namespace: Name = strawberry.field(description="The namespace it is in, final.")
    title: str = strawberry.field(default="", description="What people call it.")
    owner: str = strawberry.field(default="", description="Who answers for it.")
    labels: list[WorkloadLabelInput] = strawberry.field(
        default_factory=list[WorkloadLabelInput], description="Its labels, each key once."
    )
    requires: SelectorInput | None = strawberry.field(
        default=strawberry.UNSET, description="What a cluster must satisfy." + BATCH
    )
    reconcilers: list[Reconciler] = strawberry.field(
        default_factory=list[Reconciler],
        description=RECONCILERS,
    )
    depends_on: list[Name] = strawberry.field(
        default_factory=list[Name], description="The applications that must run where it runs."
    )
    requests: CapacityInput | None = strawberry.field(
        default=strawberry.UNSET, description="What it takes from a cluster's capacity."
    )
    source: SourceInput | None = strawberry.field(
        default=strawberry.UNSET, description="Where its manifests come from."
    )
    values: Json | None = strawberry.field(
        default=strawberry.UNSET, description="Its own values, a map by key: the weakest of all."
    )
    schema: Json | None = strawberry.field(
        default=strawberry.UNSET,
        description="What its composed values must satisfy: a subset of JSON Schema.",
    )
    late_bound: list[LateBoundInput] = strawberry.field(
        default_factory=list[LateBoundInput],
        description="The keys whose value differs per cluster.",
    )
    reads: list[str] = strawberry.field(
        default_factory=list[str],
        description="The fleet settings it reads: top-level keys of fleet layers.",
    )
    cluster_scoped: list[str] = strawberry.field(
        default_factory=list[str],
        description="The objects outside any namespace that are its own, as ClusterRole/pos-reader."
        " No other application may have one of them. Only an admin of everything changes them.",
    )

    def command(self) -> core.DefineApplication:
        """The core's command."""
        return core.DefineApplication(
            name=self.name,
            namespace=self.namespace,
            title=self.title,
            owner=self.owner,
            labels=labels_of(self.labels),
            requires=written(self.requires) if self.requires else None,
            reconcilers=tuple(choice(inventory.Reconciler, each) for each in self.reconcilers),
            depends_on=tuple(self.depends_on),
            requests=capacity_of(self.requests, "requests") if self.requests else None,
            source=source_of(self.source) if self.source else None,
            values=maybe_values_of(self.values, "values") or {},
            schema=maybe_values_of(self.schema, "schema"),
            late_bound=tuple(map(late_bound_of, self.late_bound)),
            reads=tuple(self.reads),
            cluster_scoped=tuple(self.cluster_scoped),
        )


@strawberry.input(description="Remove an application that nothing names.")
class DeleteApplicationInput:
    """What to remove."""

    name: Name = strawberry.field(description="The application.")

    def command(self) -> core.DeleteApplication:
        """The core's command."""
        return core.DeleteApplication(self.name)
