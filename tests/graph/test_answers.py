"""What was worked out already: nothing of an earlier view, and no more than fits."""

from __future__ import annotations

import gc
from random import Random

import pytest

from changes import random_changes, random_fleet, random_selector
from graph.answers import Answers
from graph.model.change import Change
from graph.model.inventory import Cluster, LabelKey, LabelType
from graph.model.names import ClusterNumber, Revision
from graph.model.selector import And, Everything
from graph.settings import GraphSettings
from graph.targeting.plan import Plan
from twin import Twin, twin_select

LANE = LabelKey("lane", LabelType.NUMBER)


def plans() -> int:
    """How many there are in this process."""
    return sum(isinstance(each, Plan) for each in gc.get_objects())


@pytest.mark.parametrize("kept_max", [0, 100])
@pytest.mark.parametrize("seed", range(10))
def test_counts_are_of_the_newest_view_whatever_is_remembered(seed: int, kept_max: int) -> None:
    rng = Random(seed)
    view = Twin.of(random_fleet(rng))
    answers = Answers(view, GraphSettings(answers_kept_max=kept_max))
    trees = [random_selector(rng, view, depth=3) for _ in range(20)]
    for revision in range(2, 8):
        for tree in trees * 2:
            expected = len(twin_select(tree, view))
            assert answers.count(tree, view) == expected
            assert rng.random() < 0.8 or len(answers.resolve(tree, view)) == expected
        changes = random_changes(rng, view, Revision(revision))
        view = view.copy()
        view.apply(changes)
        answers.advance(view, changes)
        trees = [random_selector(rng, view, depth=3) for _ in range(20)]


def test_a_view_that_is_not_the_newest_is_counted_by_itself() -> None:
    rng = Random(1)
    earlier, newest = (Twin.of(random_fleet(rng, clusters=count)) for count in (3, 9))
    answers = Answers(newest, GraphSettings())
    tree = And((Everything(), Everything()))
    for _ in range(2):
        assert answers.count(tree, newest) == 9
        assert answers.count(tree, earlier) == 3
    answers.restart(earlier)
    assert answers.count(tree, earlier) == 3


def text(number: int) -> str:
    """A text that means an intersection; each number has its own."""
    return f"lane >= 0 and lane != {number + 100}"


def fleet_of(clusters: int) -> Twin:
    """Clusters with one label each."""
    numbers = range(clusters)
    return Twin.of(
        [LANE, *(Cluster(ClusterNumber(n), f"c-{n}", labels={"lane": n}) for n in numbers)]
    )


def test_a_text_is_sorted_out_once_and_keeps_that_while_clusters_come() -> None:
    view, later = fleet_of(5), fleet_of(6)
    answers = Answers(view, GraphSettings(answers_kept_max=0))
    before = plans()
    for _ in range(3):
        assert answers.count(answers.parse(text(1), view), view) == 5
    answers.advance(later, [Change(None, later.cluster(ClusterNumber(5)))])
    assert plans() == before + 1
    tree = answers.parse(text(1), later)
    assert answers.count(tree, later) == 6
    assert len(answers.resolve(tree, later)) == 6
    assert answers.count(tree, view) == 5, "it is of no view"


def test_a_text_that_is_forgotten_leaves_nothing_behind() -> None:
    view = fleet_of(5)
    answers = Answers(view, GraphSettings(selectors_kept_max=3))
    before = plans()
    for number in range(10):
        assert answers.count(answers.parse(text(number), view), view) == 5
    assert plans() == before + 3, "texts that are read once push each other out"
    answers.advance(view, [Change(LANE, LANE)])
    assert plans() == before, "a name may mean something else now"


def test_a_tree_of_no_text_is_not_remembered() -> None:
    view = fleet_of(5)
    answers = Answers(view, GraphSettings())
    before = plans()
    trees = [And((Everything(), Everything())) for _ in range(10)]
    assert [answers.count(tree, view) for tree in trees * 2] == [5] * 20
    assert plans() == before
