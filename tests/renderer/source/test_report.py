"""What is told of what was published."""

from __future__ import annotations

import orjson

from graph.model.publication import check_report
from renderer.publication import HeldBack, Publication
from renderer.source import wire
from renderer.source.report import bounded, report_of

CURSOR = f"9.{'0' * 16}"


def test_a_held_list_is_told_in_one_message_and_can_be_kept():
    held = [
        HeldBack(f"app-{each}", "failed", "ü\n\x00é\u2028" * 400, each % 7, each % 9)
        for each in range(5_000)
    ]
    publication = Publication("main", CURSOR, "c0ffee", (*held, HeldBack("", "blocked", "", 9, 9)))
    check_report(report_of(publication))
    said = orjson.dumps(wire.report_of(publication))
    assert 150_000 < len(said) < 262_144
    first = bounded(publication).held[0]
    assert (first.application, first.message) == ("", "blocked")
    assert wire.report_of(publication)["held"][0]["application"] is None


def test_a_short_one_is_told_whole():
    held = tuple(HeldBack(name, "wave", "why", 1, 2) for name in ("b", "a"))
    assert [each.application for each in bounded(Publication("m", CURSOR, "c", held)).held] == [
        "a",
        "b",
    ]
