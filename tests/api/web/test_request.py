"""Requests: what a body or a query string asks for, and every way it can be no request."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlencode

import pytest

from api.execution.request import read_query_string, read_request
from api.refusals import TooLarge, TooSlow
from api.web.body import Gone, read_body
from graph.model.errors import Invalid


def test_a_body_is_a_document_with_its_variables():
    found = read_request(b'{"query": "{ a }", "operationName": "A", "variables": {"n": 1}}')
    assert (found.query, found.operation_name, found.variables) == ("{ a }", "A", {"n": 1})
    plain = read_request(b'{"query": "{ a }", "variables": null, "extensions": {}, "other": 1}')
    assert (plain.operation_name, plain.variables) == (None, {})


NO_REQUESTS = {
    "a number": b"5",
    "null": b"null",
    "text": b'"x"',
    "nothing": b"",
    "a list": b'[{"query": "{ a }"}]',
    "half of one": b'{"query": "{ a }"',
    "no UTF-8": b'{"query": "\xff\xfe"}',
    "a lone surrogate": b'{"query": "\\ud800"}',
    "many brackets": b"[" * 100_000,
    "many braces": b'{"a":' * 100_000,
    "closed brackets": b"[" * 100_000 + b"]" * 100_000,
    "two of them": b'{"query": "{ a }"}{"query": "{ a }"}',
    "no document": b"{}",
    "a document that is null": b'{"query": null}',
    "a document that is a number": b'{"query": 5}',
    "a document that is a list": b'{"query": ["{ a }"]}',
    "variables in a list": b'{"query": "{ a }", "variables": []}',
    "variables in a text": b'{"query": "{ a }", "variables": "{}"}',
    "a name that is a number": b'{"query": "{ a }", "operationName": 5}',
    "extensions in a text": b'{"query": "{ a }", "extensions": "x"}',
    "another language": b"<query/>",
    "no number": b'{"query": NaN}',
}


@pytest.mark.parametrize("body", NO_REQUESTS.values(), ids=NO_REQUESTS)
def test_a_body_that_is_no_request_is_refused_with_a_hint(body):
    with pytest.raises(Invalid) as refused:
        read_request(body)
    assert refused.value.hint


def test_an_integer_of_five_thousand_digits_is_no_fault_of_ours():
    with pytest.raises(Invalid):
        read_request(b'{"query": ' + b"9" * 5_000 + b"}")
    found = read_request(b'{"query": "{ a }", "variables": {"n": ' + b"9" * 30 + b"}}")
    assert isinstance(found.variables["n"], float)


def test_a_query_string_is_a_document_with_its_variables():
    text = urlencode({"query": "{ ä }", "operationName": "A", "variables": '{"n": 1}'})
    found = read_query_string(text.encode())
    assert (found.query, found.operation_name, found.variables) == ("{ ä }", "A", {"n": 1})


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"query=",
        b"query=%FF",
        b"query=\xff",
        b"variables={}",
        b"query=%7Ba%7D&variables=5",
        b"query=%7Ba%7D&variables=nothing",
        b"query=%7Ba%7D&variables=" + b"[" * 2_000,
        b"query=%7Ba%7D&extensions=[]",
        b"&".join(b"a=1" for _ in range(11)),
    ],
)
def test_a_query_string_that_is_no_request_is_refused_with_a_hint(text):
    with pytest.raises(Invalid) as refused:
        read_query_string(text)
    assert refused.value.hint


class Sender:
    """Sends the parts of a body, and then nothing."""

    def __init__(self, *parts: bytes, ends: bool = True) -> None:
        more = [True] * len(parts)
        if ends:
            more[-1] = False
        self.messages: list[dict[str, Any]] = [
            {"type": "http.request", "body": part, "more_body": each}
            for part, each in zip(parts, more, strict=True)
        ]

    async def __call__(self) -> dict[str, Any]:
        if not self.messages:
            await asyncio.Event().wait()
        return self.messages.pop(0)


async def body_of(sender: Any, *, length: int | None = None, bytes_max: int = 10) -> bytes:
    return await read_body(sender, length=length, bytes_max=bytes_max, within_seconds=0.05)


async def test_a_body_is_read_in_one_part_or_in_many():
    assert await body_of(Sender(b"0123456789")) == b"0123456789"
    assert await body_of(Sender(b"01", b"", b"23", b"4")) == b"01234"
    assert await body_of(Sender(b"")) == b""


async def test_a_body_said_to_be_too_long_is_not_read_at_all():
    sender = Sender(b"0")
    with pytest.raises(TooLarge, match="10 bytes"):
        await body_of(sender, length=11)
    assert sender.messages


@pytest.mark.parametrize(
    "parts", [(b"0123456789a",), (b"01234", b"56789", b"a"), (b"01234567", b"0" * 1_000, b"never")]
)
async def test_a_body_that_is_too_long_is_refused_as_soon_as_it_is(parts):
    sender = Sender(*parts)
    with pytest.raises(TooLarge):
        await body_of(sender)
    assert all(message["body"] == b"never" for message in sender.messages)


@pytest.mark.parametrize("parts", [(), (b"01",), (b"01", b"23")])
async def test_a_body_that_does_not_come_is_not_waited_for(parts):
    with pytest.raises(TooSlow, match=r"0\.05 s"):
        await body_of(Sender(*parts, ends=False))


@pytest.mark.parametrize("parts", [0, 1, 2])
async def test_a_caller_who_hangs_up_is_let_go(parts):
    part: dict[str, Any] = {"type": "http.request", "body": b"1", "more_body": True}
    messages = [*[part] * parts, {"type": "http.disconnect"}]

    async def sender() -> Any:
        return messages.pop(0)

    with pytest.raises(Gone):
        await body_of(sender)
