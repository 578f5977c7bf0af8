from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cli.session import kind_and_name, moment
from graph.model.errors import Invalid
from graph.model.ref import Kind


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("/geo/us/tx", Kind.GROUP, "tx"),
        ("@pilot", Kind.SAVED_SELECTOR, "pilot"),
        ("label:size", Kind.LABEL_KEY, "size"),
        ("hierarchy:geo", Kind.HIERARCHY, "geo"),
        ("grant:texas", Kind.GRANT, "texas"),
        ("cluster:ny-1", Kind.CLUSTER, "ny-1"),
        ("ny-1", Kind.CLUSTER, "ny-1"),
        ("odd:name", Kind.CLUSTER, "odd:name"),
    ],
)
def test_an_argument_says_which_kind_of_object_it_names(text: str, kind: Kind, name: str) -> None:
    assert kind_and_name(text) == (kind, name)


def test_a_moment_is_a_revision_or_a_time_with_its_zone() -> None:
    assert moment("812") == 812
    assert moment("2026-11-01T00:00Z") == datetime(2026, 11, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        *("", "-1", "1.5", "yesterday", "2026-11-01", "2026-11-01T00:00", "9" * 30, "\u0661"),
        *("9999-12-31T23:59:59-23:00", "0001-01-01T00:00+23:00"),
    ],
)
def test_anything_else_is_no_moment(text: str) -> None:
    with pytest.raises(Invalid, match="neither a revision nor a time"):
        moment(text)
