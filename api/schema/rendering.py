"""What `rendering` says: one type for each kind of message."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import strawberry

from api.context import Context
from api.schema.message import ResyncRequired
from api.schema.names import Cursor, Name, Revision
from api.schema.rendered import (
    BlockedLines,
    DroppedDefinition,
    DroppedOverlay,
    Pointer,
    RemovedLines,
    RenderedOverlay,
    RenderedSettings,
    blocked_of,
    dropped_of,
    names_of,
    overlay_of,
    pointer_of,
    removed_of,
    settings_of,
)
from api.schema.workload import Application, Namespace, Policy, applications, namespaces, policies
from graph.effective import portion as core
from graph.effective.rendition import FLEET
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView

_RESUME = (
    "The last place completed; null before the first RenderingComplete of a stream that began"
    " without `after`. What is said after it counts once it is completed, and not before."
)


@strawberry.type(description="What is to be taken away.")
class RenderingRemovals:
    """Things that go."""

    cursor: Cursor | None = strawberry.field(description=_RESUME)
    clusters: list[Name] = strawberry.field(
        description="Clusters that are gone, and their pointers with them; that their lines go was"
        " said before."
    )
    lines: list[RemovedLines] = strawberry.field(
        description="Lines. In a snapshot, where something is prohibited: in case there is a line."
    )
    dropped_overlays: list[DroppedOverlay] = strawberry.field(
        description="Overlays that nobody runs. Lines that are held because they are blocked keep"
        " theirs alive: take such an overlay away once no line leads to it."
    )
    dropped_settings: list[str] = strawberry.field(
        description="Keys of fleet settings that nobody runs; where layers conflict, what a cluster"
        " has is kept alive likewise."
    )
    dropped_definitions: list[DroppedDefinition] = strawberry.field(description="Definitions.")


@strawberry.type(description="Definitions that are new or were written again.")
class RenderingDefinitions:
    """Definitions, as they are at the place that completes the step."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]
    refs: strawberry.Private[Sequence[Ref]]

    cursor: Cursor | None = strawberry.field(description=_RESUME)

    @strawberry.field(description="The applications, by name.")
    def applications(self) -> list[Application]:
        """Applications."""
        return applications(self.context, self.view, self._named(Kind.APPLICATION))

    @strawberry.field(description="The namespaces, by name.")
    def namespaces(self) -> list[Namespace]:
        """Namespaces."""
        return namespaces(self.context, self.view, self._named(Kind.NAMESPACE))

    @strawberry.field(description="The policies, by name.")
    def policies(self) -> list[Policy]:
        """Policies."""
        return policies(self.context, self.view, self._named(Kind.POLICY))

    def _named(self, kind: Kind) -> list[str]:
        return [str(ref.key) for ref in self.refs if ref.kind is kind]


@strawberry.type(description="Settings of the fleet that are new or differ.")
class RenderingSettings:
    """Settings to be written."""

    cursor: Cursor | None = strawberry.field(description=_RESUME)
    settings: list[RenderedSettings] = strawberry.field(description="The settings.")


@strawberry.type(
    description="Overlays that are new or are to be rendered again: the content of each follows"
    " those who run it, also for lines that are held."
)
class RenderingOverlays:
    """Overlays to be written."""

    cursor: Cursor | None = strawberry.field(description=_RESUME)
    overlays: list[RenderedOverlay] = strawberry.field(
        description="The overlays; of one application together."
    )


@strawberry.type(description="Pointers that are new or differ.")
class RenderingPointers:
    """Pointers to be written."""

    cursor: Cursor | None = strawberry.field(description=_RESUME)
    pointers: list[Pointer] = strawberry.field(description="The pointers.")


@strawberry.type(description="What is blocked, newly or for other reasons than before.")
class RenderingBlocked:
    """What stays as it is."""

    cursor: Cursor | None = strawberry.field(description=_RESUME)
    blocked: list[BlockedLines] = strawberry.field(description="The lines that stay.")


@strawberry.type(
    description="All up to here has been said: what was said since the last one counts now."
)
class RenderingComplete:
    """The end of a step."""

    cursor: Cursor | None = strawberry.field(
        description="Never null. Keep it with what was rendered, and pass it as `after` to go on"
        " behind it."
    )
    revision: Revision = strawberry.field(description="The revision that was reached.")
    accepted_loss: int = strawberry.field(
        description="How many (application, cluster) pairs the changes of this step took away with"
        " an expectedLoss stated; for a snapshot 0."
    )


RenderingEvent = Annotated[
    RenderingRemovals
    | RenderingDefinitions
    | RenderingSettings
    | RenderingOverlays
    | RenderingPointers
    | RenderingBlocked
    | RenderingComplete
    | ResyncRequired,
    strawberry.union(
        "RenderingEvent",
        description="What `rendering` says. A step, the first one being the snapshot, takes any"
        " number of messages in this order: removals of lines and pointers, definitions, settings,"
        " overlays, pointers, what is blocked, removals of the rest, RenderingComplete.",
    ),
]


def event_of(
    found: core.Portion, context: Context, view: FleetView, cursor: Cursor | None
) -> object:
    """A portion as it travels."""
    match found:
        case core.Removals():
            return _removals(found, cursor)
        case core.Definitions(refs):
            return RenderingDefinitions(context=context, view=view, refs=refs, cursor=cursor)
        case core.Settings(overlays):
            return RenderingSettings(
                cursor=cursor, settings=[settings_of(each) for each in overlays]
            )
        case core.Overlays(overlays):
            return RenderingOverlays(
                cursor=cursor, overlays=[overlay_of(each) for each in overlays]
            )
        case core.Pointers(pointers):
            made = map(partial(pointer_of, view), pointers)
            return RenderingPointers(cursor=cursor, pointers=list(made))
        case core.Blocked(held):
            return RenderingBlocked(cursor=cursor, blocked=[blocked_of(each) for each in held])


def _removals(found: core.Removals, cursor: Cursor | None) -> RenderingRemovals:
    return RenderingRemovals(
        cursor=cursor,
        clusters=names_of(found.pointers),
        lines=[removed_of(each) for each in found.lines],
        dropped_overlays=[
            DroppedOverlay(application=Name(application), key=key)
            for application, key in found.overlays
            if application != FLEET
        ],
        dropped_settings=[key for application, key in found.overlays if application == FLEET],
        dropped_definitions=[dropped_of(ref) for ref in found.definitions],
    )
