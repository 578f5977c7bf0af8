"""Counts along the business: a roll-up counts as facets do, for many parts and in one walk."""

from __future__ import annotations

from random import Random

import pytest

from changes import random_scope
from effective_checks import snapshot_of
from graph.facets import ByGroup, ByLabel, Dimension, facet, roll_up
from graph.index.snapshot import Snapshot
from graph.model.cluster_set import ClusterSet
from graph.model.errors import Invalid
from graph.model.view import FleetView, subtree
from graph.scoped import ScopedView
from twin import Twin
from workload_fleets import random_workloads

FLEETS = {"test": 60, "campaign": 3_000}


@pytest.mark.volume
def test_a_roll_up_counts_each_part_as_facets_of_its_sets_do(scale: str) -> None:
    counted = few = 0
    for seed in range(FLEETS[scale]):
        rng = Random(seed)
        twin = Twin.of(random_workloads(rng))
        whole = snapshot_of(twin)
        for view in (whole, ScopedView(whole, random_scope(rng, twin))):
            parts = [[some_of(rng, view) for _ in range(rng.randint(0, 3))] for _ in range(3)]
            for dimension in dimensions(whole, view):
                found = rolled(view, dimension, parts, 1_000)
                assert found == by_facets(view, dimension, parts), (seed, dimension)
                if found:
                    # as many buckets as are allowed may hold more clusters: those are walked
                    assert rolled(view, dimension, parts, len(found)) == found, (seed, dimension)
                    with pytest.raises(Invalid, match="more than"):
                        rolled(view, dimension, parts, len(found) - 1)
                    few += len(ClusterSet.union(each for part in parts for each in part)) > len(
                        found
                    )
                counted += len(found)
    assert counted > FLEETS[scale] and few > FLEETS[scale] // 2, (counted, few)


def test_buckets_are_walked_no_further_than_to_where_they_are_too_many() -> None:
    walked = 0

    class Many:
        """A view of one label with a value of its own for every cluster."""

        def everything(self) -> ClusterSet:
            return ClusterSet.of(range(60_000))

        def label_values(self, _key: str):
            nonlocal walked
            for number in range(60_000):
                walked += 1
                yield number, ClusterSet.of([number])

    view = Many()
    with pytest.raises(Invalid, match="the roll-up has more than 1,000 buckets"):
        rolled(view, ByLabel("store"), [[view.everything()]], 1_000)  # type: ignore[arg-type]
    assert walked == 1_001


def some_of(rng: Random, view: FleetView) -> ClusterSet:
    return ClusterSet.of([each for each in view.everything() if rng.random() < 0.5])


def dimensions(whole: Snapshot, view: FleetView) -> list[Dimension]:
    roots = [whole.root(each.name) for each in whole.hierarchies()]
    groups = [each for root in roots if root is not None for each in subtree(whole, root)]
    shown = [ByGroup(each) for each in groups if view.group(each) is not None]
    return [*shown, *(ByLabel(each.name) for each in view.label_keys())]


def rolled(view, dimension, parts, most: int) -> dict:
    found = roll_up(view, dimension, parts, buckets_max=most)
    assert [each.value for each in found] == sorted(each.value for each in found)
    return {each.value: each.clusters for each in found}


def by_facets(view, dimension, parts) -> dict:
    """The same, set by set."""
    counts: dict = {}
    for place, part in enumerate(parts):
        for each in part:
            for value, clusters in facet(view, dimension, each):
                counts.setdefault(value, [0] * len(parts))[place] += clusters
    return {value: tuple(found) for value, found in counts.items()}
