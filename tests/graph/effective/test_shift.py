"""Who goes from which configuration to which, found in three ways that must agree."""

from __future__ import annotations

from random import Random

import pytest

from graph.effective import shift as module
from graph.effective.refine import refine
from graph.effective.shift import Moved, Shift, Side, between, emptied, shifted
from graph.model.cluster_set import ClusterSet

LAYERS = tuple("abcdef")


def chosen(random: Random, clusters: int) -> ClusterSet:
    share = random.random()
    return ClusterSet.of([each for each in range(clusters) if random.random() < share])


def sides(random: Random, clusters: int) -> tuple[Side, Side, list[str]]:
    """An application before and after some of its layers turned, came or went."""
    was = {name: chosen(random, clusters) for name in LAYERS}
    now = was | {name: chosen(random, clusters) for name in random.sample(LAYERS, 2)}
    old, new = (random.sample(LAYERS, random.randint(2, 6)) for _ in range(2))
    turned = [name for name in LAYERS if was[name] is not now[name] and name in {*old, *new}]
    turned += sorted({*old} ^ {*new} - {*turned})
    placed = chosen(random, clusters)
    then = placed if random.random() < 0.3 else chosen(random, clusters)
    return Side(placed, old, was), Side(then, new, now), sorted(set(turned))


def parts(side: Side) -> dict[frozenset[str], ClusterSet]:
    return refine(side.placed, side.reached())


def checked(shift: Shift) -> Shift:
    assert all(each for each in shift.values()), "nobody goes nowhere"
    assert all(old != new for old, new in shift)
    return shift


@pytest.mark.parametrize("clusters", [1, 2, 12, 60])
@pytest.mark.parametrize("few", [0, 256])
def test_a_shift_leads_from_the_parts_before_to_those_after(monkeypatch, clusters, few):
    monkeypatch.setattr(module, "FEW", few)
    for seed in range(60):
        was, now, turned = sides(Random(seed), clusters)
        before, after = parts(was), parts(now)
        shift = checked(shifted(before, was, now, turned))
        assert dict(Moved(before, shift)) == after
        assert emptied(before, shift) == before.keys() - after.keys()
        assert shift == checked(between(before, after))


def test_parts_that_moved_twice_are_put_together_once():
    names = frozenset({"a"})
    first = Moved({names: ClusterSet.of([1, 2])}, {(names, None): ClusterSet.of([1])})
    second = Moved(first, {(None, names): ClusterSet.of([3])})
    assert second == {names: ClusterSet.of([2, 3])}
    assert first == {names: ClusterSet.of([2])}
    assert (list(second), len(second), names in second) == ([names], 1, True)
