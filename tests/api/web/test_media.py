"""Media types: what callers send and what they would have."""

from __future__ import annotations

import pytest

from api.web.media import Media, is_json, wanted


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (b"", Media.JSON),
        (b"   ", Media.JSON),
        (b"application/json", Media.JSON),
        (b"application/json; charset=utf-8", Media.JSON),
        (b"APPLICATION/JSON", Media.JSON),
        (b"application/graphql-response+json", Media.GRAPHQL),
        (b"*/*", Media.JSON),
        (b"application/*", Media.JSON),
        (b"text/event-stream", Media.EVENTS),
        (b"application/graphql-response+json, application/json;q=0.9", Media.GRAPHQL),
        (b"application/json, application/graphql-response+json", Media.JSON),
        (b"application/graphql-response+json;q=0.5, application/json", Media.JSON),
        (b"application/json;q=0.1, text/event-stream;q=0.2", Media.EVENTS),
        (b"text/html, application/json;q=0.9, */*;q=0.1", Media.JSON),
        (b"text/html", None),
        (b"application/json;q=0", None),
        (b"application/json;q=no", None),
        (b"application/json;q=nan", None),
        (b"image/*", None),
        (b",;,;=,q=1", None),
        (b"\xff\xfe", None),
    ],
)
def test_the_answer_has_the_form_the_caller_would_rather_have(accept, form):
    assert wanted(accept) is form


@pytest.mark.parametrize(
    ("content_type", "taken"),
    [
        (b"application/json", True),
        (b"Application/JSON", True),
        (b"application/json; charset=utf-8", True),
        (b'application/json; charset="UTF-8"', True),
        (b"application/json;charset=utf8", True),
        (b"application/json; charset=latin-1", False),
        (b"application/json; charset=utf-16", False),
        (b"", False),
        (b"text/plain", False),
        (b"application/x-www-form-urlencoded", False),
        (b"multipart/form-data; boundary=application/json", False),
        (b"text/plain; application/json", False),
        (b"application/graphql", False),
        (b"application/json, text/plain", False),
        (b"\xff", False),
    ],
)
def test_a_body_is_json_or_is_not_taken(content_type, taken):
    assert is_json(content_type) is taken
