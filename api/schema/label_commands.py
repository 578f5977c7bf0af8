"""Commands on label keys as they travel."""

from __future__ import annotations

import strawberry

from api.schema.intent import choice
from api.schema.inventory_enums import LabelType
from api.schema.names import LabelValue, Name, label_value
from graph.model import command as core
from graph.model import inventory


@strawberry.input(
    description="Declare a label key, or change its title, unit and allowed values; its type is"
    " final. For admins."
)
class DeclareLabelInput:
    """As ``graph.model.command.DeclareLabel``; so for all below."""

    name: Name = strawberry.field(description="Its name, final.")
    type: LabelType = strawberry.field(description="Its type, final.")
    title: str = strawberry.field(default="", description="What people call it.")
    unit: str = strawberry.field(default="", description="The unit of its numbers.")
    allowed: list[LabelValue] = strawberry.field(
        default_factory=list[LabelValue],
        description="The values it may have; none: any of its type.",
    )

    def command(self) -> core.DeclareLabel:
        """The core's command."""
        return core.DeclareLabel(
            name=self.name,
            type=choice(inventory.LabelType, self.type),
            title=self.title,
            unit=self.unit,
            allowed=tuple(map(label_value, self.allowed)),
        )


@strawberry.input(description="Remove a label key no cluster uses. For admins.")
class RemoveLabelInput:
    """What to remove."""

    name: Name = strawberry.field(description="The label key.")

    def command(self) -> core.RemoveLabel:
        """The core's command."""
        return core.RemoveLabel(self.name)
