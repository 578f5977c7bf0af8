"""What runs on a cluster as it travels: applications, their values, and what is in their way.

Everything is named, and nothing is held, that lies outside a cluster: whoever wants an application
or a layer itself asks for it by its name or its id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import strawberry

from api.schema.effective_enums import ObstacleKind, WorkloadStatus
from api.schema.history import Recorded
from api.schema.listing import LISTED, AfterName, First, checked_first, some_of
from api.schema.names import Json, Name
from graph.effective import account as core
from graph.effective.configuration import LateValue, Leaf
from graph.effective.obstacle import Obstacle as CoreObstacle
from graph.effective.reading import Reading
from graph.model.inventory import Capacity
from graph.model.names import ClusterNumber
from graph.model.ref import Kind

APPLICATIONS_MAX = 1_000
"""Applications of one cluster in one answer."""


@strawberry.type(description="Processor, memory and storage; of one cluster, or of many together.")
class Amounts:
    """Sums, which may be larger than an Int."""

    cpu_millicores: float = strawberry.field(description="Thousandths of a processor core.")
    memory_mib: float = strawberry.field(description="Memory in mebibytes.")
    storage_mib: float = strawberry.field(description="Storage in mebibytes.")


@strawberry.type(description="One value, and the layer that gave it.")
class LayeredValue:
    """A leaf of composed values."""

    key: str = strawberry.field(description="Where it is, as image.tag.")
    value: Json | None = strawberry.field(description="The value.")
    layer: Name | None = strawberry.field(
        description="The layer that gave it; null: the application's own values."
    )


@strawberry.type(description="A late-bound key on one cluster.")
class LateBoundValue:
    """A value that differs per cluster."""

    key: str = strawberry.field(description="The key, as image.tag.")
    value: Json | None = strawberry.field(description="The value; null where it has none.")
    layer: Name | None = strawberry.field(
        description="The layer that gave it; null: its source, if anything, did."
    )
    source: str = strawberry.field(
        description="The text that is filled in where no layer sets it; may be empty."
    )


@strawberry.type(description="Something in the way of an application on a cluster.")
class Obstacle:
    """Why not."""

    kind: ObstacleKind = strawberry.field(description="What kind of thing it is.")
    message: str = strawberry.field(description="What is in the way, in words.")
    about: list[strawberry.ID] = strawberry.field(
        description="The objects it rests on, of those you may see."
    )


@strawberry.type(description="One application, and how it stands to one cluster.")
class ApplicationOnCluster:
    """A line of what runs on a cluster."""

    found: strawberry.Private[core.ApplicationOn]
    id_suffix: strawberry.Private[str]

    @strawberry.field(description="The application.")
    def name(self) -> Name:
        """Its name."""
        return Name(self.found.name)

    @strawberry.field(description="Its namespace.")
    def namespace(self) -> Name:
        """The name of its namespace."""
        return Name(self.found.namespace)

    @strawberry.field(description="How it stands to the cluster.")
    def status(self) -> WorkloadStatus:
        """The status."""
        return WorkloadStatus(self.found.status.value)

    @strawberry.field(description="What is in its way; none where it is effective.")
    def obstacles(self) -> list[Obstacle]:
        """Why not."""
        return obstacles_of(self.found.obstacles(), self.id_suffix)

    @strawberry.field(
        description="The key of its configuration there, which names its overlay; null where it is"
        " neither effective nor blocked."
    )
    def configuration(self) -> str | None:
        """The overlay's key."""
        return self.found.key

    @strawberry.field(
        description="Its composed values there, without late-bound ones; null where it has no"
        " configuration. What layers set that you may not see is left out."
    )
    def values(self) -> Json | None:
        """The values."""
        told = self.found.told()
        return None if told is None else Json(told.values)

    @strawberry.field(description="Every one of its composed values with the layer that gave it.")
    def origins(self) -> list[LayeredValue]:
        """The values with their layers."""
        told = self.found.told()
        return [] if told is None else leaves_of(told.leaves)

    @strawberry.field(description="Its late-bound values there.")
    def late_bound(self) -> list[LateBoundValue]:
        """The values that differ per cluster."""
        return list(map(late_of, self.found.late()))


@strawberry.type(description="A namespace on one cluster.")
class NamespaceOnCluster:
    """The applications of a namespace that are assigned to a cluster."""

    name: Name = strawberry.field(description="The namespace.")
    applications: list[ApplicationOnCluster] = strawberry.field(
        description="Its applications that are assigned to the cluster, by name."
    )


