"""The part of a fleet that is its workload: where reading of applications and the like begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import strawberry

from api.context import Context
from api.schema.inventory_columns import missing_name
from api.schema.listing import LISTED, AfterName, First, some_of
from api.schema.names import Name
from api.schema.workload import (
    Application,
    Assignment,
    Layer,
    Namespace,
    Policy,
    Prohibition,
    applications,
    assignments,
    layers,
    namespaces,
    policies,
    prohibitions,
)
from api.schema.workload_inputs import WorkloadLabelInput
from graph.model.view import FleetView


@strawberry.type(description="What runs where, with which values, and what may not.")
class FleetWorkload:
    """The workload of one view, as its reader may see it."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]

    @strawberry.field(description="One application; null if there is none of that name.")
    def application(
        self, name: Annotated[Name, strawberry.argument(description="Its name.")]
    ) -> Application | None:
        """An application by name."""
        found = applications(self.context, self.view, [name])
        return found[0] if found else None

    @strawberry.field(description="The applications, by name.")
    def applications(
        self,
        first: First = LISTED,
        after: AfterName = None,
        namespace: Annotated[
            Name | None, strawberry.argument(description="Only those of this namespace.")
        ] = None,
        label: Annotated[
            WorkloadLabelInput | None, strawberry.argument(description="Only those that carry it.")
        ] = None,
    ) -> list[Application] | None:
        """The applications."""
        chosen = self._applications(namespace, label)
        shown = some_of(chosen, first, after, "applications")
        return applications(self.context, self.view, shown)

    @strawberry.field(description="One namespace; null if there is none of that name.")
    def namespace(
        self, name: Annotated[Name, strawberry.argument(description="Its name.")]
    ) -> Namespace | None:
        """A namespace by name."""
        found = namespaces(self.context, self.view, [name])
        return found[0] if found else None

    @strawberry.field(description="The namespaces, by name.")
    def namespaces(self, first: First = LISTED, after: AfterName = None) -> list[Namespace] | None:
        """The namespaces."""
        shown = some_of(self.view.workload.namespaces, first, after, "namespaces")
        return namespaces(self.context, self.view, shown)

    @strawberry.field(description="The assignments, by name.")
    def assignments(
        self, first: First = LISTED, after: AfterName = None
    ) -> list[Assignment] | None:
        """The assignments."""
        shown = some_of(self.view.workload.assignments, first, after, "assignments")
        return assignments(self.context, self.view, shown)

    @strawberry.field(description="The prohibitions, by name.")
    def prohibitions(
        self, first: First = LISTED, after: AfterName = None
    ) -> list[Prohibition] | None:
        """The prohibitions."""
        shown = some_of(self.view.workload.prohibitions, first, after, "prohibitions")
        return prohibitions(self.context, self.view, shown)

    @strawberry.field(description="The layers, by name.")
    def layers(
        self,
        first: First = LISTED,
        after: AfterName = None,
        application: Annotated[
            Name | None,
            strawberry.argument(
                description="Only those of this application; those of the fleet if it is empty."
            ),
        ] = None,
    ) -> list[Layer] | None:
        """The layers."""
        shown = some_of(self._layers(application), first, after, "layers")
        return layers(self.context, self.view, shown)

    @strawberry.field(description="The policies, by name.")
    def policies(self, first: First = LISTED, after: AfterName = None) -> list[Policy] | None:
        """The policies."""
        shown = some_of(self.view.workload.policies, first, after, "policies")
        return policies(self.context, self.view, shown)

    def _applications(
        self, namespace: str | None, label: WorkloadLabelInput | None
    ) -> Iterator[str]:
        workload = self.view.workload
        if namespace is not None and namespace not in workload.namespaces:
            known = sorted(workload.namespaces)
            raise missing_name("namespace", "namespaces", namespace, known).at("namespace")
        return (
            name
            for name, each in workload.applications.items()
            if (namespace is None or each.namespace == namespace)
            and (label is None or each.labels.get(label.key) == label.value)
        )

    def _layers(self, application: str | None) -> Iterator[str]:
        workload = self.view.workload
        if application and application not in workload.applications:
            known = sorted(workload.applications)
            raise missing_name("application", "applications", application, known).at("application")
        return (
            name
            for name, each in workload.layers.items()
            if application is None or each.application == application
        )
