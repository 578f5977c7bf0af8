"""Subscriptions: the log, sets of clusters and what runs where, followed from any cursor."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Annotated

import strawberry

from api.context import Context
from api.schema.message import ChangeEvent, ClusterSetEvent
from api.schema.names import Cursor
from api.schema.rendering import RenderingEvent
from api.schema.rendering_trail import RenderingTrail
from api.schema.selector import SelectorInput
from api.schema.trail import ChangeTrail, SetTrail

After = Annotated[
    Cursor | None,
    strawberry.argument(
        description="The last cursor of an earlier stream: begin right behind it. Without it,"
        " begin now."
    ),
]


@strawberry.type(description="What happens from now on, or from a cursor on.")
class Subscription:
    """The streams; each returns the trail that the hub walks."""

    @strawberry.subscription(
        description="Every changeset with something to see, in order, without gap or repeat. It"
        " begins with how far the log is, or with what was missed since `after`."
    )
    def changes(
        self, info: strawberry.Info[Context, None], after: After = None
    ) -> AsyncIterable[ChangeEvent]:
        """Follow the log."""
        return ChangeTrail(info.context, after)

    @strawberry.subscription(
        description="The clusters a selector chooses, and what comes and goes. Without `after`: the"
        " whole set in parts, CaughtUp, then what moves. With it: what moved since, CaughtUp, then"
        " the same."
    )
    def cluster_set(
        self,
        info: strawberry.Info[Context, None],
        where: Annotated[
            SelectorInput,
            strawberry.argument(
                description="Which clusters. When its names come to mean something else the"
                " stream ends with ResyncRequired."
            ),
        ],
        after: After = None,
    ) -> AsyncIterable[ClusterSetEvent]:
        """Follow a set."""
        return SetTrail(info.context, where, after)

    @strawberry.subscription(
        description="What a renderer needs: overlays with their values, pointers, what goes and"
        " what is blocked. Without `after`: everything, then what differs, step by step. With it:"
        " what differs since, as one step. Keep nothing of a step before its RenderingComplete."
        " Refused to whoever may not see the whole fleet and all of the workload."
    )
    def rendering(
        self, info: strawberry.Info[Context, None], after: After = None
    ) -> AsyncIterable[RenderingEvent]:
        """Follow what runs where."""
        return RenderingTrail(info.context, after)
