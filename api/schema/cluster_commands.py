"""Commands on clusters and their memberships as they travel."""

from __future__ import annotations

import strawberry

from api.schema.cluster_inputs import (
    CapacityInput,
    LabelInput,
    LabelUpdate,
    OpeningHoursInput,
    capacity_of,
    label_updates_of,
    labels_of,
    opening_hours_of,
)
from api.schema.intent import choice, kept, kept_choice, removable
from api.schema.inventory_enums import ClusterKind, Reconciler
from api.schema.names import GroupPath, Name
from graph.model import command as core
from graph.model import inventory


@strawberry.input(description="A new cluster with its labels and memberships.")
class RegisterClusterInput:
    """As ``graph.model.command.RegisterCluster``; so for all below."""

    name: Name = strawberry.field(description="Its name, final.")
    title: str = strawberry.field(default="", description="What people call it.")
    kind: ClusterKind = strawberry.field(
        default=ClusterKind.KUBERNETES, description="What it is made of."
    )
    reconciler: Reconciler | None = strawberry.field(
        default=strawberry.UNSET,
        description="What pulls and applies on it; follows the kind by default.",
    )
    labels: list[LabelInput] = strawberry.field(
        default_factory=list[LabelInput], description="Its labels, each key once."
    )
    groups: list[GroupPath] = strawberry.field(
        default_factory=list[GroupPath], description="The groups it belongs to directly."
    )
    capacity: CapacityInput | None = strawberry.field(
        default=strawberry.UNSET, description="What it offers to workloads."
    )
    time_zone: str = strawberry.field(default="", description="Its time zone, as America/New_York.")
    opening_hours: OpeningHoursInput | None = strawberry.field(
        default=strawberry.UNSET, description="When its store is open."
    )

    def command(self) -> core.RegisterCluster:
        """The core's command."""
        reconciler = self.reconciler
        return core.RegisterCluster(
            name=self.name,
            title=self.title,
            kind=choice(inventory.ClusterKind, self.kind),
            reconciler=choice(inventory.Reconciler, reconciler) if reconciler else None,
            labels=labels_of(self.labels),
            groups=tuple(self.groups),
            capacity=capacity_of(self.capacity) if self.capacity else None,
            time_zone=self.time_zone,
            opening_hours=opening_hours_of(self.opening_hours) if self.opening_hours else None,
        )


@strawberry.input(description="Change fields of a cluster; what is left out stays as it is.")
class UpdateClusterInput:
    """What to change."""

    name: Name = strawberry.field(description="The cluster.")
    title: str | None = strawberry.field(
        default=strawberry.UNSET, description="What people call it."
    )
    kind: ClusterKind | None = strawberry.field(
        default=strawberry.UNSET, description="What it is made of."
    )
    reconciler: Reconciler | None = strawberry.field(
        default=strawberry.UNSET, description="What pulls and applies on it."
    )
    labels: list[LabelUpdate] = strawberry.field(
        default_factory=list[LabelUpdate],
        description="Labels to set or remove, each key once; others stay as they are.",
    )
    capacity: CapacityInput | None = strawberry.field(
        default=strawberry.UNSET, description="What it offers to workloads; null removes it."
    )
    time_zone: str | None = strawberry.field(
        default=strawberry.UNSET, description="Its time zone; empty if it is not known."
    )
    opening_hours: OpeningHoursInput | None = strawberry.field(
        default=strawberry.UNSET, description="When its store is open; null removes it."
    )

    def command(self) -> core.UpdateCluster:
        """The core's command."""
        return core.UpdateCluster(
            name=self.name,
            title=kept(self.title, "title"),
            kind=kept_choice(inventory.ClusterKind, self.kind, "kind"),
            reconciler=kept_choice(inventory.Reconciler, self.reconciler, "reconciler"),
            labels=label_updates_of(self.labels),
            capacity=removable(self.capacity, capacity_of),
            time_zone=kept(self.time_zone, "timeZone"),
            opening_hours=removable(self.opening_hours, opening_hours_of),
        )


@strawberry.input(description="Take a cluster out of the fleet.")
class RetireClusterInput:
    """What to retire."""

    name: Name = strawberry.field(description="The cluster.")

    def command(self) -> core.RetireCluster:
        """The core's command."""
        return core.RetireCluster(self.name)


@strawberry.input(
    description="Make a cluster a direct member of a group; where a hierarchy gives one place, this"
    " replaces it."
)
class JoinInput:
    """A membership that begins."""

    cluster: Name = strawberry.field(description="The cluster.")
    group: GroupPath = strawberry.field(description="The group.")

    def command(self) -> core.Join:
        """The core's command."""
        return core.Join(self.cluster, self.group)


@strawberry.input(description="End a direct membership.")
class LeaveInput:
    """A membership that ends."""

    cluster: Name = strawberry.field(description="The cluster.")
    group: GroupPath = strawberry.field(description="The group.")

    def command(self) -> core.Leave:
        """The core's command."""
        return core.Leave(self.cluster, self.group)
