"""What a cluster offers, in its one form."""

from __future__ import annotations

import pytest

from graph.model.inventory import Capacity


def test_a_whole_amount_has_one_form_whoever_wrote_it():
    found = Capacity(500.0, 512.0, 0.0)
    assert repr(found) == repr(Capacity(500, 512, 0))


@pytest.mark.parametrize("amount", [0.5, float("inf"), float("nan"), "512", None, True])
def test_what_is_no_whole_number_is_refused(amount):
    with pytest.raises(ValueError, match="memory_mib"):
        Capacity(1, amount)
