"""Scalars: what they let in the core can take, and what they refuse they refuse readably."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from api.schema.names import SCALARS, TEXT_LENGTH_MAX, RevisionOrTime
from asking import ask
from graph.model.errors import Invalid

BY_NAME = {each.name: each for each in SCALARS.values()}
DEEP: Any = []
for _ in range(900):
    DEEP = [DEEP]


def read(scalar: str, value: object) -> Any:
    parse = BY_NAME[scalar].parse_value
    assert parse is not None
    return parse(value)


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("Name", "austin-1"),
        ("Name", ""),
        ("GroupPath", "/geo/us"),
        ("Revision", 0),
        ("Revision", 2**53 - 1),
        ("LabelValue", "é"),
        ("LabelValue", 2.5),
        ("LabelValue", True),
        ("LabelValue", -3),
        ("Cursor", "2.0123456789abcdef"),
        ("JSON", {"a": [1, 1.0, True, None, "é", {"b": 2**64 - 1, "c": -(2**63)}]}),
        ("JSON", DEEP),
    ],
    ids=lambda given: str(given)[:20],
)
def test_what_fits_is_taken_as_it_is(scalar, value):
    found = read(scalar, value)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-01T00:00:00Z", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T02:00:00+02:00", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T00:00Z", datetime(2026, 11, 1, tzinfo=UTC)),
    ],
)
def test_a_moment_is_read_in_any_zone(text, moment):
    assert read("Instant", text) == moment
    assert read("RevisionOrTime", text).value == moment


@pytest.mark.parametrize(("given", "revision"), [(812, 812), ("812", 812), (0, 0)])
def test_a_revision_may_stand_where_a_moment_may(given, revision):
    found = read("RevisionOrTime", given)
    assert isinstance(found, RevisionOrTime)
    assert found.value == revision


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("Name", 5),
        ("Name", None),
        ("Name", "x" * (TEXT_LENGTH_MAX + 1)),
        ("GroupPath", ["/geo"]),
        ("Revision", -1),
        ("Revision", 2**53),
        ("Revision", 1.0),
        ("Revision", True),
        ("Revision", "1"),
        ("Cursor", "1"),
        ("Cursor", 1),
        ("Cursor", "x.y"),
        ("Instant", "2026-11-01"),
        ("Instant", "2026-11-01T00:00:00"),
        ("Instant", "0001-01-01T00:00:00+23:59"),
        ("Instant", "9999-12-31T23:59:59-23:59"),
        ("Instant", 1_700_000_000),
        ("RevisionOrTime", "yesterday"),
        ("RevisionOrTime", "-1"),
        ("RevisionOrTime", "²"),
        ("RevisionOrTime", "٣"),
        ("RevisionOrTime", "9" * 5_000),
        ("RevisionOrTime", 1.5),
        ("LabelValue", None),
        ("LabelValue", {"a": 1}),
        ("LabelValue", float("nan")),
        ("LabelValue", float("inf")),
        ("LabelValue", DEEP),
        ("JSON", 2**64),
        ("JSON", 2.0**64),
        ("JSON", {"a": [-(2**63) - 1]}),
        ("JSON", [float("nan")]),
        ("JSON", {"a": {"b": float("inf")}}),
    ],
    ids=lambda value: str(value)[:20] if not isinstance(value, list) else "deep",
)
def test_what_does_not_fit_is_refused_with_a_hint_and_not_repeated_whole(scalar, value):
    with pytest.raises(Invalid) as refused:
        read(scalar, value)
    assert refused.value.hint
    assert len(refused.value.message) < 200


def test_a_moment_is_shown_in_coordinated_time_to_the_millisecond():
    show = BY_NAME["Instant"].serialize
    assert show is not None
    assert show(datetime(2026, 11, 1, tzinfo=UTC)) == "2026-11-01T00:00:00.000Z"
    there = timezone(timedelta(hours=2))
    assert read("Instant", show(datetime(2026, 11, 1, 2, 0, 0, 5_000, there))) == datetime(
        2026, 11, 1, 0, 0, 0, 5_000, UTC
    )


@pytest.mark.parametrize(
    "query",
    [
        '{ fleet(asOf: "²") { revision } }',
        '{ fleet(asOf: "yesterday") { revision } }',
        "{ fleet(atLeast: -1) { revision } }",
        "{ fleet(atLeast: 99999999999999999999) { revision } }",
        "{ fleet { cluster(name: 5) { name } } }",
        '{ fleet { clusters(where: {label: {key: "lanes", comparison: "=", value: 1e999}})'
        " { totalCount } } }",
        '{ changesets(after: "nowhere") { nodes { revision } } }',
    ],
)
async def test_a_literal_that_does_not_fit_is_the_callers_fault_and_not_ours(fleet, query):
    answer = await ask(fleet, query)
    codes = {each["extensions"]["code"] for each in answer["errors"]}
    assert codes <= {"INVALID", "BAD_REQUEST"}


async def test_a_label_value_that_is_no_number_is_the_callers_fault_however_it_is_sent(fleet):
    query = """query ($value: LabelValue!) { fleet { clusters(where:
        {label: {key: "lanes", comparison: "=", value: $value}}) { totalCount } } }"""
    for value in (DEEP, {"a": DEEP}, None, float("inf"), 10**400):
        answer = await ask(fleet, query, {"value": value})
        if value == 10**400:
            continue
        assert {each["extensions"]["code"] for each in answer["errors"]} <= {
            "INVALID",
            "BAD_REQUEST",
        }, value