@strawberry.type(description="What runs on a cluster, with which values, and what is in the way.")
class ClusterWorkload:
    """The effective state of one cluster."""

    reading: strawberry.Private[Reading]
    cluster: strawberry.Private[ClusterNumber]
    id_suffix: strawberry.Private[str]

    @strawberry.field(description="The namespaces with an application assigned to it, by name.")
    def namespaces(self) -> list[NamespaceOnCluster]:
        """The namespaces."""
        found: dict[str, list[ApplicationOnCluster]] = {}
        for each in core.applications_on(self.reading, self.cluster):
            found.setdefault(each.namespace, []).append(self._shown(each))
        return [
            NamespaceOnCluster(name=Name(name), applications=found[name]) for name in sorted(found)
        ]

    @strawberry.field(
        description="The applications that are assigned to it, by name; with `status: UNASSIGNED`"
        " those that are not."
    )
    def applications(
        self,
        status: Annotated[
            WorkloadStatus | None, strawberry.argument(description="Only those that stand so.")
        ] = None,
        first: First = LISTED,
        after: AfterName = None,
    ) -> list[ApplicationOnCluster]:
        """The applications."""
        count = checked_first(first, APPLICATIONS_MAX, "applications")
        others = status is WorkloadStatus.UNASSIGNED
        listed = core.applications_off if others else core.applications_on
        found = [
            self._shown(each)
            for each in listed(self.reading, self.cluster)
            if (status is None or each.status.value == str(status.value))
            and (after is None or each.name > after)
        ]
        return found[:count]

    @strawberry.field(description="One application; null if it is not assigned to it.")
    def application(
        self, name: Annotated[Name, strawberry.argument(description="Its name.")]
    ) -> ApplicationOnCluster | None:
        """An application by name."""
        found = core.application_on(self.reading, name, self.cluster)
        return None if found is None else self._shown(found)

    @strawberry.field(
        description="What the applications placed on it ask for together, of those you may see."
    )
    def asked(self) -> Amounts:
        """The demand."""
        return amounts_of(core.asked_of(self.reading, self.cluster))

    @strawberry.field(description="Whether more is asked of it than it has.")
    def oversubscribed(self) -> bool:
        """Whether it is too much."""
        return self.cluster in self.reading.state.oversubscribed

    @strawberry.field(description="The fleet settings on it, with the layer that gave each.")
    def settings(self) -> list[LayeredValue]:
        """What fleet layers say."""
        return leaves_of(core.settings_on(self.reading, self.cluster).leaves)

    def _shown(self, found: core.ApplicationOn) -> ApplicationOnCluster:
        return ApplicationOnCluster(found=found, id_suffix=self.id_suffix)


@strawberry.type(description="What reaches a cluster by its selector; of what you may see.")
class ReachedBy:
    """The objects of the workload that choose a cluster."""

    reading: strawberry.Private[Reading]
    cluster: strawberry.Private[ClusterNumber]

    @strawberry.field(description="The assignments, by name.")
    def assignments(self, first: First = LISTED, after: AfterName = None) -> list[Name]:
        """The assignments."""
        return self._names(Kind.ASSIGNMENT, first, after, "assignments")

    @strawberry.field(description="The prohibitions, by name.")
    def prohibitions(self, first: First = LISTED, after: AfterName = None) -> list[Name]:
        """The prohibitions."""
        return self._names(Kind.PROHIBITION, first, after, "prohibitions")

    @strawberry.field(description="The layers, by name; those of the fleet too.")
    def layers(self, first: First = LISTED, after: AfterName = None) -> list[Name]:
        """The layers."""
        return self._names(Kind.LAYER, first, after, "layers")

    @strawberry.field(description="The policies that are for clusters, by name.")
    def policies(self, first: First = LISTED, after: AfterName = None) -> list[Name]:
        """The policies."""
        return self._names(Kind.POLICY, first, after, "policies")

    def _names(self, kind: Kind, first: int, after: str | None, nouns: str) -> list[Name]:
        found = core.reaching(self.reading, self.cluster, kind)
        return [Name(each) for each in some_of(found, first, after, nouns)]


@strawberry.type(description="A cluster as workloads see it.")
class Hosting(Recorded):
    """What of a cluster is worked out from the workload."""

    number: strawberry.Private[ClusterNumber]

    @strawberry.field(description="What runs on it, with which values, and what is in the way.")
    async def effective(self) -> ClusterWorkload:
        """Its effective state."""
        reading, suffix = await self.context.reading(self.view), self.context.id_suffix
        return ClusterWorkload(reading=reading, cluster=self.number, id_suffix=suffix)

    @strawberry.field(description="What reaches it: assignments, prohibitions, layers, policies.")
    async def reached_by(self) -> ReachedBy:
        """What chooses it."""
        return ReachedBy(reading=await self.context.reading(self.view), cluster=self.number)


def amounts_of(capacity: Capacity) -> Amounts:
    """Amounts of the core as they travel."""
    return Amounts(
        cpu_millicores=capacity.cpu_millicores,
        memory_mib=capacity.memory_mib,
        storage_mib=capacity.storage_mib,
    )


def leaves_of(leaves: Iterable[Leaf]) -> list[LayeredValue]:
    """Values of the core as they travel, by key."""
    return [
        LayeredValue(key=leaf.key, value=_json(leaf.value), layer=_layer(leaf.layer))
        for leaf in sorted(leaves, key=lambda each: each.path)
    ]


def late_of(late: LateValue) -> LateBoundValue:
    """A late-bound value of the core as it travels."""
    return LateBoundValue(
        key=late.key, value=_json(late.value), layer=_layer(late.layer), source=late.source
    )


def obstacles_of(obstacles: Iterable[CoreObstacle], id_suffix: str) -> list[Obstacle]:
    """Obstacles of the core as they travel, for objects whose ids end with ``id_suffix``."""
    return [
        Obstacle(
            kind=ObstacleKind(each.kind.value),
            message=each.message,
            about=[strawberry.ID(f"{ref}{id_suffix}") for ref in each.about],
        )
        for each in obstacles
    ]


def _json(value: object) -> Json | None:
    return None if value is None else Json(value)


def _layer(name: str) -> Name | None:
    return Name(name) if name else None
