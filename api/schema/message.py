"""What subscriptions say: one type for each kind of message, and the rule of the cursor.

Whoever follows keeps the last cursor it was given and, after a broken connection, passes it as
``after``. A cursor is therefore never given before everything up to it has been said: while a step
takes several messages, all but the last carry the cursor of the step before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import strawberry

from api.context import Context
from api.schema.change import Changeset
from api.schema.inventory import Cluster
from api.schema.names import Cursor, Name
from api.schema.page import rows_of
from graph.model.names import ClusterNumber
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView

_RESUME = (
    "Pass it as `after` to go on behind this message. Null only before the first CaughtUp of a"
    " stream that began without `after`: a snapshot cannot be resumed half-way."
)


@strawberry.type(description="Nothing to see happened up to here.")
class Progress:
    """The place in history moves on."""

    cursor: Cursor = strawberry.field(description="Pass it as `after` to go on behind it.")


@strawberry.type(
    description="The last message of a stream that cannot go on: its cursor is too old or of"
    " another history, or what may be seen has changed. Subscribe again without `after`."
)
class ResyncRequired:
    """A follower has to start again."""

    message: str = strawberry.field(description="Why.")
    hint: str = strawberry.field(description="What to do next.")
    head: Cursor = strawberry.field(
        description="Where the fleet is now. Not a place to resume: what lies before it is missing."
    )


@strawberry.type(description="A part of the set as it is when the stream begins.")
class Snapshot:
    """Some clusters of the whole set."""

    context: strawberry.Private[Context]
    numbers: strawberry.Private[Sequence[ClusterNumber]]
    cursor: Cursor | None = strawberry.field(description=_RESUME)

    @strawberry.field(description="Clusters of the set, each in one part only.")
    def clusters(self) -> list[Cluster]:
        """The clusters of this part."""
        return rows(self.context, self.numbers)


@strawberry.type(
    description="Everything up to here has been said: the set is whole. Sent after a snapshot,"
    " after what was missed has been made up for, and now and then while nothing moves."
)
class CaughtUp:
    """The marker behind a snapshot."""

    cursor: Cursor | None = strawberry.field(description=_RESUME)
    count: int = strawberry.field(description="How many clusters the set has here.")


@strawberry.type(description="Clusters that have come into the set.")
class Gained:
    """Clusters that are in the set from here on."""

    context: strawberry.Private[Context]
    numbers: strawberry.Private[Sequence[ClusterNumber]]
    cursor: Cursor | None = strawberry.field(description=_RESUME)

    @strawberry.field(description="The clusters, as they are now.")
    def clusters(self) -> list[Cluster]:
        """The clusters gained."""
        return rows(self.context, self.numbers)


@strawberry.type(description="A cluster that has left the set, and may no longer exist.")
class LostCluster:
    """What can be said of a cluster that is not there any more."""

    id: strawberry.ID = strawberry.field(description="Its global id.")
    name: Name = strawberry.field(description="Its name.")


@strawberry.type(description="Clusters that have left the set.")
class Lost:
    """Clusters that are not in the set from here on."""

    before: strawberry.Private[FleetView]
    numbers: strawberry.Private[Sequence[ClusterNumber]]
    cursor: Cursor | None = strawberry.field(description=_RESUME)

    @strawberry.field(description="The clusters, as they were.")
    def clusters(self) -> list[LostCluster]:
        """The clusters lost."""
        name = self.before.cluster_name
        return [
            LostCluster(id=strawberry.ID(str(Ref(Kind.CLUSTER, number))), name=Name(name(number)))
            for number in self.numbers
        ]


ChangeEvent = Annotated[
    Changeset | Progress | ResyncRequired,
    strawberry.union("ChangeEvent", description="What `changes` says; the last may be a resync."),
]
ClusterSetEvent = Annotated[
    Snapshot | CaughtUp | Gained | Lost | ResyncRequired,
    strawberry.union(
        "ClusterSetEvent",
        description="What `clusterSet` says: parts of the snapshot, CaughtUp, then what moves."
        " Of one step, what is gained comes before what is lost.",
    ),
]


def rows(context: Context, numbers: Sequence[ClusterNumber]) -> list[Cluster]:
    """Clusters of what ``context`` sees, for the executor to read column by column."""
    return rows_of(context, context.seen, numbers)
