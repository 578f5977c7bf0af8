"""Where an application runs as it travels: which clusters, how many, and along the business."""

from __future__ import annotations

import asyncio
from typing import Annotated

import strawberry

from api.context import Context
from api.schema.application import ApplicationDefinition
from api.schema.configuration import CONFIGURATIONS, ConfigurationConnection, connection_of
from api.schema.effective_enums import BlockedReason, WorkloadStatus
from api.schema.facets import FacetInput, dimension_of
from api.schema.intent import inside
from api.schema.listing import LISTED, LISTED_MAX, First, checked_first
from api.schema.names import LabelValue
from api.schema.page import PAGE, After, ClusterConnection, page_of
from api.schema.selector import SelectorInput, read_selector
from graph.composition.problem import Reason
from graph.effective.judgement import Placement
from graph.effective.obstacle import obstacles
from graph.effective.reading import Reading, Status, blocked_for, having
from graph.facets import RolledUp
from graph.model.cluster_set import ClusterSet
from graph.model.errors import Invalid

_COUNTED = (Status.EFFECTIVE, Status.BLOCKED, Status.PROHIBITED, Status.LACKING)
"""What a roll-up counts."""


@strawberry.type(description="On how many clusters an application is blocked for one reason.")
class BlockedCount:
    """A reason with its count."""

    reason: BlockedReason = strawberry.field(description="The reason.")
    clusters: int = strawberry.field(description="On how many clusters; one may have several.")


