"""Commands on layers as they travel."""

from __future__ import annotations

import strawberry

from api.schema.names import Json, Name
from api.schema.selector import SelectorInput, written
from api.schema.selector_commands import BATCH
from api.schema.workload_inputs import values_of
from graph.model import workload_command as core


@strawberry.input(description="A layer as it shall be, new or existing.")
class SetLayerInput:
    """As ``graph.model.workload_command.SetLayer``; so for all below."""

    name: Name = strawberry.field(description="The name of the layer; it decides nothing.")
    selector: SelectorInput = strawberry.field(
        description="Where it applies, which says how strong it is: everywhere, one group, a"
        " selector, one cluster." + BATCH
    )
    values: Json = strawberry.field(description="The values, a map by key; null removes a key.")
    application: Name | None = strawberry.field(
        default=strawberry.UNSET,
        description="The application, final; none: a fleet layer, which any may read.",
    )
    rank: int = strawberry.field(
        default=0,
        description="Decides among layers that are equally strong, or on groups of one hierarchy;"
        " higher is stronger.",
    )
    title: str = strawberry.field(default="", description="What people call it.")

    def command(self) -> core.SetLayer:
        """The core's command."""
        return core.SetLayer(
            name=self.name,
            selector=written(self.selector),
            values=values_of(self.values, "values"),
            application=self.application or "",
            rank=self.rank,
            title=self.title,
        )


@strawberry.input(description="Take a layer away.")
class RemoveLayerInput:
    """What to take away."""

    name: Name = strawberry.field(description="The layer.")

    def command(self) -> core.RemoveLayer:
        """The core's command."""
        return core.RemoveLayer(self.name)
