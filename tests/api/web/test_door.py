"""The door: which of the headers a request is judged by."""

from __future__ import annotations

from typing import Any

import pytest

from api.web.door import headers_of


def scope(*headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {"headers": list(headers)}


def test_a_request_without_headers_has_none() -> None:
    found = headers_of(scope())
    assert (found.accept, found.content_type, found.host, found.if_none_match) == (
        b"",
        b"",
        "",
        b"",
    )
    assert (found.authorization, found.length, found.traceparent) == (None, None, None)


def test_every_accept_counts_however_many_lines_it_comes_in() -> None:
    lines = (b"accept", b"text/html"), (b"accept", b""), (b"accept", b"application/json")
    assert headers_of(scope(*lines)).accept == b"text/html,application/json"


def test_of_any_other_header_the_last_counts() -> None:
    found = headers_of(scope((b"host", b"a"), (b"host", b"b"), (b"accept", b"*/*")))
    assert (found.host, found.accept) == ("b", b"*/*")


@pytest.mark.parametrize(
    ("sent", "length"),
    [(b"12", 12), (b"0", 0), (b"", None), (b"-1", None), (b"1e3", None), (b"9" * 19, None)],
)
def test_a_length_is_a_number_of_a_usual_size_or_not_known(sent: bytes, length: int | None) -> None:
    assert headers_of(scope((b"content-length", sent))).length == length
