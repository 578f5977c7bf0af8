"""Few clusters as bits and many as sets: what is done to them comes out the same."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from graph.effective.lens import WHOLE, Few, Lens, Sets
from graph.model.cluster_set import ClusterSet

FLEET = 400


def chosen(random: Random) -> ClusterSet:
    share = random.random() ** 2
    return ClusterSet.of([each for each in range(FLEET) if random.random() < share])


def lenses(random: Random, count: int) -> list[Lens[Any]]:
    among = ClusterSet.of(random.sample(range(FLEET), count))
    return [Few(among), Sets(among)]


@pytest.mark.parametrize("count", [1, 2, 70, 300])
def test_every_lens_shows_the_same(count):
    for seed in range(40):
        random = Random(seed)
        one, other, third = chosen(random), chosen(random), chosen(random)
        for lens in lenses(random, count):
            among = lens.among
            assert among is not None
            a, b, c = map(lens.cut, (one, other, third))
            assert lens.set(a) == one & among
            assert lens.set(a & b) == one & other & among
            assert lens.set(lens.minus(a, b)) == (one - other) & among
            assert lens.set(lens.union([a, b, c])) == (one | other | third) & among
            assert lens.size(a) == len(one & among)
            assert (a == b, bool(a)) == (one & among == other & among, bool(one & among))
            assert not lens.none and lens.set(lens.none) == ClusterSet()
            assert lens.patched(one, b) == (one - among) | (other & among)
            assert lens.patched(one, a) is one


def test_the_whole_fleet_is_seen_as_it_is():
    one, other = ClusterSet.of([1, 2]), ClusterSet.of([2, 3])
    assert WHOLE.cut(one) is one
    assert WHOLE.patched(one, other) is other
    assert WHOLE.patched(one, ClusterSet.of([1, 2])) is one
