"""How two sets of clusters differ in what runs on them, as it travels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import strawberry

from api.schema.listing import AfterName, First, checked_first
from api.schema.names import Json, Name
from graph.effective.compare import Comparison as CoreComparison
from graph.effective.compare import Difference as CoreDifference
from graph.effective.compare import Has, Variant

COMPARED = 20
COMPARED_MAX = 200
"""Applications in one list of a comparison: each is worked out."""


@strawberry.type(description="An application that runs on one of two sides alone.")
class OneSided:
    """What only one side has."""

    application: Name = strawberry.field(description="The application.")
    namespace: Name = strawberry.field(description="Its namespace.")
    clusters: int = strawberry.field(description="On how many clusters of that side it runs.")


@strawberry.type(description="A value that clusters of one side have.")
class ComparedValue:
    """One of the values of a leaf."""

    value: Json | None = strawberry.field(description="The value; null where there is none.")
    absent: bool = strawberry.field(description="Whether these clusters have no value there.")
    layer: Name | None = strawberry.field(
        description="The layer that gave it; null: the application's own values, or nothing."
    )
    clusters: int = strawberry.field(description="How many clusters of the side have it.")


@strawberry.type(description="A value that is not the same on both sides.")
class DifferingLeaf:
    """One leaf with what each side has there."""

    key: str = strawberry.field(description="Where it is, as image.tag.")
    left: list[ComparedValue] = strawberry.field(
        description="What the left side has, that of most clusters first; at most 10."
    )
    right: list[ComparedValue] = strawberry.field(description="What the right side has, likewise.")


@strawberry.type(description="An application that runs on both sides, with other values.")
class WorkloadDifference:
    """What differs for one application."""

    comparison: strawberry.Private[CoreComparison]
    has: strawberry.Private[Has]
    worked_out: strawberry.Private[CoreDifference | None] = None

    @strawberry.field(description="The application.")
    def application(self) -> Name:
        """Its name."""
        return Name(self.has.application)

    @strawberry.field(description="Its namespace.")
    def namespace(self) -> Name:
        """The name of its namespace."""
        return Name(self.has.namespace)

    @strawberry.field(description="On how many clusters of the left side it runs.")
    def left_count(self) -> int:
        """The count of the left."""
        return self.has.left

    @strawberry.field(description="On how many clusters of the right side it runs.")
    def right_count(self) -> int:
        """The count of the right."""
        return self.has.right

    @strawberry.field(
        description="Whether all is told: every configuration was looked at, and every value that"
        " differs is listed."
    )
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return self._difference().complete

    @strawberry.field(
        description="The values that differ, by key. Late-bound ones are compared between two"
        " single clusters."
    )
    def leaves(self) -> list[DifferingLeaf]:
        """The differing values."""
        return [
            DifferingLeaf(key=each.key, left=_values(each.left), right=_values(each.right))
            for each in self._difference().leaves
        ]

    def _difference(self) -> CoreDifference:
        if self.worked_out is None:
            self.worked_out = self.comparison.difference(self.has)
        return self.worked_out


@strawberry.type(description="How two sets of clusters differ in what runs on them.")
class Comparison:
    """Two sides, left and right."""

    found: strawberry.Private[CoreComparison]

    @strawberry.field(description="How many clusters the left side has.")
    def left_count(self) -> int:
        """The size of the left."""
        return len(self.found.left)

    @strawberry.field(description="How many clusters the right side has.")
    def right_count(self) -> int:
        """The size of the right."""
        return len(self.found.right)

    @strawberry.field(description="Applications that run on the left alone, by name.")
    def only_left(self, first: First = COMPARED, after: AfterName = None) -> list[OneSided]:
        """What the right has not."""
        shown = _some(self.found.only_left, first, after)
        return [_one_sided(each, each.left) for each in shown]

    @strawberry.field(description="Applications that run on the right alone, by name.")
    def only_right(self, first: First = COMPARED, after: AfterName = None) -> list[OneSided]:
        """What the left has not."""
        shown = _some(self.found.only_right, first, after)
        return [_one_sided(each, each.right) for each in shown]

    @strawberry.field(description="Applications that run on both with other values, by name.")
    def differing(
        self, first: First = COMPARED, after: AfterName = None
    ) -> list[WorkloadDifference]:
        """What both have, otherwise."""
        shown = _some(self.found.differing, first, after)
        return [WorkloadDifference(comparison=self.found, has=each) for each in shown]

    @strawberry.field(description="How many applications run on both with other values.")
    def differing_count(self) -> int:
        """How many differ."""
        return len(self.found.differing)

    @strawberry.field(description="How many applications run on both with the same values.")
    def same_count(self) -> int:
        """How many do not differ."""
        return len(self.found.same)


def _some(found: Sequence[Has], first: int, after: str | None) -> Sequence[Has]:
    count = checked_first(first, COMPARED_MAX, "applications")
    behind = [each for each in found if after is None or each.application > after]
    return behind[:count]


def _one_sided(has: Has, clusters: int) -> OneSided:
    return OneSided(
        application=Name(has.application), namespace=Name(has.namespace), clusters=clusters
    )


def _values(variants: Iterable[Variant]) -> list[ComparedValue]:
    return [
        ComparedValue(
            value=None if each.value is None else Json(each.value),
            absent=each.absent,
            layer=Name(each.layer) if each.layer else None,
            clusters=each.clusters,
        )
        for each in variants
    ]
