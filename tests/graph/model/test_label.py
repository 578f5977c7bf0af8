"""A label value has one form, and a number out of range is refused in a few words."""

from __future__ import annotations

import math

import pytest

from graph.model.errors import Invalid
from graph.model.inventory import LabelType, LabelValue
from graph.model.label import NUMBER_MAX, check_value, normalise, show


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (NUMBER_MAX + 1, "9007199254740993"),
        (10**310, "about 1e310"),
        (-(10**400), "about -1e400"),
        (10**5_000, "about 1e5000"),
        (1e300, "1e+300"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
    ],
    ids=["next", "310 digits", "negative", "5,000 digits", "float", "inf", "-inf", "nan"],
)
def test_a_number_out_of_range_is_refused(value: LabelValue, said: str) -> None:
    with pytest.raises(Invalid) as refusal:
        normalise(value)
    assert refusal.value.message == f"the number {said} is out of range"
    assert refusal.value.hint.startswith("use a finite number between")


@pytest.mark.parametrize("value", [NUMBER_MAX, -NUMBER_MAX, 0, 1.5, True, "large"])
def test_a_value_in_range_stays(value: LabelValue) -> None:
    assert normalise(value) == value


def test_a_whole_number_has_one_form() -> None:
    assert isinstance(normalise(2.0), int)
    assert isinstance(normalise(-0.0), int)


def test_a_long_number_for_a_text_label_is_named_by_its_size() -> None:
    with pytest.raises(Invalid, match='label "size" is a text, and about 1e5000 is a number'):
        check_value("size", 10**5_000, LabelType.TEXT)


def test_a_number_people_can_read_is_spelled_out() -> None:
    assert show(10**20) == "1" + "0" * 20
