"""A layer by itself as it travels; ``workload`` ties it to what it is related to."""

from __future__ import annotations

import strawberry

from api.schema.definition import Defined
from api.schema.names import Json
from api.schema.stored_selector import StoredSelector
from graph.model import workload as core


@strawberry.type(description="The definition of a layer.")
class LayerDefinition(Defined):
    """A layer of one view."""

    definition: strawberry.Private[core.Layer]

    def defined(self) -> core.Layer:
        """The definition itself."""
        return self.definition

    @strawberry.field(
        description="Where it applies, which says how strong it is: everywhere, one group, a"
        " selector, one cluster."
    )
    def selector(self) -> StoredSelector:
        """Where."""
        chosen = self.definition.selector
        return StoredSelector(context=self.context, view=self.view, selector=chosen)

    @strawberry.field(description="The values; null removes a key.")
    def values(self) -> Json:
        """The values."""
        return Json(self.definition.values.data)

    @strawberry.field(
        description="Decides among layers that are equally strong, or on groups of one hierarchy;"
        " higher is stronger."
    )
    def rank(self) -> int:
        """The rank."""
        return self.definition.rank
