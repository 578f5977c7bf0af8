"""Commands on hierarchies as they travel."""

from __future__ import annotations

import strawberry

from api.schema.intent import choice, kept, kept_choice
from api.schema.inventory_enums import Mode
from api.schema.names import Name
from graph.model import command as core
from graph.model import inventory
from graph.model.workload_command import OrderHierarchies


@strawberry.input(description="A new hierarchy and its root group. For admins.")
class CreateHierarchyInput:
    """As ``graph.model.command.CreateHierarchy``; so for all below."""

    name: Name = strawberry.field(description="Its name, final; the first segment of its paths.")
    mode: Mode = strawberry.field(
        default=Mode.SINGLE, description="How many direct memberships a cluster may have in it."
    )
    required: bool = strawberry.field(
        default=False, description="Whether every cluster must be in it."
    )
    title: str = strawberry.field(default="", description="What people call it.")

    def command(self) -> core.CreateHierarchy:
        """The core's command."""
        mode = choice(inventory.Mode, self.mode)
        return core.CreateHierarchy(self.name, mode, self.required, self.title)


@strawberry.input(
    description="Change what a hierarchy asks; what is left out stays as it is. From MANY to SINGLE"
    " only while no cluster has two memberships in it. For admins."
)
class UpdateHierarchyInput:
    """What to change."""

    name: Name = strawberry.field(description="The hierarchy.")
    mode: Mode | None = strawberry.field(
        default=strawberry.UNSET,
        description="How many direct memberships a cluster may have in it.",
    )
    required: bool | None = strawberry.field(
        default=strawberry.UNSET, description="Whether every cluster must be in it."
    )
    title: str | None = strawberry.field(
        default=strawberry.UNSET, description="What people call it."
    )

    def command(self) -> core.UpdateHierarchy:
        """The core's command."""
        return core.UpdateHierarchy(
            name=self.name,
            mode=kept_choice(inventory.Mode, self.mode, "mode"),
            required=kept(self.required, "required"),
            title=kept(self.title, "title"),
        )


@strawberry.input(
    description="Remove a hierarchy whose root has neither groups nor members. For admins."
)
class DeleteHierarchyInput:
    """What to remove."""

    name: Name = strawberry.field(description="The hierarchy.")

    def command(self) -> core.DeleteHierarchy:
        """The core's command."""
        return core.DeleteHierarchy(self.name)


@strawberry.input(
    description="The order in which layers on groups of hierarchies override each other. For"
    " admins."
)
class OrderHierarchiesInput:
    """The whole order."""

    names: list[Name] = strawberry.field(
        description="All hierarchies, weakest first; a new one is the weakest."
    )

    def command(self) -> OrderHierarchies:
        """The core's command."""
        return OrderHierarchies(tuple(self.names))
