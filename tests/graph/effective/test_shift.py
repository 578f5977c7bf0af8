"""Who goes from which configuration to which, found in three ways that must agree."""

from __future__ import annotations

from random import Random

import pytest

from graph.composition.numbering import Numbering
from graph.effective.lens import WHOLE, Few
from graph.effective.refine import refine
from graph.effective.shift import Shift, Side, between, moved, shifted, stepped
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


def of_few(few: Few, was: Side, now: Side, turned: list[str]) -> Shift[int]:
    numbering = Numbering(LAYERS)
    code = numbering.bits
    held = [(code[name], few.cut(reach)) for name, reach in was.reached()]
    flipped = [(code[name], few.cut(was.reach(name)) ^ few.cut(now.reach(name))) for name in turned]
    had, has = few.cut(was.placed), few.cut(now.placed)
    return Shift(stepped(had, has, held, flipped, numbering), few)


@pytest.mark.parametrize("clusters", [1, 2, 12, 60])
def test_a_shift_leads_from_the_parts_before_to_those_after(clusters):
    everybody = ClusterSet.of(range(clusters))
    for seed in range(60):
        was, now, turned = sides(Random(seed), clusters)
        before, after = parts(was), parts(now)
        found = Shift(shifted(before, was, now, turned), WHOLE)
        few = of_few(Few(everybody), was, now, turned)
        expected = between(before, after)
        assert few.sets() == found.sets() == expected.sets()
        assert all(each for each in found.steps.values()), "nobody goes nowhere"
        assert all(old != new for old, new in found.steps)
        for shift in (found, few, expected):
            assert moved(before, shift) == after
            done = shift.outcome(before, str, str)
            assert done.emptied == before.keys() - after.keys()
            assert done.everybody == ClusterSet.union(expected.sets().values())
            assert set(shift.joined(before)) == after.keys() - before.keys()


def test_those_who_differ_go_between_configurations_of_other_values():
    a, b, c = (frozenset({each}) for each in "abc")
    few = Few(ClusterSet.of([10, 11, 12, 13]))
    parts = {a: ClusterSet.of([10, 20]), b: ClusterSet.of([11, 21]), c: ClusterSet.of([13])}
    shift = Shift({(a, b): 1, (b, c): 2, (None, a): 4, (c, None): 8}, few)
    before = {a: "1", b: "2", c: "3"}.__getitem__

    def differing(**after: str) -> set[int]:
        values = {frozenset({name}): value for name, value in after.items()}
        return set(shift.outcome(parts, before, values.__getitem__).differing)

    assert differing(a="9", b="1", c="9") == {11}
    assert differing(a="9", b="1", c="2") == set()
    assert differing(a="1", b="2", c="3") == {10, 11}
    done = shift.outcome(parts, before, before)
    assert set(done.everybody) == {10, 11, 12, 13}
    assert done.emptied == set(), "somebody comes to the one that all have left"


def test_parts_that_moved_twice_are_put_together_once():
    names = frozenset({"a"})
    first = moved({names: ClusterSet.of([1, 2])}, Shift({(names, None): ClusterSet.of([1])}, WHOLE))
    second = moved(first, Shift({(None, names): ClusterSet.of([3])}, WHOLE))
    assert second == {names: ClusterSet.of([2, 3])}
    assert first == {names: ClusterSet.of([2])}
    assert (list(second), len(second), names in second) == ([names], 1, True)
    assert moved(first, Shift({}, WHOLE)) is first
