"""The peers are only worth timing if they are right: each against plain evaluation."""

from __future__ import annotations

import pytest

from bench.fleet import snapshot
from bench.label_loop import LabelLoop, requirements
from bench.selectors import questions
from bench.sql import Sql, forms
from graph.targeting.evaluate import evaluate
from graph.targeting.parser import parse

CLUSTERS = 1_500
QUESTIONS = {each.name: each for each in questions(CLUSTERS)}


@pytest.fixture(scope="module")
def sql() -> Sql:
    return Sql(snapshot(CLUSTERS))


@pytest.fixture(scope="module")
def loop() -> LabelLoop:
    return LabelLoop(snapshot(CLUSTERS))


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_form_of_sql_answers_as_trellis_does(name, sql):
    question = QUESTIONS[name]
    expected = list(evaluate(question.selector, question.view))
    found = forms(question.selector)
    assert len(found) == 3
    for form, query in found.items():
        assert sorted(sql.numbers(query)) == expected, form
        assert sql.count(query) == len(expected), form


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_label_loop_answers_as_trellis_does(name, loop):
    question = QUESTIONS[name]
    expected = list(evaluate(question.selector, question.view))
    wanted = requirements(question.selector)
    assert loop.numbers(wanted) == expected
    assert loop.count(wanted) == len(expected)


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_reference_selector_is_trivial(name):
    found = QUESTIONS[name].count()
    assert 0 < found < CLUSTERS


def test_what_kubernetes_cannot_say_is_refused_and_not_approximated():
    view = snapshot(CLUSTERS)
    with pytest.raises(AssertionError, match="Kubernetes has no"):
        requirements(parse("/geo/us or size = large", view))
