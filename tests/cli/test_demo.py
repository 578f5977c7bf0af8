from __future__ import annotations

import re

import pytest

from cli.main import run

pytestmark = pytest.mark.usefixtures("place")


def test_the_demo_tells_its_whole_story_and_keeps_its_fleet(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run(["demo", "--no-serve", "--clusters", "1500"]) == 0
    first = capfd.readouterr().out
    assert "loaded " in first
    assert "opened 1,500 clusters" in first
    assert "nearest change: join /franchise/corporate" in first
    assert "log, facts, index and chain agree" in first
    told = re.findall(r"([0-9,]+) of 1,500 clusters", first)
    before, joined, reverted = (int(each.replace(",", "")) for each in told)
    assert (joined, reverted) == (before + 1, before)
    assert run(["demo", "--no-serve", "--clusters", "1500"]) == 0
    assert "loaded " not in capfd.readouterr().out


def test_a_fleet_of_another_size_is_built_anew(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--no-serve", "--clusters", "300"]) == 0
    assert run(["demo", "--no-serve", "--clusters", "400"]) == 0
    assert "opened 400 clusters" in capfd.readouterr().out
