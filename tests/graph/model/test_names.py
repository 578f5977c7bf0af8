from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given

from graph.model.errors import Invalid
from graph.model.names import (
    check_label_key,
    check_layer_name,
    check_value_key,
    counted,
    did_you_mean,
    nearest,
    quoted,
    shortened,
)
from kubernetes_names import NO_NAMES, label_keys, layer_names, value_keys


@given(label_keys, layer_names, value_keys)
def test_names_of_kubernetes_are_taken_as_they_are(label: str, layer: str, value: str) -> None:
    assert check_label_key(label) == label
    assert check_layer_name(layer) == layer
    assert check_value_key(value) == value


@pytest.mark.parametrize(
    ("check", "wrong"),
    [
        (check_label_key, ["-a", "a-", "_a", ".a", "x" * 64, "A.b/c", "a_b/c", "a..b/c", "-/c"]),
        (check_label_key, [".".join(["x" * 63] * 4) + "/a", "x" * 64 + "/a"]),
        (check_layer_name, ["A", "a_b", ".a", "a.", "a..b", "-a", "a-", "x" * 64, "a.-b"]),
        (check_layer_name, [".".join(["x" * 63] * 4)]),
        (check_value_key, ["..a", "x" * 254, "a/b"]),
    ],
    ids=lambda each: each.__name__ if callable(each) else "",
)
def test_a_name_that_kubernetes_refuses_is_refused_with_the_rule(
    check: Callable[[str], str], wrong: list[str]
) -> None:
    for name in (*wrong, *NO_NAMES):
        with pytest.raises(Invalid, match=" is not a ") as refusal:
            check(name)
        assert "letters, digits" in refusal.value.hint
        assert len(refusal.value.message) < 200


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
    assert nearest("environment", ["ENVIRONMENT", "size"]) == ("ENVIRONMENT",)
    assert nearest("Size", ["SIZE", "size"]) == ("SIZE", "size")


def test_a_long_name_is_cut() -> None:
    assert shortened("a" * 80) == "a" * 80
    assert shortened("a" * 81) == "a" * 80 + "..."
    assert quoted("a" * 1_000) == '"' + "a" * 80 + '..."'
