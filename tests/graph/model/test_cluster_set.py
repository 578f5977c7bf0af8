"""Sets of clusters: what many of them have in common."""

from __future__ import annotations

from random import Random

import pytest

from graph.model.cluster_set import EMPTY, ClusterSet


@pytest.mark.parametrize("seed", range(30))
def test_what_is_in_every_set_is_what_plain_sets_say(seed: int) -> None:
    rng = Random(seed)
    reach = rng.choice((50, 5_000, 200_000))
    numbers = [
        set(rng.sample(range(reach), rng.choice((reach // 50, reach // 2, reach - 1))))
        for _ in range(rng.randint(1, 5))
    ]
    sets = [ClusterSet.of(sorted(each)) for each in numbers]
    expected = set.intersection(*numbers)
    assert set(ClusterSet.common(sets)) == expected
    assert ClusterSet.common_size(sets) == len(expected)
    assert [set(each) for each in sets] == numbers, "they are as they were"


def test_one_set_has_itself_in_common_and_nothing_with_an_empty_one() -> None:
    few = ClusterSet.of([1, 2, 3])
    assert ClusterSet.common([few]) is few
    assert ClusterSet.common_size([few]) == 3
    assert not ClusterSet.common([few, EMPTY, few])
    assert ClusterSet.common_size([few, few, EMPTY]) == 0
