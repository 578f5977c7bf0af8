"""Labels with many values: ranges from marks, carried over changes, and values forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest

from graph.index.label import DIRTY_MAX, SPARE_CODES, Label, LabelDraft
from graph.index.ranges import HOLDS, MARKS_MAX, RangeIndex
from graph.model.cluster_set import ClusterSet
from graph.model.inventory import LabelType
from graph.model.names import ClusterNumber
from graph.model.selector import Comparison

VALUES = [place / 4 if place % 4 else place // 4 for place in range(-800, 3_200)]


def wanted(held: Mapping[int, float], comparison: Comparison, value: float) -> set[int]:
    return {cluster for cluster, number in held.items() if HOLDS[comparison](number, value)}


@pytest.mark.parametrize("count", [0, 1, 2, MARKS_MAX - 1, MARKS_MAX, MARKS_MAX + 1, 200, 1_000])
def test_a_range_index_answers_at_and_between_every_value(count: int) -> None:
    rng = Random(count)
    held = {cluster: cluster // 3 * 2 for cluster in range(3 * count)}
    pairs = [(2 * place, ClusterSet.of(range(3 * place, 3 * place + 3))) for place in range(count)]
    rng.shuffle(pairs)
    index = RangeIndex(pairs)
    for value in [-1, 0, 1, *rng.choices(range(-1, 2 * count + 2), k=60), 2 * count, 0.5]:
        for comparison in HOLDS:
            assert set(index.satisfying(comparison, value)) == wanted(held, comparison, value)


def test_ranges_stay_right_through_thousands_of_changes_and_versions() -> None:
    rng = Random(5)
    held: dict[int, float] = {}
    version = Label.empty(LabelType.NUMBER)
    made_anew = 0
    for _ in range(120):
        draft = LabelDraft(version)
        for _ in range(rng.choice((1, 3, 30, DIRTY_MAX + 20))):
            cluster = rng.randrange(2_000)
            value = rng.choice(VALUES) if rng.random() < 0.8 else None
            draft.put(ClusterNumber(cluster), value)
            held.pop(cluster, None)
            if value is not None:
                held[cluster] = value
        for view in (draft, version := draft.freeze()):
            made_anew += view.ranges is None
            for comparison in HOLDS:
                value = rng.choice(VALUES)
                assert set(view.satisfying(comparison, value)) == wanted(held, comparison, value)
        assert set(version.having) == set(held)
        assert version.holders.in_use == len(set(held.values()))
    assert 10 < made_anew < 120, "range indexes were carried along, and dropped when out of date"


def test_a_range_index_made_in_a_draft_survives_further_writes_of_that_draft() -> None:
    draft = LabelDraft(Label.empty(LabelType.NUMBER))
    draft.put(ClusterNumber(1), 10)
    assert set(draft.satisfying(Comparison.GE, 5)) == {1}
    draft.put(ClusterNumber(1), 3)
    draft.put(ClusterNumber(2), 10)
    assert set(draft.satisfying(Comparison.GE, 5)) == {2}
    assert set(draft.freeze().satisfying(Comparison.LT, 5)) == {1}


def test_an_earlier_version_keeps_its_ranges_when_a_later_one_changes() -> None:
    draft = LabelDraft(Label.empty(LabelType.NUMBER))
    for cluster in range(300):
        draft.put(ClusterNumber(cluster), cluster)
    first = draft.freeze()
    assert len(first.satisfying(Comparison.GE, 100)) == 200
    later = LabelDraft(first)
    later.put(ClusterNumber(299), 0)
    assert len(later.freeze().satisfying(Comparison.GE, 100)) == 199
    assert len(first.satisfying(Comparison.GE, 100)) == 200


def test_values_nobody_has_any_more_are_forgotten_in_the_end() -> None:
    version = Label.empty(LabelType.TEXT)
    for place in range(2 * SPARE_CODES):
        draft = LabelDraft(version)
        draft.put(ClusterNumber(0), f"build-{place}")
        version = draft.freeze()
        assert len(version.codes.values) <= SPARE_CODES + 3
    newest = f"build-{2 * SPARE_CODES - 1}"
    assert [(value, set(found)) for value, found in version.values()] == [(newest, {0})]
    assert set(version.equal(newest)) == {0}
    assert not version.equal("build-0")


def test_a_text_label_has_no_ranges() -> None:
    draft = LabelDraft(Label.empty(LabelType.TEXT))
    draft.put(ClusterNumber(0), "large")
    assert not draft.satisfying(Comparison.GE, 0)
