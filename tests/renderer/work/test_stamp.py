"""Whose output may be gone on from."""

from __future__ import annotations

import pytest

from graph.model.errors import Rejected
from renderer.work.stamp import FORMAT_VERSION, Stamp

OURS = Stamp(3, "a" * 12)


def test_nothing_and_our_own_is_gone_on_from():
    assert OURS.continues("")
    assert OURS.continues(str(OURS))


@pytest.mark.parametrize("adopt", [False, True])
@pytest.mark.parametrize("there", [f"4.{'a' * 12}", f"4.{'b' * 12}", "x", "3.A", f"0.{'a' * 12}"])
def test_a_newer_format_and_what_is_no_stamp_is_left_alone(there, adopt):
    with pytest.raises(Rejected) as refusal:
        OURS.continues(there, adopt=adopt)
    assert refusal.value.hint


def test_an_older_format_is_written_anew():
    assert not OURS.continues(f"2.{'a' * 12}")


def test_other_settings_count_when_they_are_adopted():
    with pytest.raises(Rejected, match="other settings"):
        OURS.continues(f"3.{'b' * 12}")
    assert not OURS.continues(f"3.{'b' * 12}", adopt=True)


def test_a_fingerprint_depends_on_the_settings_and_not_on_their_order():
    one = Stamp.of({"a": 1, "b": "x"})
    assert one == Stamp.of({"b": "x", "a": 1})
    assert one != Stamp.of({"a": 2, "b": "x"})
    assert one.version == FORMAT_VERSION
    assert Stamp.of({}).continues(str(Stamp.of({})))
