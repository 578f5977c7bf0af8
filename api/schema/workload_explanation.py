"""Why an application is on a cluster or not, as it travels."""

from __future__ import annotations

import strawberry

from api.context import Context
from api.schema.effective import Amounts, Obstacle, amounts_of, obstacles_of
from api.schema.effective_enums import WorkloadStatus
from api.schema.explanation import Explanation
from api.schema.history import HistoryLine
from api.schema.inventory import Cluster
from api.schema.names import Name
from graph.effective.account import asked_of
from graph.effective.explain import Choosing, Why, clauses
from graph.effective.reading import Reading
from graph.model.names import ClusterNumber
from graph.model.view import entity_of


@strawberry.type(description="Something with a selector, and whether it chooses the cluster.")
class ChoiceReason:
    """An assignment, a prohibition or a requirement."""

    context: strawberry.Private[Context]
    reading: strawberry.Private[Reading]
    cluster: strawberry.Private[ClusterNumber]
    choosing: strawberry.Private[Choosing]

    @strawberry.field(
        description="The global id of the object that holds the selector. The reason has none: it"
        " is about one cluster."
    )
    def object_id(self) -> strawberry.ID:
        """Which object."""
        return strawberry.ID(f"{self.choosing.ref}{self.context.id_suffix}")

    @strawberry.field(description="Its name.")
    def name(self) -> Name:
        """The name."""
        return Name(str(self.choosing.ref.key))

    @strawberry.field(
        description="The application it takes where that is not the one asked about, but one it"
        " depends on; else null."
    )
    def through(self) -> Name | None:
        """What is in between."""
        return Name(self.choosing.through) if self.choosing.through else None

    @strawberry.field(description="Whether it chooses the cluster.")
    def holds(self) -> bool:
        """The answer."""
        return self.choosing.holds

    @strawberry.field(
        description="Why, clause by clause; null where it names something you may not see."
    )
    def explanation(self) -> Explanation | None:
        """The clauses."""
        found = clauses(self.choosing, self.cluster, self.reading)
        if found is None:
            return None
        return Explanation(context=self.context, view=self.reading.view, explanation=found)


@strawberry.type(description="Something an application depends on, and how it stands there.")
class DependencyReason:
    """A dependency on a cluster."""

    application: Name = strawberry.field(description="What it depends on.")
    status: WorkloadStatus = strawberry.field(description="How that stands to the cluster.")


@strawberry.type(description="Why an application is on a cluster, or why not.")
class WorkloadExplanation:
    """The answer for one application and one cluster."""

    context: strawberry.Private[Context]
    reading: strawberry.Private[Reading]
    found: strawberry.Private[Why]

    @strawberry.field(description="The application.")
    def application(self) -> Name:
        """Its name."""
        return Name(self.found.application)

    @strawberry.field(description="The cluster.")
    def cluster(self) -> Cluster:
        """The cluster."""
        return Cluster(context=self.context, view=self.reading.view, number=self.found.cluster)

    @strawberry.field(description="How the application stands to it.")
    def status(self) -> WorkloadStatus:
        """The status."""
        return WorkloadStatus(self.found.status.value)

    @strawberry.field(description="The answer in one line.")
    def summary(self) -> str:
        """The answer in words."""
        return self.found.summary

    @strawberry.field(
        description="Every assignment that takes the application; those that choose the cluster"
        " first."
    )
    def assignments(self) -> list[ChoiceReason]:
        """What could assign it there."""
        return [self._reason(each) for each in self.found.assignments]

    @strawberry.field(description="What the application requires; null: nothing.")
    def requires(self) -> ChoiceReason | None:
        """The requirement."""
        found = self.found.requires
        return None if found is None else self._reason(found)

    @strawberry.field(description="Whether it runs under the reconciler of the cluster.")
    def reconciler_fits(self) -> bool:
        """Whether the reconciler is one it knows."""
        return self.found.reconciler_fits

    @strawberry.field(
        description="Every prohibition that takes the application, or something it depends on;"
        " those that choose the cluster first."
    )
    def prohibitions(self) -> list[ChoiceReason]:
        """What could forbid it."""
        return [self._reason(each) for each in self.found.prohibitions]

    @strawberry.field(description="What the application depends on itself, by name.")
    def dependencies(self) -> list[DependencyReason]:
        """What it needs."""
        return [
            DependencyReason(
                application=Name(each.application), status=WorkloadStatus(each.status.value)
            )
            for each in self.found.dependencies
        ]

    @strawberry.field(
        description="What the applications placed on the cluster ask for together, of those you may"
        " see."
    )
    def asked(self) -> Amounts:
        """The demand."""
        return amounts_of(asked_of(self.reading, self.found.cluster))

    @strawberry.field(description="What the cluster has; null where it does not say.")
    def offered(self) -> Amounts | None:
        """The capacity."""
        found = self.reading.view.columns.capacity.many([self.found.cluster])[0]
        return None if found is None else amounts_of(found)

    @strawberry.field(description="What is in the way; none where it is effective.")
    def obstacles(self) -> list[Obstacle]:
        """Why not."""
        return obstacles_of(self.found.obstacles, self.context.id_suffix)

    @strawberry.field(
        description="The newest change of anything the answer rests on, if that can be told: since"
        " when, by whom, why."
    )
    async def since(self) -> HistoryLine | None:
        """The last change that mattered."""
        ref, view = self.found.newest, self.reading.view
        entity = entity_of(view, ref)
        if entity is None:
            return None
        context = self.context
        line = await context.engine.written_by(ref, entity.changed, context.access)
        return None if line is None else HistoryLine(view=view, line=line)

    def _reason(self, choosing: Choosing) -> ChoiceReason:
        return ChoiceReason(
            context=self.context,
            reading=self.reading,
            cluster=self.found.cluster,
            choosing=choosing,
        )
