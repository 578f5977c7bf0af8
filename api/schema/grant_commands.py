"""Commands on grants as they travel."""

from __future__ import annotations

import strawberry

from api.schema.access import Role
from api.schema.intent import choice
from api.schema.names import Name
from api.schema.selector import SelectorInput, written
from api.schema.selector_commands import BATCH
from graph.model import access
from graph.model import command as core


@strawberry.input(
    description="Give a role over the clusters of a scope, under a name, new or existing. Give one"
    " of subject and claim. For admins."
)
class GrantAccessInput:
    """As ``graph.model.command.GrantAccess``; so for all below."""

    name: Name = strawberry.field(description="The name of the grant.")
    role: Role = strawberry.field(description="The role; it includes those before it.")
    scope: SelectorInput = strawberry.field(
        description="The clusters; it may name neither a saved selector nor a namespace. Everything"
        " is a scope too." + BATCH
    )
    subject: str | None = strawberry.field(
        default=strawberry.UNSET, description="The one actor whose it is, as tokens name them."
    )
    claim: str | None = strawberry.field(
        default=strawberry.UNSET, description="Or: everybody whose token carries this claim."
    )
    title: str = strawberry.field(default="", description="What it is for.")
    namespaces: list[Name] = strawberry.field(
        default_factory=list[Name],
        description="With applications: the part of the workload it covers, and then nothing of the"
        " inventory; none of both: everything.",
    )
    applications: list[Name] = strawberry.field(
        default_factory=list[Name], description="Applications it covers, beside the namespaces."
    )

    def command(self) -> core.GrantAccess:
        """The core's command."""
        return core.GrantAccess(
            name=self.name,
            role=choice(access.Role, self.role),
            subject=self.subject or "",
            claim=self.claim or "",
            scope=written(self.scope),
            title=self.title,
            namespaces=tuple(self.namespaces),
            applications=tuple(self.applications),
        )


@strawberry.input(description="Take a grant back. For admins.")
class RevokeAccessInput:
    """What to take back."""

    name: Name = strawberry.field(description="The name of the grant.")

    def command(self) -> core.RevokeAccess:
        """The core's command."""
        return core.RevokeAccess(self.name)
