"""The workload as it travels: its objects, and how they lead to each other.

Each holds the view it was read from, and finds the others there: whatever its reader may not see
is neither named nor there to be found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import strawberry

from api.context import Context
from api.schema.assignment import Choosing
from api.schema.definition import Defined
from api.schema.layer import LayerDefinition
from api.schema.listing import LISTED, AfterName, First, some_of
from api.schema.namespace import NamespaceDefinition
from api.schema.page import PAGE, After, ClusterConnection, page_of
from api.schema.placement import Placed
from api.schema.policy import PolicyDefinition
from graph.model import workload as core
from graph.model.cluster_set import ClusterSet
from graph.model.ref import Kind
from graph.model.view import FleetView


@strawberry.type(description="What runs: in exactly one namespace.")
class Application(Placed):
    """An application and what concerns it."""

    @strawberry.field(description="The namespace it is in, final.")
    def namespace(self) -> Namespace:
        """Its namespace."""
        (found,) = namespaces(self.context, self.view, [self.definition.namespace])
        return found

    @strawberry.field(description="What must run where it runs, by name.")
    def depends_on(self, first: First = LISTED, after: AfterName = None) -> list[Application]:
        """The applications it depends on."""
        shown = some_of(self.definition.depends_on, first, after, "applications")
        return applications(self.context, self.view, shown)

    @strawberry.field(description="The applications that depend on it, by name.")
    def needed_by(self, first: First = LISTED, after: AfterName = None) -> list[Application]:
        """The applications that depend on it."""
        shown = some_of(self._naming_it(Kind.APPLICATION), first, after, "applications")
        return applications(self.context, self.view, shown)

    @strawberry.field(description="The layers that give it values, by name.")
    def layers(self, first: First = LISTED, after: AfterName = None) -> list[Layer]:
        """Its layers."""
        shown = some_of(self._naming_it(Kind.LAYER), first, after, "layers")
        return layers(self.context, self.view, shown)

    @strawberry.field(description="The assignments that take it, by name.")
    def assignments(self, first: First = LISTED, after: AfterName = None) -> list[Assignment]:
        """Where it is for."""
        found = self.view.workload.assignments.values()
        shown = some_of(self._taking_it(found), first, after, "assignments")
        return assignments(self.context, self.view, shown)

    @strawberry.field(description="The prohibitions that take it, by name.")
    def prohibitions(self, first: First = LISTED, after: AfterName = None) -> list[Prohibition]:
        """Where it may not run."""
        found = self.view.workload.prohibitions.values()
        shown = some_of(self._taking_it(found), first, after, "prohibitions")
        return prohibitions(self.context, self.view, shown)

    def _naming_it(self, kind: Kind) -> list[str]:
        return [str(each.key) for each in self.view.referrers(self.ref()) if each.kind is kind]

    def _taking_it(self, found: Iterable[core.Assignment | core.Prohibition]) -> Iterator[str]:
        return (each.name for each in found if each.choice.takes(self.definition))


@strawberry.type(description="Applications that travel together, with quota and owners.")
class Namespace(NamespaceDefinition):
    """A namespace and what is in it."""

    @strawberry.field(description="The applications in it, by name.")
    def applications(self, first: First = LISTED, after: AfterName = None) -> list[Application]:
        """Its applications."""
        inside = chosen(core.Choice(self.definition.name), self.view)
        shown = some_of(inside, first, after, "applications")
        return applications(self.context, self.view, shown)

    @strawberry.field(description="The clusters on which one of its applications is effective.")
    async def clusters(self, first: First = PAGE, after: After = None) -> ClusterConnection | None:
        """Where it is, a page at a time."""
        reading = await self.context.reading(self.view)
        inside = chosen(core.Choice(self.definition.name), self.view)
        found = ClusterSet.union([reading.placement(name).effective for name in inside])
        return page_of(self.context, self.view, found, first, after)

    @strawberry.field(description="The assignments of its applications, by name.")
    def assignments(self, first: First = LISTED, after: AfterName = None) -> list[Assignment]:
        """Where its applications are for."""
        found = self.view.workload.assignments.values()
        shown = some_of(self._choosing_it(found), first, after, "assignments")
        return assignments(self.context, self.view, shown)

    @strawberry.field(description="The prohibitions of its applications, by name.")
    def prohibitions(self, first: First = LISTED, after: AfterName = None) -> list[Prohibition]:
        """Where its applications may not run."""
        found = self.view.workload.prohibitions.values()
        shown = some_of(self._choosing_it(found), first, after, "prohibitions")
        return prohibitions(self.context, self.view, shown)

    @strawberry.field(description="The policies that are for it, by name.")
    def policies(self, first: First = LISTED, after: AfterName = None) -> list[Policy]:
        """Its policies."""
        held, own = self.view.workload.policies.items(), self.definition.name
        found = (name for name, each in held if own in each.namespaces)
        return policies(self.context, self.view, some_of(found, first, after, "policies"))

    def _choosing_it(self, found: Iterable[core.Assignment | core.Prohibition]) -> Iterator[str]:
        return (each.name for each in found if each.choice.namespace == self.definition.name)


@strawberry.type(
    description="Applications of a namespace, and the clusters they are for. Assignments add up."
)
class Assignment(Choosing):
    """An assignment and what it takes."""

    @strawberry.field(description="The namespace.")
    def namespace(self) -> Namespace:
        """Its namespace."""
        (found,) = namespaces(self.context, self.view, [self.definition.choice.namespace])
        return found

    @strawberry.field(description="The applications it takes, by name.")
    def applications(self, first: First = LISTED, after: AfterName = None) -> list[Application]:
        """The applications."""
        shown = some_of(chosen(self.definition.choice, self.view), first, after, "applications")
        return applications(self.context, self.view, shown)


@strawberry.type(
    description="A veto: these applications may not run on these clusters, whatever is assigned."
)
class Prohibition(Choosing):
    """A prohibition and what it takes."""

    @strawberry.field(description="The namespace; null: applications of any.")
    def namespace(self) -> Namespace | None:
        """Its namespace."""
        found = namespaces(self.context, self.view, [self.definition.choice.namespace])
        return found[0] if found else None

    @strawberry.field(description="The applications it takes, by name.")
    def applications(self, first: First = LISTED, after: AfterName = None) -> list[Application]:
        """The applications."""
        shown = some_of(chosen(self.definition.choice, self.view), first, after, "applications")
        return applications(self.context, self.view, shown)


@strawberry.type(description="Values of one application, or of the fleet, and where they apply.")
class Layer(LayerDefinition):
    """A layer and what it is for."""

    @strawberry.field(description="The application; null: a fleet layer, which any may read.")
    def application(self) -> Application | None:
        """Whose values these are."""
        found = applications(self.context, self.view, [self.definition.application])
        return found[0] if found else None


@strawberry.type(
    description="Rules for namespaces, or for whatever runs on the clusters of a selector."
)
class Policy(PolicyDefinition):
    """A policy and what it is for."""

    @strawberry.field(description="The namespaces it is for, by name; none: it is for clusters.")
    def namespaces(self, first: First = LISTED, after: AfterName = None) -> list[Namespace]:
        """The namespaces."""
        shown = some_of(self.definition.namespaces, first, after, "namespaces")
        return namespaces(self.context, self.view, shown)


def object_of(context: Context, view: FleetView, definition: core.OfWorkload) -> Defined:
    """A definition of ``view`` as it travels."""
    match definition:
        case core.Application():
            return Application(context=context, view=view, definition=definition)
        case core.Namespace():
            return Namespace(context=context, view=view, definition=definition)
        case core.Assignment():
            return Assignment(context=context, view=view, definition=definition)
        case core.Prohibition():
            return Prohibition(context=context, view=view, definition=definition)
        case core.Layer():
            return Layer(context=context, view=view, definition=definition)
        case core.Policy():
            return Policy(context=context, view=view, definition=definition)


def chosen(choice: core.Choice, view: FleetView) -> Iterator[str]:
    """The applications of ``view`` that ``choice`` takes."""
    return (name for name, each in view.workload.applications.items() if choice.takes(each))


def applications(context: Context, view: FleetView, names: Iterable[str]) -> list[Application]:
    """Those of ``names`` that are in ``view``; so for all below."""
    held = view.workload.applications
    found = (held[name] for name in names if name in held)
    return [Application(context=context, view=view, definition=each) for each in found]


def namespaces(context: Context, view: FleetView, names: Iterable[str]) -> list[Namespace]:
    """As ``applications``."""
    held = view.workload.namespaces
    found = (held[name] for name in names if name in held)
    return [Namespace(context=context, view=view, definition=each) for each in found]


def assignments(context: Context, view: FleetView, names: Iterable[str]) -> list[Assignment]:
    """As ``applications``."""
    held = view.workload.assignments
    found = (held[name] for name in names if name in held)
    return [Assignment(context=context, view=view, definition=each) for each in found]


def prohibitions(context: Context, view: FleetView, names: Iterable[str]) -> list[Prohibition]:
    """As ``applications``."""
    held = view.workload.prohibitions
    found = (held[name] for name in names if name in held)
    return [Prohibition(context=context, view=view, definition=each) for each in found]


def layers(context: Context, view: FleetView, names: Iterable[str]) -> list[Layer]:
    """As ``applications``."""
    held = view.workload.layers
    found = (held[name] for name in names if name in held)
    return [Layer(context=context, view=view, definition=each) for each in found]


def policies(context: Context, view: FleetView, names: Iterable[str]) -> list[Policy]:
    """As ``applications``."""
    held = view.workload.policies
    found = (held[name] for name in names if name in held)
    return [Policy(context=context, view=view, definition=each) for each in found]
