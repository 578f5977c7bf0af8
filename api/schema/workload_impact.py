"""What a batch would do to what runs, as it travels: per application, and along the business."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, cast

import strawberry

from api.schema.dry_run import DryRun
from api.schema.effective_enums import BlockedReason
from api.schema.facets import FacetInput, dimension_of
from api.schema.intent import inside
from api.schema.listing import LISTED, LISTED_MAX, AfterName, First, checked_first
from api.schema.names import GroupPath, LabelValue, Name
from api.schema.page import PAGE, After, ClusterConnection
from api.schema.placement import BlockedClusters
from graph.composition.problem import Reason
from graph.effective.moves import Move
from graph.engine import Preview
from graph.facets import ByGroup, ByLabel, Dimension, too_many_buckets
from graph.model.cluster_set import ClusterSet
from graph.model.errors import Invalid
from graph.model.inventory import LabelValue as CoreLabelValue
from graph.model.view import FleetView

MOVES = 20
"""Applications in an answer whose length is not given."""
ROLL_UPS_MAX = 4
"""Dimensions of one roll-up."""

By = Annotated[list[FacetInput], strawberry.argument(description="What to count by; at most 4.")]


@strawberry.type(description="Overlays that would be written or removed.")
class OverlayCounts:
    """Counts of overlays."""

    added: int = strawberry.field(description="Overlays that come.")
    rewritten: int = strawberry.field(description="Overlays whose content differs.")
    dropped: int = strawberry.field(description="Overlays that go.")


@strawberry.type(description="One value of a dimension, and what would move there.")
class MoveBucket:
    """Pairs of application and cluster in one bucket."""

    value: LabelValue = strawberry.field(description="The path of a group, or a label's value.")
    gained: int = strawberry.field(description="Clusters that would gain an application.")
    lost: int = strawberry.field(description="Clusters that would lose an application.")
    reconfigured: int = strawberry.field(description="Clusters that would get other values.")
    blocked: int = strawberry.field(description="Clusters where something would be in the way.")
    freed: int = strawberry.field(description="Clusters where nothing would be any more.")


@strawberry.type(
    description="What would move, by one dimension: what goes where it was, the rest where it"
    " would be."
)
class MoveRollUp:
    """A counted dimension."""

    found: strawberry.Private[list[MoveBucket]]

    group: GroupPath | None = strawberry.field(description="The group whose children are counted.")
    label: Name | None = strawberry.field(description="The label whose values are counted.")

    @strawberry.field(
        description="The values where something would move, by value; more than 1,000 are refused."
    )
    def buckets(self, first: First = LISTED) -> list[MoveBucket]:
        """The counted values."""
        return self.found[: checked_first(first, LISTED_MAX, "buckets")]


@dataclass(frozen=True, slots=True)
class Moving:
    """A preview, for what it does to applications."""

    run: DryRun

    @property
    def found(self) -> Preview:
        """What the core computed."""
        return self.run.found

    def overlays(self, moves: Sequence[Move]) -> OverlayCounts | None:
        """How many overlays are touched; None for those who see a part of the fleet."""
        if self.found.reading.visible is not None:
            return None
        return OverlayCounts(
            added=sum(len(move.added) for move in moves),
            rewritten=sum(len(move.rewritten) for move in moves),
            dropped=sum(len(move.dropped) for move in moves),
        )

    async def rolled_up(self, moves: Sequence[Move], by: Sequence[FacetInput]) -> list[MoveRollUp]:
        """``moves`` by each of some dimensions."""
        if len(by) > ROLL_UPS_MAX:
            raise Invalid(
                f"{len(by):,} dimensions", hint=f"ask for at most {ROLL_UPS_MAX}", path=("by",)
            )
        made: list[MoveRollUp] = []
        for place, each in enumerate(by):
            with inside("by", place):
                dimension = dimension_of(self.run.now, self.found.before, each)
                found = await asyncio.to_thread(self._buckets, moves, dimension)
            made.append(
                MoveRollUp(
                    found=found,
                    group=each.group if isinstance(dimension, ByGroup) else None,
                    label=each.label if isinstance(dimension, ByLabel) else None,
                )
            )
        return made

    def _buckets(self, moves: Sequence[Move], dimension: Dimension) -> list[MoveBucket]:
        """What goes is counted where it was, and the rest where it would be."""
        counts: dict[CoreLabelValue, dict[str, int]] = {}
        self._count(counts, moves, dimension, ("lost",), self.found.before)
        if _is_in(dimension, self.found.after):
            rest = [kind for kind in _PARTS if kind != "lost"]
            self._count(counts, moves, dimension, rest, self.found.after)
        if len(counts) > LISTED_MAX:
            raise too_many_buckets(LISTED_MAX)
        # values of one dimension have one type, so they compare; the checker cannot know
        ordered = sorted(counts.items(), key=lambda each: cast(str, each[0]))
        return [MoveBucket(value=LabelValue(value), **found) for value, found in ordered]

    def _count(
        self,
        counts: dict[CoreLabelValue, dict[str, int]],
        moves: Sequence[Move],
        dimension: Dimension,
        kinds: Collection[str],
        view: FleetView,
    ) -> None:
        """Add what some kinds of moves come to in a view."""
        parts = [[held for move in moves if (held := _PARTS[kind](move))] for kind in kinds]
        engine = self.run.now.engine
        for each in engine.roll_up(dimension, parts, buckets_max=LISTED_MAX, view=view):
            bucket = counts.setdefault(each.value, dict.fromkeys(_PARTS, 0))
            bucket.update(zip(kinds, each.clusters, strict=True))


def _is_in(dimension: Dimension, view: FleetView) -> bool:
    """Whether a view has the dimension: a batch may take a group or a label key away."""
    if isinstance(dimension, ByGroup):
        return view.group(dimension.group) is not None
    return view.label_key(dimension.key) is not None


def _blocked(move: Move) -> ClusterSet:
    return ClusterSet.union(move.blocked.values())


_PARTS: dict[str, Callable[[Move], ClusterSet]] = {
    "gained": lambda move: move.gained,
    "lost": lambda move: move.lost,
    "reconfigured": lambda move: move.reconfigured,
    "blocked": _blocked,
    "freed": lambda move: move.freed,
}
"""What a roll-up counts."""


@strawberry.type(description="What would differ for one application.")
class ApplicationMove:
    """What one application gains and loses."""

    moving: strawberry.Private[Moving]
    move: strawberry.Private[Move]

    @strawberry.field(description="The application.")
    def application(self) -> Name:
        """Its name."""
        return Name(self.move.application)

    @strawberry.field(description="On how many clusters it would run that it was not on.")
    def gained_count(self) -> int:
        """How many come."""
        return len(self.move.gained)

    @strawberry.field(description="From how many clusters it would be taken away.")
    def lost_count(self) -> int:
        """How many go."""
        return len(self.move.lost)

    @strawberry.field(description="On how many clusters it would have other values.")
    def reconfigured_count(self) -> int:
        """How many change."""
        return len(self.move.reconfigured)

    @strawberry.field(description="On how many clusters it would newly be blocked.")
    def blocked_count(self) -> int:
        """How many are blocked."""
        return len(_blocked(self.move))

    @strawberry.field(description="On how many clusters it would no longer be blocked.")
    def freed_count(self) -> int:
        """How many are freed."""
        return len(self.move.freed)

    @strawberry.field(description="The clusters it would gain, as they would be.")
    def gained(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """Who comes."""
        return self.moving.run.coming(self.move.gained, first, after)

    @strawberry.field(description="The clusters it would lose, as they are.")
    def lost(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """Who goes."""
        return self.moving.run.going(self.move.lost, first, after)

    @strawberry.field(description="The clusters with other values, as they would be.")
    def reconfigured(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """Who changes."""
        return self.moving.run.coming(self.move.reconfigured, first, after)

    @strawberry.field(description="The clusters on which it would be freed, as they would be.")
    def freed(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """Who is freed."""
        return self.moving.run.coming(self.move.freed, first, after)

    @strawberry.field(description="Why it would newly be blocked, and where.")
    def blocked(self) -> list[BlockedClusters]:
        """What would be in the way."""
        return [
            BlockedClusters(
                context=self.moving.run.then,
                reading=self.moving.found.reading,
                application=self.move.application,
                held=self.move.blocked[reason],
                reason=BlockedReason(reason.value),
            )
            for reason in Reason
            if reason in self.move.blocked
        ]

    @strawberry.field(
        description="Its overlays that would be touched; null where you may see a part of the"
        " fleet."
    )
    def overlays(self) -> OverlayCounts | None:
        """The overlays."""
        return self.moving.overlays([self.move])

    @strawberry.field(description="How many clusters would point elsewhere.")
    def pointers(self) -> int:
        """The pointers."""
        return len(self.move.repointed)

    @strawberry.field(description="What would move, by each of some dimensions.")
    async def roll_up(self, by: By) -> list[MoveRollUp] | None:
        """Counts along the business."""
        return await self.moving.rolled_up([self.move], by)


@strawberry.type(
    description="What would differ in what runs, in pairs of an application and a cluster."
)
class WorkloadImpact:
    """All applications together."""

    moving: strawberry.Private[Moving]

    @strawberry.field(description="Pairs that would come.")
    def gained(self) -> int:
        """How many come."""
        return self._sum("gained")

    @strawberry.field(description="Pairs that would be taken away.")
    def lost(self) -> int:
        """How many go."""
        return self._sum("lost")

    @strawberry.field(description="Pairs that would get other values.")
    def reconfigured(self) -> int:
        """How many change."""
        return self._sum("reconfigured")

    @strawberry.field(description="Pairs that would newly be blocked.")
    def blocked(self) -> int:
        """How many are blocked."""
        return self._sum("blocked")

    @strawberry.field(description="Pairs that would no longer be blocked.")
    def freed(self) -> int:
        """How many are freed."""
        return self._sum("freed")

    @strawberry.field(
        description="Overlays that would be touched; null where you may see a part of the fleet."
    )
    def overlays(self) -> OverlayCounts | None:
        """The overlays."""
        return self.moving.overlays(self.moving.found.moves)

    @strawberry.field(description="How many clusters would point elsewhere, for any application.")
    def pointers(self) -> int:
        """The pointers."""
        return len(ClusterSet.union([move.repointed for move in self.moving.found.moves]))

    @strawberry.field(description="How many applications something would differ for.")
    def application_count(self) -> int:
        """How many applications."""
        return len(self.moving.found.moves)

    @strawberry.field(description="The applications something would differ for, by name.")
    def applications(self, first: First = MOVES, after: AfterName = None) -> list[ApplicationMove]:
        """The moves, per application."""
        count = checked_first(first, LISTED_MAX, "applications")
        moves = self.moving.found.moves
        shown = [each for each in moves if after is None or each.application > after]
        return [ApplicationMove(moving=self.moving, move=each) for each in shown[:count]]

    @strawberry.field(description="What would move, by each of some dimensions.")
    async def roll_up(self, by: By) -> list[MoveRollUp] | None:
        """Counts along the business."""
        return await self.moving.rolled_up(self.moving.found.moves, by)

    def _sum(self, kind: str) -> int:
        return sum(len(_PARTS[kind](move)) for move in self.moving.found.moves)
