"""Access as it travels: who asks and what they may, and the grants behind that."""

from __future__ import annotations

from enum import Enum

import strawberry

from api.context import Context
from api.schema.history import Recorded
from api.schema.names import Name, Revision
from graph.model import access as core
from graph.model.ref import Kind, Ref
from graph.model.selector import Everything
from graph.scoped import readable
from graph.targeting.syntax import to_text


@strawberry.enum(description="What one may do, each role including those before it.")
class Role(Enum):
    """As ``graph.model.access.Role``."""

    READER = strawberry.enum_value("reader", description="Reads.")
    EDITOR = strawberry.enum_value(
        "editor", description="Also changes clusters, memberships, groups and saved selectors."
    )
    OPERATOR = strawberry.enum_value(
        "operator", description="Also changes what protects the fleet."
    )
    ADMIN = strawberry.enum_value(
        "admin", description="Also changes hierarchies, label keys and grants."
    )


@strawberry.type(description="A role, and the clusters it is held over.")
class HeldRole:
    """One role of a viewer."""

    role: Role = strawberry.field(description="The role.")
    scope: str | None = strawberry.field(
        description="The clusters, as a selector; null when it names something you may not see."
    )
    everywhere: bool = strawberry.field(description="Whether it is held over the whole fleet.")


@strawberry.type(description="Who asks.")
class Viewer:
    """The actor of this request."""

    context: strawberry.Private[Context]

    @strawberry.field(description="The name the record keeps.")
    def name(self) -> str:
        """The actor's name."""
        return self.context.actor.name

    @strawberry.field(description="The groups of people the token says you belong to.")
    def claims(self) -> list[str]:
        """The claims."""
        return sorted(self.context.actor.claims)

    @strawberry.field(description="What you may do, and where.")
    def permissions(self) -> list[HeldRole]:
        """Each role held anywhere."""
        found: list[HeldRole] = []
        for role in core.Role:
            scope = self.context.access.scope(role)
            if scope is not None:
                seen = readable(scope, self.context.seen)
                found.append(
                    HeldRole(
                        role=Role(role.value),
                        scope=to_text(scope, self.context.seen) if seen else None,
                        everywhere=isinstance(scope, Everything),
                    )
                )
        return found


@strawberry.type(description="A role over the clusters of a scope, given to somebody.")
class Grant(Recorded):
    """A grant of one view."""

    grant: strawberry.Private[core.Grant]

    def ref(self) -> Ref:
        """Which object this is."""
        return Ref(Kind.GRANT, self.grant.name)

    @strawberry.field(description="Its name, final.")
    def name(self) -> Name:
        """The name."""
        return Name(self.grant.name)

    @strawberry.field(description="What it is for.")
    def title(self) -> str:
        """The title."""
        return self.grant.title

    @strawberry.field(description="The role it gives.")
    def role(self) -> Role:
        """The role."""
        return Role(self.grant.role.value)

    @strawberry.field(description="Whose it is; null if it is given by claim.")
    def subject(self) -> str | None:
        """The subject."""
        return self.grant.subject or None

    @strawberry.field(description="The claim of those whose it is; null if given to a subject.")
    def claim(self) -> str | None:
        """The claim."""
        return self.grant.claim or None

    @strawberry.field(description="The clusters it covers, as a selector.")
    def scope(self) -> str:
        """The scope."""
        return to_text(self.grant.scope, self.view)

    @strawberry.field(description="The revision that last wrote it.")
    def changed(self) -> Revision:
        """The revision of its last change."""
        return Revision(self.grant.changed)