@strawberry.type(description="The clusters on which an application is blocked for one reason.")
class BlockedClusters:
    """A reason with its clusters."""

    context: strawberry.Private[Context]
    reading: strawberry.Private[Reading]
    application: strawberry.Private[str]
    held: strawberry.Private[ClusterSet]

    reason: BlockedReason = strawberry.field(description="The reason.")

    @strawberry.field(description="How many clusters.")
    def count(self) -> int:
        """The count."""
        return len(self.held)

    @strawberry.field(description="What is in the way on the first of them, in words.")
    def message(self) -> str:
        """The first message."""
        definition = self.reading.state.definitions[self.application]
        found = obstacles(definition, next(iter(self.held)), self.reading)
        kind = str(self.reason.value)
        return next((each.message for each in found if each.kind.value == kind), "")

    @strawberry.field(description="The clusters, by name.")
    def clusters(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """The clusters, a page at a time."""
        return page_of(self.context, self.reading.view, self.held, first, after)


@strawberry.type(description="On how many clusters an application stands how.")
class PlacementCounts:
    """Counts of one application."""

    placement: strawberry.Private[Placement]

    @strawberry.field(description="Assigned to it, in whatever status.")
    def assigned(self) -> int:
        """All of them."""
        return len(self.placement.assigned)

    @strawberry.field(description="It runs there.")
    def effective(self) -> int:
        """Where it runs."""
        return len(self.placement.effective)

    @strawberry.field(description="Placed there, with something in its way.")
    def blocked(self) -> int:
        """Where it is blocked."""
        return len(self.placement.placed) - len(self.placement.effective)

    @strawberry.field(description="Assigned there, where it may not run.")
    def prohibited(self) -> int:
        """Where it is forbidden."""
        return len(self.placement.prohibited)

    @strawberry.field(description="Assigned there, without what it requires.")
    def lacking(self) -> int:
        """Where something is missing."""
        return len(self.placement.lacking)

    @strawberry.field(description="How many distinct configurations it has.")
    def configurations(self) -> int:
        """How many configurations."""
        return len(self.placement.configurations)

    @strawberry.field(description="Why it is blocked, and on how many clusters.")
    def reasons(self) -> list[BlockedCount]:
        """The reasons."""
        return [
            BlockedCount(reason=BlockedReason(reason.value), clusters=len(found))
            for reason in Reason
            if (found := blocked_for(self.placement, reason))
        ]


@strawberry.type(description="One value of a dimension, and how an application stands there.")
class PlacementBucket:
    """Counts of one application in one bucket."""

    value: LabelValue = strawberry.field(description="The path of a group, or a label's value.")
    assigned: int = strawberry.field(description="Clusters it is assigned to.")
    effective: int = strawberry.field(description="Clusters it runs on.")
    blocked: int = strawberry.field(description="Clusters where something is in its way.")
    prohibited: int = strawberry.field(description="Clusters where it may not run.")
    lacking: int = strawberry.field(description="Clusters without what it requires.")


@strawberry.type(description="Where an application runs.")
class Placed(ApplicationDefinition):
    """What of an application is worked out from the fleet."""

    @strawberry.field(
        description="The clusters it is effective on, by name; or those on which it stands"
        " otherwise, or is blocked for a reason."
    )
    async def clusters(
        self,
        status: Annotated[
            WorkloadStatus | None,
            strawberry.argument(description="How it stands there; EFFECTIVE by default."),
        ] = None,
        reason: Annotated[
            BlockedReason | None,
            strawberry.argument(description="Only those on which it is blocked for this."),
        ] = None,
        where: Annotated[
            SelectorInput | None, strawberry.argument(description="Only among these clusters.")
        ] = None,
        first: First = PAGE,
        after: After = None,
    ) -> ClusterConnection | None:
        """The clusters, a page at a time."""
        placement = (await self._reading()).placement(self.definition.name)
        chosen = _chosen(placement, status, reason, self.view.everything())
        if where is not None:
            with inside("where"):
                selector = read_selector(where, self.context, self.view)
            chosen = chosen & self.context.engine.resolve(selector, self.view)
        return page_of(self.context, self.view, chosen, first, after)

    @strawberry.field(description="On how many clusters it stands how.")
    async def counts(self) -> PlacementCounts:
        """The counts."""
        return PlacementCounts(placement=(await self._reading()).placement(self.definition.name))

    @strawberry.field(description="Its distinct configurations, those of most clusters first.")
    async def configurations(
        self, first: First = CONFIGURATIONS, after: After = None
    ) -> ConfigurationConnection | None:
        """The configurations, a page at a time."""
        reading = await self._reading()
        return connection_of(self.context, reading, self.definition.name, first, after)

    @strawberry.field(
        description="How it stands in each group right below one, or for each value of a label;"
        " where it is assigned to a cluster at all. More than 1,000 buckets are refused."
    )
    async def roll_up(
        self,
        by: Annotated[FacetInput, strawberry.argument(description="What to count by.")],
        first: First = LISTED,
    ) -> list[PlacementBucket] | None:
        """Counts along a hierarchy."""
        count = checked_first(first, LISTED_MAX, "buckets")
        placement = (await self._reading()).placement(self.definition.name)
        parts = [[having(placement, status, self.view.everything())] for status in _COUNTED]
        with inside("by"):
            dimension = dimension_of(self.context, self.view, by)
            found = await asyncio.to_thread(
                self.context.engine.roll_up,
                dimension,
                parts,
                buckets_max=LISTED_MAX,
                view=self.view,
            )
        return [_bucket(each) for each in found[:count]]

    async def _reading(self) -> Reading:
        return await self.context.reading(self.view)


def _chosen(
    placement: Placement,
    status: WorkloadStatus | None,
    reason: BlockedReason | None,
    fleet: ClusterSet,
) -> ClusterSet:
    if reason is None:
        return having(placement, Status(str((status or WorkloadStatus.EFFECTIVE).value)), fleet)
    if status not in (None, WorkloadStatus.BLOCKED):
        raise Invalid(
            f"a reason to be blocked, and {status.name}",
            hint="leave `status` out where `reason` is given",
            path=("status",),
        )
    return blocked_for(placement, Reason(str(reason.value)))


def _bucket(found: RolledUp) -> PlacementBucket:
    effective, blocked, prohibited, lacking = found.clusters
    return PlacementBucket(
        value=LabelValue(found.value),
        assigned=sum(found.clusters),
        effective=effective,
        blocked=blocked,
        prohibited=prohibited,
        lacking=lacking,
    )
