"""What is told of what was published."""

from __future__ import annotations

import orjson

from graph.model.change import Cursor
from graph.model.publication import HeldBack, Report, check_report
from renderer.source import wire
from renderer.source.report import bounded

CURSOR = Cursor.parse(f"9.{'0' * 16}")


def test_a_held_list_is_told_in_one_message_and_can_be_kept():
    held = [
        HeldBack(f"app-{each}", "failed", "ü\n\x00é\u2028" * 400, each % 7, each % 9)
        for each in range(5_000)
    ]
    report = Report("main", CURSOR, "c0ffee", (*held, HeldBack("", "blocked", "", 9, 9)))
    check_report(bounded(report))
    said = orjson.dumps(wire.report_of(report))
    assert 150_000 < len(said) < 262_144
    first = bounded(report).held[0]
    assert (first.application, first.message) == ("", "blocked")
    assert wire.report_of(report)["held"][0]["application"] is None


def test_a_short_one_is_told_whole():
    held = tuple(HeldBack(name, "wave", "why", 1, 2) for name in ("b", "a"))
    assert [each.application for each in bounded(Report("m", CURSOR, "c", held)).held] == [
        "a",
        "b",
    ]
