"""Commands on groups as they travel."""

from __future__ import annotations

import strawberry

from api.schema.names import GroupPath, Name
from graph.model import command as core


@strawberry.input(description="A new group below an existing one.")
class CreateGroupInput:
    """As ``graph.model.command.CreateGroup``; so for all below."""

    path: GroupPath = strawberry.field(description="Where it will be.")
    title: str = strawberry.field(default="", description="What people call it.")

    def command(self) -> core.CreateGroup:
        """The core's command."""
        return core.CreateGroup(self.path, self.title)


@strawberry.input(description="Give a group another title.")
class UpdateGroupInput:
    """What to change."""

    path: GroupPath = strawberry.field(description="The group.")
    title: str = strawberry.field(description="What people will call it; may be empty.")

    def command(self) -> core.UpdateGroup:
        """The core's command."""
        return core.UpdateGroup(self.path, self.title)


@strawberry.input(description="Give a group another name; everything below comes along.")
class RenameGroupInput:
    """What to rename."""

    path: GroupPath = strawberry.field(description="Where the group is now.")
    name: Name = strawberry.field(description="Its new last segment.")

    def command(self) -> core.RenameGroup:
        """The core's command."""
        return core.RenameGroup(self.path, self.name)


@strawberry.input(
    description="Put a group below another of its hierarchy; the whole subtree comes along."
)
class MoveGroupInput:
    """What to move."""

    path: GroupPath = strawberry.field(description="Where the group is now.")
    parent: GroupPath = strawberry.field(description="The group it will be right below.")

    def command(self) -> core.MoveGroup:
        """The core's command."""
        return core.MoveGroup(self.path, self.parent)


@strawberry.input(description="Remove an empty group, or a whole subtree.")
class DeleteGroupInput:
    """What to remove."""

    path: GroupPath = strawberry.field(description="The group.")
    cascade: bool = strawberry.field(
        default=False,
        description="true: also every group below it, and the memberships in all of them.",
    )

    def command(self) -> core.DeleteGroup:
        """The core's command."""
        return core.DeleteGroup(self.path, self.cascade)
