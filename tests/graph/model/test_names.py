from __future__ import annotations

import pytest

from graph.model.names import counted, did_you_mean, nearest, quoted, shortened


@pytest.mark.parametrize(
    ("count", "noun", "said"),
    [
        (0, "cluster", "0 clusters"),
        (1, "cluster", "1 cluster"),
        (2_431, "cluster", "2,431 clusters"),
        (1, "batch", "1 batch"),
        (1_000, "batch", "1,000 batches"),
        (1, "policy", "1 policy"),
        (2, "policy", "2 policies"),
        (2, "label key", "2 label keys"),
    ],
)
def test_a_count_has_its_noun(count: int, noun: str, said: str) -> None:
    assert counted(count, noun) == said


def test_near_names_are_offered() -> None:
    assert did_you_mean(nearest("gio", ["geo", "delivery"])) == "did you mean geo?"
    assert did_you_mean(("a", "b")) == "did you mean a or b?"
    assert did_you_mean(nearest("xyz", ["geo"])) == ""


def test_a_long_name_is_cut() -> None:
    assert shortened("a" * 80) == "a" * 80
    assert shortened("a" * 81) == "a" * 80 + "..."
    assert quoted("a" * 1_000) == '"' + "a" * 80 + '..."'
