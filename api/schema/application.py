"""An application by itself as it travels; ``workload`` ties it to what it is related to."""

from __future__ import annotations

import strawberry

from api.schema.definition import Defined, WorkloadLabel, labels_of
from api.schema.inventory import Capacity, capacity_of
from api.schema.inventory_enums import Reconciler
from api.schema.names import Json
from api.schema.source import LateBound, Source, late_bound_of, source_of
from api.schema.stored_selector import StoredSelector
from graph.model import workload as core

RECONCILERS = (
    "The reconcilers it can run under. None: it is placed under any, and rendered for every cluster"
    " but hosts, where it is held: a host takes only what lists ANSIBLE and has a base as source."
)


@strawberry.type(description="The definition of an application.")
class ApplicationDefinition(Defined):
    """An application of one view."""

    definition: strawberry.Private[core.Application]

    def defined(self) -> core.Application:
        """The definition itself."""
        return self.definition

    @strawberry.field(description="Who answers for it.")
    def owner(self) -> str:
        """The owner."""
        return self.definition.owner

    @strawberry.field(description="Its labels, by key; assignments may choose by them.")
    def labels(self) -> list[WorkloadLabel]:
        """The labels."""
        return labels_of(self.definition.labels)

    @strawberry.field(description="What a cluster must satisfy; null: nothing.")
    def requires(self) -> StoredSelector | None:
        """The clusters that can run it."""
        found = self.definition.requires
        if found is None:
            return None
        return StoredSelector(context=self.context, view=self.view, selector=found)

    @strawberry.field(description=RECONCILERS)
    def reconcilers(self) -> list[Reconciler]:
        """The reconcilers."""
        return [Reconciler(each.value) for each in self.definition.reconcilers]

    @strawberry.field(description="What it takes from a cluster's capacity, where that is known.")
    def requests(self) -> Capacity | None:
        """The requests."""
        found = self.definition.requests
        return None if found is None else capacity_of(found)

    @strawberry.field(description="Where its manifests come from, where that is known.")
    def source(self) -> Source | None:
        """The source."""
        found = self.definition.source
        return None if found is None else source_of(found)

    @strawberry.field(description="Its own values: the weakest of all.")
    def values(self) -> Json:
        """The defaults."""
        return Json(self.definition.values.data)

    @strawberry.field(
        description="What its composed values must satisfy: a subset of JSON Schema; null: nothing."
    )
    def schema(self) -> Json | None:
        """The schema of its values."""
        found = self.definition.schema
        return None if found is None else Json(found.data)

    @strawberry.field(description="The keys whose value differs per cluster.")
    def late_bound(self) -> list[LateBound]:
        """The late-bound keys."""
        return [late_bound_of(each) for each in self.definition.late_bound]

    @strawberry.field(description="The fleet settings it reads: top-level keys of fleet layers.")
    def reads(self) -> list[str]:
        """The fleet settings it finds under ``fleet``."""
        return list(self.definition.reads)

    @strawberry.field(
        description="The objects outside any namespace that are its own, as ClusterRole/pos-reader;"
        " no other application has one of them."
    )
    def cluster_scoped(self) -> list[str]:
        """What it has outside its namespace."""
        return list(self.definition.cluster_scoped)
