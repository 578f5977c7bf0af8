"""What a rendering is made of as it travels: overlays, pointers, lines, and what goes or stays.

A whole fleet has millions of lines, so the fields of a line are columns: see ``api.columns``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

import strawberry

from api.columns import COLUMN, Column, Rows
from api.schema.effective_enums import BlockedReason
from api.schema.inventory_enums import ClusterKind, Reconciler
from api.schema.names import Json, Name
from graph.effective import portion as core
from graph.effective.rendition import FLEET
from graph.model.ref import Ref
from graph.model.view import FleetView


@strawberry.enum(description="Why an application is to be taken away from a cluster.")
class RemovalCause(Enum):
    """As ``graph.effective.rendition.Cause``."""

    UNASSIGNED = strawberry.enum_value(
        "unassigned", description="Nothing assigns it there any more."
    )
    PROHIBITED = strawberry.enum_value(
        "prohibited", description="It may not be there. Nothing may hold this back."
    )
    LACKING = strawberry.enum_value(
        "lacking", description="The cluster has no longer what it requires."
    )
    RETIRED = strawberry.enum_value("retired", description="The cluster is gone.")


@strawberry.enum(description="What is defined.")
class DefinitionKind(Enum):
    """The kinds of definition that rendering reads."""

    NAMESPACE = strawberry.enum_value("namespace", description="A namespace.")
    APPLICATION = strawberry.enum_value("application", description="An application.")
    POLICY = strawberry.enum_value("policy", description="A policy.")


@strawberry.type(description="The values of one configuration that runs somewhere.")
class RenderedOverlay:
    """An overlay to be written."""

    application: Name = strawberry.field(description="The application.")
    key: str = strawberry.field(
        description="Its name among the overlays of the application: it stands for the layers,"
        " whatever they say and whichever is stronger."
    )
    layers: list[Name] = strawberry.field(
        description="The layers that make it, by name; those that reach the whole fleet are in"
        " every one and are left out."
    )
    values: Json = strawberry.field(description="The composed values.")
    digest: str = strawberry.field(description="A digest of the values: equal ones have it equal.")
    clusters: int = strawberry.field(
        description="How many clusters run it as it is said. When only this changes it is not"
        " said again."
    )


@strawberry.type(description="The fleet's own settings, as one set of clusters has them.")
class RenderedSettings:
    """Settings to be written."""

    key: str = strawberry.field(description="Their name: it stands for the fleet layers.")
    layers: list[Name] = strawberry.field(
        description="The fleet layers that make them, by name, but for those on the whole fleet."
    )
    values: Json = strawberry.field(description="The composed settings.")
    digest: str = strawberry.field(description="A digest of them: equal ones have it equal.")
    clusters: int = strawberry.field(description="How many clusters have them as it is said.")


def _applications(_: object, lines: Sequence[core.Line]) -> list[str]:
    return [line.application for line in lines]


def _namespaces(_: object, lines: Sequence[core.Line]) -> list[str]:
    return [line.namespace for line in lines]


def _keys(_: object, lines: Sequence[core.Line]) -> list[str]:
    return [line.key for line in lines]


def _late(_: object, lines: Sequence[core.Line]) -> list[object]:
    return [line.late for line in lines]


@strawberry.type(description="An application that runs on a cluster.")
class PointerLine:
    """A line of a pointer."""

    line: strawberry.Private[core.Line]

    @strawberry.field(description="The application.", metadata={COLUMN: Column(_applications)})
    def application(self) -> Name:
        """Its name."""
        return Name(self.line.application)

    @strawberry.field(description="Its namespace.", metadata={COLUMN: Column(_namespaces)})
    def namespace(self) -> Name:
        """The namespace it is in."""
        return Name(self.line.namespace)

    @strawberry.field(description="The key of its overlay.", metadata={COLUMN: Column(_keys)})
    def key(self) -> str:
        """The overlay it runs."""
        return self.line.key

    @strawberry.field(
        description="The values of its late-bound keys, by key.", metadata={COLUMN: Column(_late)}
    )
    def late_bound(self) -> Json:
        """What differs from cluster to cluster."""
        return Json(self.line.late)


@strawberry.type(
    description="A cluster as it is. Of its lines, those that are new or differ: all others stay."
)
class Pointer:
    """A pointer to be written."""

    view: strawberry.Private[FleetView]
    held: strawberry.Private[Sequence[core.Line]]

    cluster: Name = strawberry.field(description="The cluster.")
    kind: ClusterKind = strawberry.field(description="What it is made of.")
    reconciler: Reconciler = strawberry.field(description="What pulls and applies there.")
    settings: str | None = strawberry.field(
        description="The key of the fleet's own settings there. Null where fleet layers conflict:"
        " those it has stay."
    )
    policies: list[Name] = strawberry.field(
        description="Policies on clusters that reach it and list registries, by name."
    )

    @strawberry.field(description="The lines that are new or differ, by application.")
    def lines(self) -> list[PointerLine]:
        """Its lines."""
        found = Rows(self.view, self.held, _line, kept=False)
        return found  # type: ignore[return-value]  # a list to whoever reads it


def _line(line: core.Line) -> PointerLine:
    return PointerLine(line=line)


@strawberry.type(description="Clusters from which an application is to be taken away.")
class RemovedLines:
    """Lines that go."""

    application: Name = strawberry.field(description="The application.")
    cause: RemovalCause = strawberry.field(description="Why.")
    clusters: list[Name] = strawberry.field(
        description="The clusters. Where there is no line, there is nothing to do."
    )


@strawberry.type(description="An overlay that no cluster runs any more.")
class DroppedOverlay:
    """An overlay that goes."""

    application: Name = strawberry.field(description="The application.")
    key: str = strawberry.field(
        description="The overlay's key. Keep it while a held line of something blocked leads to it."
    )


@strawberry.type(description="A definition that is gone.")
class DroppedDefinition:
    """A definition that goes."""

    kind: DefinitionKind = strawberry.field(description="What it was.")
    name: Name = strawberry.field(description="Its name.")


@strawberry.type(description="A reason for which something is blocked.")
class BlockedFor:
    """A reason, told to people."""

    reason: BlockedReason = strawberry.field(description="What kind of reason.")
    message: str = strawberry.field(description="What is wrong.")


@strawberry.type(
    description="Clusters on which an application is placed and cannot run as it should. They"
    " keep the line they have, if they have one, until another line or a removal is said. Only the"
    " line stays: the overlay it leads to stays alive with it, and the content of one that others"
    " share follows those who run it."
)
class BlockedLines:
    """Lines that stay as they are."""

    application: Name | None = strawberry.field(
        description="The application; null: the fleet's own settings."
    )
    reasons: list[BlockedFor] = strawberry.field(
        description="All that blocks it there; whatever was said before counts no longer."
    )
    clusters: list[Name] = strawberry.field(description="The clusters.")


def overlay_of(found: core.Overlay) -> RenderedOverlay:
    """An overlay as it travels."""
    return RenderedOverlay(
        application=Name(found.application),
        key=found.key,
        layers=names_of(found.layers),
        values=Json(found.values),
        digest=found.digest,
        clusters=found.clusters,
    )


def settings_of(found: core.Overlay) -> RenderedSettings:
    """Settings of the fleet as they travel."""
    return RenderedSettings(
        key=found.key,
        layers=names_of(found.layers),
        values=Json(found.values),
        digest=found.digest,
        clusters=found.clusters,
    )


def pointer_of(view: FleetView, found: core.Pointer) -> Pointer:
    """A pointer as it travels."""
    return Pointer(
        view=view,
        held=found.lines,
        cluster=Name(found.cluster),
        kind=ClusterKind(found.kind.value),
        reconciler=Reconciler(found.reconciler.value),
        settings=found.fleet,
        policies=names_of(found.policies),
    )


def blocked_of(found: core.Held) -> BlockedLines:
    """What is blocked as it travels."""
    return BlockedLines(
        application=Name(found.application) if found.application != FLEET else None,
        reasons=[
            BlockedFor(reason=BlockedReason(each.reason.value), message=each.message)
            for each in found.troubles
        ],
        clusters=names_of(found.clusters),
    )


def names_of(found: Iterable[str]) -> list[Name]:
    """Names as they travel."""
    return [Name(each) for each in found]


def removed_of(found: core.RemovedLines) -> RemovedLines:
    """Lines that go, as they travel."""
    return RemovedLines(
        application=Name(found.application),
        cause=RemovalCause(found.cause.value),
        clusters=names_of(found.clusters),
    )


def dropped_of(ref: Ref) -> DroppedDefinition:
    """A definition that is gone, as it travels."""
    return DroppedDefinition(kind=DefinitionKind(ref.kind.value), name=Name(str(ref.key)))
