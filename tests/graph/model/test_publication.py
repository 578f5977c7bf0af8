from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from graph.model.change import Cursor
from graph.model.errors import Invalid
from graph.model.names import Revision
from graph.model.publication import (
    CLUSTERS_MAX,
    COMMIT_LENGTH_MAX,
    HELD_MAX,
    MESSAGE_LENGTH_MAX,
    HeldBack,
    Publication,
    Report,
    check_report,
)

CURSOR = Cursor(Revision(7), "0123456789abcdef")
HELD = HeldBack("till", "failed", "it does not render", 12, Revision(7))


@pytest.mark.parametrize(
    "report",
    [
        Report("main", CURSOR, "c0ffee"),
        Report("main", CURSOR, "x" * COMMIT_LENGTH_MAX, (HELD,) * HELD_MAX),
        Report("main", CURSOR, "c", (replace(HELD, application="", message="", clusters=0),)),
        Report("main", CURSOR, "c", (replace(HELD, message="ü" * MESSAGE_LENGTH_MAX),)),
    ],
)
def test_a_report_that_can_be_kept_is_taken_as_it_is(report: Report) -> None:
    assert check_report(report) is report


@pytest.mark.parametrize(
    ("report", "path", "says"),
    [
        (Report("Main", CURSOR, "c"), ("name",), "not a publication name"),
        (Report("main", CURSOR, ""), ("commit",), "empty"),
        (Report("main", CURSOR, "x" * (COMMIT_LENGTH_MAX + 1)), ("commit",), "201 characters"),
        (Report("main", CURSOR, "a\nb"), ("commit",), "U\\+000A"),
        (Report("main", CURSOR, "c", (HELD,) * (HELD_MAX + 1)), ("held",), "1,001 applications"),
    ],
)
def test_a_report_that_cannot_be_kept_is_refused(
    report: Report, path: tuple[str, ...], says: str
) -> None:
    with pytest.raises(Invalid, match=says) as refusal:
        check_report(report)
    assert refusal.value.path == path


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("application", "No Name"),
        ("reason", ""),
        ("message", "x" * (MESSAGE_LENGTH_MAX + 1)),
        ("message", "\x00"),
        ("clusters", -1),
        ("clusters", CLUSTERS_MAX + 1),
        ("since", Revision(8)),
        ("since", Revision(-1)),
    ],
)
def test_what_is_held_back_is_checked_one_by_one(field: str, value: object) -> None:
    held = (HELD, replace(HELD, **{field: value}))
    with pytest.raises(Invalid) as refusal:
        check_report(Report("main", CURSOR, "c", held))
    assert refusal.value.path == ("held", 1, field)


def test_a_publication_is_behind_by_the_revisions_that_are_not_in_it() -> None:
    made = Publication("main", CURSOR, "c", actor="ann", at=datetime(2026, 11, 1, tzinfo=UTC))
    assert [made.behind(Revision(each)) for each in (1, 7, 8, 10)] == [0, 0, 1, 3]
