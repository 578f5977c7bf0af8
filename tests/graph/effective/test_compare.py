"""How two sets of clusters differ, beside what the naive evaluator says of every cluster."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from graph.effective.compare import Comparison, DifferingLeaf, Has, compare
from graph.effective.reading import Reading
from graph.model.access import Coverage
from graph.model.cluster_set import ClusterSet
from graph.model.command import Join, UpdateCluster
from graph.model.workload_command import SetLayer
from naive_workload import Naive, is_named, text
from told import kitchen, number, reading_of
from twin import Twin
from workload_fleets import random_workloads

FLEETS = {"test": 60, "campaign": 3_000}
TWO_GRILLS = (
    Join("austin-2", "/devices/grill"),
    UpdateCluster("austin-2", labels={"lanes": 1}),
)


def between(reading: Reading, left: str, right: str) -> Comparison:
    one, other = (ClusterSet.of([number(reading, each)]) for each in (left, right))
    return compare(reading, one, other)


def leaves(comparison: Comparison, application: str) -> dict[str, DifferingLeaf]:
    (has,) = (each for each in comparison.differing if each.application == application)
    found = comparison.difference(has)
    assert found.complete
    return {leaf.key: leaf for leaf in found.leaves}


def test_two_clusters_differ_in_applications_and_in_values() -> None:
    reading = reading_of(kitchen(*TWO_GRILLS))
    found = between(reading, "austin-1", "austin-2")
    assert found.only_left == (Has("advert", "signs", 1, 0),)
    assert found.only_right == ()
    assert found.same == (Has("board", "kitchen", 1, 1),)
    differing = leaves(found, "grill")
    assert list(differing) == ["host", "menu"]
    (left,), (right,) = differing["menu"].left, differing["menu"].right
    assert (left.value, left.layer, left.absent) == (["a"], "grill-large", False)
    assert (right.value, right.layer, right.absent) == (None, "", True)
    assert [each.value for each in differing["host"].right] == ["austin-2.small"]


def test_sets_with_several_configurations_tell_each_value_with_its_clusters() -> None:
    york = (Join("york-1", "/devices/grill"), UpdateCluster("york-1", labels={"size": "small"}))
    reading = reading_of(kitchen(*TWO_GRILLS, *york))
    texas = ClusterSet.of([number(reading, "austin-1"), number(reading, "austin-2")])
    found = compare(reading, texas, ClusterSet.of([number(reading, "york-1")]))
    differing = leaves(found, "grill")
    assert list(differing) == ["image.tag", "menu"], "late-bound ones differ by their nature"
    assert [(each.value, each.clusters) for each in differing["menu"].left] == [
        (["a"], 1),
        (None, 1),
    ]
    assert [(each.value, each.layer, each.clusters) for each in differing["image.tag"].left] == [
        ("2", "grill-tx", 2)
    ]


def test_a_cluster_is_the_same_as_itself() -> None:
    reading = reading_of(kitchen())
    found = between(reading, "austin-1", "austin-1")
    assert (found.only_left, found.only_right, found.differing) == ((), (), ())
    assert len(found.same) == 3


def test_a_side_with_too_many_configurations_is_told_in_part(monkeypatch) -> None:
    monkeypatch.setattr("graph.effective.compare.CONFIGURATIONS_MAX", 1)
    reading = reading_of(kitchen(*TWO_GRILLS))
    texas = ClusterSet.of([number(reading, "austin-1"), number(reading, "austin-2")])
    found = compare(reading, texas, ClusterSet.of([number(reading, "austin-1")]))
    (grill,) = (each for each in found.differing if each.application == "grill")
    assert found.difference(grill).complete is False


def test_true_is_not_one() -> None:
    layer = SetLayer("one", "size = small", {"night": 0}, "grill")
    reading = reading_of(kitchen(*TWO_GRILLS, layer))
    night = leaves(between(reading, "austin-1", "austin-2"), "grill")["night"]
    assert (night.left[0].value, night.right[0].value) == (False, 0)


def test_who_is_covered_for_a_part_compares_that_part() -> None:
    layer = SetLayer("slow", "size = small", {"wan": {"batch": False}})
    same = SetLayer("grill-large", "size = large", {}, "grill")
    covered = Coverage(frozenset({"kitchen"}), frozenset())
    reading = reading_of(kitchen(*TWO_GRILLS, layer, same), "/geo/us/tx", covered)
    found = between(reading, "austin-1", "austin-2")
    assert (found.only_left, found.only_right) == ((), ())
    assert list(leaves(found, "grill")) == ["host"], "fleet settings are not for them"


@pytest.mark.volume
def test_a_comparison_says_what_the_naive_evaluator_says(scale: str) -> None:
    compared = differed = 0
    for seed in range(FLEETS[scale]):
        rng = Random(seed)
        twin = Twin.of(random_workloads(rng))
        reading, naive = reading_of(twin), Naive.of(twin)
        clusters = sorted(naive.demand)
        for _ in range(4):
            left, right = (
                set(rng.sample(clusters, rng.randint(1, min(4, len(clusters))))) for _ in range(2)
            )
            found = compare(reading, ClusterSet.of(left), ClusterSet.of(right))
            check_sides(found, naive, left, right)
            late = len(left) == len(right) == 1
            for has in (*found.differing, *found.same):
                if any(naive.outcomes[has.application][each].clashes for each in left | right):
                    continue  # where layers conflict nothing says what the values are
                told = {leaf.key for leaf in found.difference(has).leaves}
                sides = (
                    values(naive, has.application, left, late=late),
                    values(naive, has.application, right, late=late),
                )
                wanted = {
                    key
                    for key in sides[0].keys() | sides[1].keys()
                    if sides[0].get(key, {None}) != sides[1].get(key, {None})
                }
                assert told == wanted, (seed, has, left, right)
                compared += 1
                differed += bool(told)
    assert differed > compared // 10, "hardly anything differed"


def check_sides(found: Comparison, naive: Naive, left: set[int], right: set[int]) -> None:
    for name in naive.outcomes:
        effective = naive.effective(name)
        counts = len(effective & left), len(effective & right)
        lists = [
            kind
            for kind in ("only_left", "only_right", "differing", "same")
            for has in getattr(found, kind)
            if has.application == name and (has.left, has.right) == counts
        ]
        if counts == (0, 0):
            assert lists == []
        elif 0 in counts:
            assert lists == ["only_left" if counts[0] else "only_right"]
        else:
            assert len(lists) == 1 and lists[0] in ("differing", "same")


def values(naive: Naive, name: str, side: set[int], *, late: bool) -> dict[str, set[str | None]]:
    """The distinct values of every leaf of a side; None where a cluster has none."""
    found: dict[str, set[str | None]] = {}
    outcomes = [naive.outcomes[name][each] for each in side if naive.outcomes[name][each].effective]
    told = [
        flat(each.values) | ({key: text(value) for key, value in each.late.items()} if late else {})
        for each in outcomes
    ]
    for key in {key for each in told for key in each}:
        found[key] = {each.get(key) for each in told}
    return found


def flat(values: Any, path: str = "") -> dict[str, str]:
    """The leaves of some values."""
    parts = {each["name"]: each for each in values} if is_named(values) else values
    if not isinstance(parts, Mapping) or (path and not parts):
        return {path: text(values)}
    found: dict[str, str] = {}
    for key, value in parts.items():
        found |= flat(value, f"{path}.{key}" if path else key)
    return found
