"""The part of a fleet that is worked out from its workload: why, compared, how full, who pays."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import Annotated

import strawberry

from api.schema.capacity import CapacityReport, Chargeback
from api.schema.comparison import Comparison
from api.schema.effective_enums import BlockedReason
from api.schema.facets import group_number
from api.schema.fleet_workload import FleetWorkload
from api.schema.intent import inside
from api.schema.inventory_columns import missing_name
from api.schema.listing import LISTED, LISTED_MAX, AfterName, First, behind, checked_first
from api.schema.names import GroupPath, Name
from api.schema.placement import BlockedClusters
from api.schema.ref import without_suffix
from api.schema.selector import SelectorInput, read_selector
from api.schema.workload_explanation import WorkloadExplanation
from graph.composition.problem import Reason
from graph.decide.governance import Breach, breaches
from graph.effective.compare import compare
from graph.effective.explain import why
from graph.effective.reading import Reading
from graph.effective.report import capacity_report, chargeback
from graph.model.cluster_set import ClusterSet
from graph.model.errors import NotFound
from graph.model.names import ClusterNumber, GroupNumber, did_you_mean, quoted
from graph.targeting.missing import nearest_clusters

BLOCKED = 20
"""Blocked applications in an answer whose length is not given."""

By = Annotated[GroupPath, strawberry.argument(description="The group whose children the rows are.")]


@strawberry.type(description="A policy that a namespace or an application breaks.")
class PolicyBreach:
    """A breach."""

    id: strawberry.ID = strawberry.field(description="What tells it from all others.")
    policy: Name = strawberry.field(description="The policy.")
    governed: strawberry.ID = strawberry.field(description="Who breaks it.")
    rule: str = strawberry.field(description="Which of its rules, as `label team` or `quota`.")
    message: str = strawberry.field(description="What is wrong, in words.")


@strawberry.type(description="An application that is blocked somewhere.")
class BlockedApplication:
    """Why, and where."""

    application: Name = strawberry.field(description="The application.")
    namespace: Name = strawberry.field(description="Its namespace.")
    clusters: int = strawberry.field(description="On how many clusters it is blocked.")
    reasons: list[BlockedClusters] = strawberry.field(description="Why, and where.")


@strawberry.type(description="What follows from the workload.")
class FleetEffective(FleetWorkload):
    """The effective state of one view, as its reader may see it."""

    @strawberry.field(description="Why an application is on a cluster, or why not.")
    async def why(
        self,
        application: Annotated[Name, strawberry.argument(description="The application's name.")],
        cluster: Annotated[Name, strawberry.argument(description="The cluster's name.")],
    ) -> WorkloadExplanation | None:
        """An explanation."""
        number = cluster_called(self, cluster)
        reading = await self._reading()
        definition = reading.definition(application)
        if definition is None:
            known = sorted(self.view.workload.applications)
            raise missing_name("application", "applications", application, known).at("application")
        found = why(definition, number, reading)
        return WorkloadExplanation(context=self.context, reading=reading, found=found)

    @strawberry.field(
        description="How two clusters, groups or environments differ in what runs on them."
    )
    async def compare(
        self,
        left: Annotated[SelectorInput, strawberry.argument(description="One side.")],
        right: Annotated[SelectorInput, strawberry.argument(description="The other side.")],
    ) -> Comparison | None:
        """A comparison."""
        with inside("left"):
            one = self._side(left)
        with inside("right"):
            other = self._side(right)
        found = await asyncio.to_thread(compare, await self._reading(), one, other)
        return Comparison(found=found)

    @strawberry.field(description="How full the clusters of a group are, by the groups below.")
    async def capacity(self, by: By) -> CapacityReport | None:
        """The capacity report."""
        group = self._group(by)
        rows = await asyncio.to_thread(capacity_report, await self._reading(), group)
        return CapacityReport(view=self.view, found=rows)

    @strawberry.field(
        description="Who pays for what runs, by cost centre, namespace and the groups below one."
        " The same as CSV: GET /export/chargeback.csv?by=/geo/us"
    )
    async def chargeback(self, by: By) -> Chargeback | None:
        """The charge-back report."""
        group, reading = self._group(by), await self._reading()
        found = await asyncio.to_thread(lambda: list(chargeback(reading, group)))
        return Chargeback(found=found, id_suffix=self.context.id_suffix)

    @strawberry.field(description="The policies that are broken, by whom and how, by policy.")
    def policy_breaches(
        self,
        first: First = LISTED,
        after: Annotated[
            strawberry.ID | None,
            strawberry.argument(description="Begin behind the breach with this id."),
        ] = None,
    ) -> list[PolicyBreach] | None:
        """The breaches."""
        count = checked_first(first, LISTED_MAX, "breaches")
        found = breaches(self.view)
        shown = found if after is None else behind(list(found), without_suffix(after), _id)
        suffix = self.context.id_suffix
        return [
            PolicyBreach(
                id=strawberry.ID(f"{_id(each)}{suffix}"),
                policy=Name(each.policy),
                governed=strawberry.ID(f"{each.governed}{suffix}"),
                rule=each.rule,
                message=str(each),
            )
            for each in islice(shown, count)
        ]

    @strawberry.field(description="The applications that are blocked somewhere, by name.")
    async def blocked(
        self, first: First = BLOCKED, after: AfterName = None
    ) -> list[BlockedApplication] | None:
        """What is in the way, over the whole fleet."""
        count = checked_first(first, LISTED_MAX, "applications")
        reading = await self._reading()
        found = (
            self._blocked(each.application.name, each.application.namespace, reading)
            for each in reading.definitions()
            if after is None or each.application.name > after
        )
        return list(islice((each for each in found if each.clusters), count))

    def _blocked(self, name: str, namespace: str, reading: Reading) -> BlockedApplication:
        placement = reading.placement(name)
        return BlockedApplication(
            application=Name(name),
            namespace=Name(namespace),
            clusters=len(placement.placed) - len(placement.effective),
            reasons=[
                BlockedClusters(
                    context=self.context,
                    reading=reading,
                    application=name,
                    held=placement.blocked[reason],
                    reason=BlockedReason(reason.value),
                )
                for reason in Reason
                if reason in placement.blocked
            ],
        )

    async def _reading(self) -> Reading:
        return await self.context.reading(self.view)

    def _side(self, where: SelectorInput) -> ClusterSet:
        selector = read_selector(where, self.context, self.view)
        return self.context.engine.resolve(selector, self.view)

    def _group(self, by: str) -> GroupNumber:
        with inside("by"):
            return group_number(self.context, self.view, by)


def _id(breach: Breach) -> str:
    return f"{breach.policy}:{breach.governed}:{breach.rule}"


def cluster_called(fleet: FleetWorkload, name: str) -> ClusterNumber:
    """The cluster of a fleet called ``name``, or the refusal of that name."""
    number = fleet.view.cluster_number(name)
    if number is None:
        raise NotFound(
            f"no cluster called {quoted(name)}",
            hint=did_you_mean(nearest_clusters(fleet.view, name))
            or "cluster names are exact; select by group or label to find it",
            path=("cluster",),
        )
    return number
