"""Access as it travels: who asks and what they may, and the grants behind that."""

from __future__ import annotations

from enum import Enum

import strawberry

from api.context import Context
from api.schema.history import Recorded
from api.schema.names import Name, Revision
from graph.model import access as core
from graph.model.ref import Kind, Ref
from graph.model.selector import Everything, Selector
from graph.scoped import readable
from graph.targeting.syntax import to_text


@strawberry.enum(description="What one may do, each role including those before it.")
class Role(Enum):
    """As ``graph.model.access.Role``."""

    READER = strawberry.enum_value("reader", description="Reads.")
    EDITOR = strawberry.enum_value(
        "editor",
        description="Also changes clusters, memberships, groups, saved selectors, applications,"
        " assignments and layers.",
    )
    OPERATOR = strawberry.enum_value(
        "operator",
        description="Also changes namespaces, prohibitions and policies, and accepts losses.",
    )
    ADMIN = strawberry.enum_value(
        "admin", description="Also changes hierarchies and their order, label keys and grants."
    )


@strawberry.type(
    description="A role, and what it is held over: clusters, and all of the workload or a part."
)
class HeldRole:
    """One role of a viewer."""

    role: Role = strawberry.field(description="The role.")
    scope: str | None = strawberry.field(
        description="The clusters, as a selector; null when it names something you may not see."
    )
    everywhere: bool = strawberry.field(
        description="Whether it is held over the whole fleet, and all of the workload."
    )
    namespaces: list[Name] = strawberry.field(
        description="With applications: the part of the workload it is held over, and then nothing"
        " of the inventory; none of both: everything."
    )
    applications: list[Name] = strawberry.field(
        description="Applications it is held over, beside those of the namespaces."
    )


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
        access = self.context.access
        whole = [self._held(role, scope) for role, scope in access.scopes]
        parts = [self._held(each.role, each.scope, each.coverage) for each in access.covered]
        return whole + parts

    def _held(
        self, role: core.Role, scope: Selector, coverage: core.Coverage | None = None
    ) -> HeldRole:
        seen, part = self.context.seen, coverage or core.Coverage()
        return HeldRole(
            role=Role(role.value),
            scope=to_text(scope, seen) if readable(scope, seen) else None,
            everywhere=isinstance(scope, Everything) and coverage is None,
            namespaces=[Name(each) for each in sorted(part.namespaces)],
            applications=[Name(each) for each in sorted(part.applications)],
        )


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

    @strawberry.field(
        description="With applications: the part of the workload it covers, and then nothing of the"
        " inventory; none of both: everything."
    )
    def namespaces(self) -> list[Name]:
        """The namespaces it covers."""
        return [Name(each) for each in self.grant.namespaces]

    @strawberry.field(description="Applications it covers, beside those of the namespaces.")
    def applications(self) -> list[Name]:
        """The applications it covers."""
        return [Name(each) for each in self.grant.applications]

    @strawberry.field(description="The revision that last wrote it.")
    def changed(self) -> Revision:
        """The revision of its last change."""
        return Revision(self.grant.changed)
