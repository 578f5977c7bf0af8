"""The closed lists of effective state as they travel; the values are those of the core."""

from __future__ import annotations

from enum import Enum

import strawberry


@strawberry.enum(description="How an application and a cluster stand to each other.")
class WorkloadStatus(Enum):
    """As ``graph.effective.reading.Status``."""

    EFFECTIVE = strawberry.enum_value("effective", description="It runs there.")
    BLOCKED = strawberry.enum_value(
        "blocked",
        description="It is placed there, and something is in its way: the line it had stays.",
    )
    PROHIBITED = strawberry.enum_value(
        "prohibited", description="It is assigned there, and may not run there."
    )
    LACKING = strawberry.enum_value(
        "lacking", description="It is assigned there, and the cluster lacks what it requires."
    )
    UNASSIGNED = strawberry.enum_value("unassigned", description="Nothing assigns it there.")


@strawberry.enum(description="Why an application that is placed on a cluster is blocked there.")
class BlockedReason(Enum):
    """As ``graph.composition.problem.Reason``."""

    SCHEMA = strawberry.enum_value("schema", description="Its composed values break its schema.")
    CONFLICT = strawberry.enum_value(
        "conflict", description="Two layers that nothing orders give one leaf different values."
    )
    LATE_BOUND = strawberry.enum_value(
        "late_bound", description="A late-bound key has no value there."
    )
    CAPACITY = strawberry.enum_value(
        "capacity", description="More is requested than the cluster has."
    )
    DEPENDENCY = strawberry.enum_value(
        "dependency", description="Something it depends on is not effective there."
    )


@strawberry.enum(description="What is in the way of an application on a cluster.")
class ObstacleKind(Enum):
    """As ``graph.effective.obstacle.ObstacleKind``."""

    PROHIBITION = strawberry.enum_value(
        "prohibition", description="A prohibition takes it, or something it depends on."
    )
    REQUIRES = strawberry.enum_value(
        "requires", description="The cluster does not satisfy what it requires."
    )
    RECONCILER = strawberry.enum_value(
        "reconciler", description="It does not run under the reconciler of the cluster."
    )
    SCHEMA = strawberry.enum_value("schema", description="Its composed values break its schema.")
    CONFLICT = strawberry.enum_value(
        "conflict", description="Two layers that nothing orders give one leaf different values."
    )
    LATE_BOUND = strawberry.enum_value(
        "late_bound", description="A late-bound key has no value there."
    )
    CAPACITY = strawberry.enum_value(
        "capacity", description="More is requested than the cluster has."
    )
    DEPENDENCY = strawberry.enum_value(
        "dependency", description="Something it depends on is not effective there."
    )
