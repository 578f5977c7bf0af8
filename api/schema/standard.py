"""Declared standards as they travel."""

from __future__ import annotations

import strawberry

from api.context import Context
from api.schema.listing import First
from api.schema.page import PAGE, After, Asked, ClusterConnection
from graph.decide.standards import Standard as CoreStandard
from graph.model.view import FleetView
from graph.page import Order


@strawberry.type(description="What every cluster must satisfy, and those that do not.")
class Standard:
    """One declared standard."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]
    standard: strawberry.Private[CoreStandard]

    @strawberry.field(description="The global id of the hierarchy or label key that declares it.")
    def declared_by(self) -> strawberry.ID:
        """Who declares it."""
        return strawberry.ID(f"{self.standard.declared_by}{self.context.id_suffix}")

    @strawberry.field(description="The rule, in words.")
    def rule(self) -> str:
        """The rule."""
        return self.standard.rule

    @strawberry.field(description="The clusters that break it.")
    def broken(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """Who breaks it."""
        asked = Asked(self.context, self.view, self.standard.broken, first, Order.NAME, after)
        return ClusterConnection(asked=asked)
