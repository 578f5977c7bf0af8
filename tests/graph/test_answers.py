"""What was worked out already: nothing of an earlier view, and no more than fits."""

from __future__ import annotations

import gc
from random import Random

import pytest

import graph.answers
from changes import random_changes, random_fleet, random_selector
from graph.answers import Answers
from graph.model.names import Revision
from graph.model.selector import And, Everything
from graph.settings import GraphSettings
from graph.targeting.plan import Plan
from twin import Twin, twin_select


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


def test_trees_that_are_asked_once_push_each_other_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph.answers, "PLANS_KEPT_MAX", 3)
    view = Twin.of(random_fleet(Random(2), clusters=5))
    answers = Answers(view, GraphSettings())
    trees = [And((Everything(), Everything())) for _ in range(10)]
    before = plans()
    assert [answers.count(tree, view) for tree in trees * 2] == [5] * 20
    assert plans() - before == 3
    answers.advance(view, ())
    assert plans() == before, "none of them holds on to an earlier view"
