"""Too much at once is held, and what somebody agreed to is not."""

from __future__ import annotations

import pytest

from renderer.plan.wave import WaveBounds, large, waves

BOUNDS = WaveBounds(clusters_max=25, percent_max=5.0)


@pytest.mark.parametrize(
    ("going", "total", "agreed", "held"),
    [
        (25, 100, 0, False),  # few enough in number
        (26, 1_000, 0, False),  # few enough as a share
        (26, 520, 0, False),  # exactly the share
        (26, 519, 0, True),
        (60_000, 60_000, 0, True),
        (60_000, 60_000, 59_999, True),
        (60_000, 60_000, 60_000, False),  # somebody agreed to all of it
    ],
)
def test_a_wave_is_many_and_a_share_and_not_agreed_to(
    going: int, total: int, agreed: int, held: bool
) -> None:
    losses = large({"pos": going, "tiny": 1}, {"pos": total, "tiny": 2}, BOUNDS)
    assert waves(losses, agreed) == (frozenset({"pos"}) if held else frozenset())


@pytest.mark.parametrize("total", [1, 20, 26])
def test_the_last_clusters_of_an_application_are_a_wave_however_few(total: int) -> None:
    assert large({"pos": total}, {"pos": total}, BOUNDS) == {"pos": total}
    assert waves({"pos": total}, total) == frozenset()
    if total < 26:
        assert not large({"pos": total - 1}, {"pos": total}, BOUNDS)
