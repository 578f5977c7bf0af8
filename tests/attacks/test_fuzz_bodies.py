"""Malformed bodies, query strings and headers: refused as what they are, never a fault of ours."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from random import Random
from typing import Any
from urllib.parse import quote_from_bytes

import httpx
import pytest

from doors import served

BODIES = {"test": 1_000, "campaign": 20_000}
ABREAST = 8
GOOD = b'{"query": "query A($n: Int = 2) { fleet { clusters(first: $n) { nodes { name } } } }",'
GOOD += b' "operationName": "A", "variables": {"n": 3}}'
PIECES = (
    b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"true", b"-", b"1e9999", b"0x10", b"NaN",
    b"\xff", b"\xc3", b"\x00", b"\\u0000", b"\\ud800", b"\xef\xbb\xbf", b"9" * 5_000, b"[" * 5_000,
    b'{"a":' * 2_000, b"/*", b"'", b"\r\n\r\n", b" " * 1_000,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 2**63, 10**30, "", "x", "{ fleet { revision } }", [], [1], {}, {"a": 1},
    "\x00", "é" * 100, [[[[]]]], {"query": "{ a }"}, "query" * 500,
)  # fmt: skip
FIELDS = ("query", "operationName", "variables", "extensions", "id", "__proto__", "")
MEDIA = ("application/json", "application/json; charset=utf-8", "application/json;charset=utf-16")
OTHER_MEDIA = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "é")
INTERNALS = ("Traceback", "site-packages", 'File "', "orjson", "0x7f", "<class", "Error(")


def body(rng: Random) -> bytes:
    """Bytes that are often almost a request."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randbytes(rng.choice((0, 1, 10, 200, 3_000)))
    if kind == 1:
        return json.dumps({rng.choice(FIELDS): rng.choice(VALUES) for _ in range(4)}).encode()
    if kind == 2:
        return json.dumps(rng.choice(VALUES)).encode()
    text = bytearray(GOOD)
    for _ in range(rng.choice((1, 2, 5))):
        place = rng.randrange(len(text) + 1)
        end = min(len(text), place + rng.choice((0, 0, 1, 5, 40)))
        text[place:end] = rng.choice(PIECES)
    return bytes(text)


def query_string(rng: Random) -> str:
    """A query string that is often almost a request."""
    parts = []
    for _ in range(rng.choice((1, 2, 3, 12))):
        name = rng.choice((*FIELDS, "where", "columns", "x[]"))
        value = body(rng)[:2_000]
        plain = value.decode("latin-1").encode("ascii", "ignore").decode()
        plain = "".join(each for each in plain if each.isprintable() and each not in "# ")
        parts.append(f"{name}={quote_from_bytes(value) if rng.random() < 0.7 else plain}")
    return rng.choice(("&", "&", ";", "&&")).join(parts)


@pytest.mark.volume
async def test_no_body_and_no_query_string_makes_the_door_fail(engine, issuer, scale):
    rng = Random(815)
    seen: Counter[int] = Counter()

    async def one(client: httpx.AsyncClient, shown: dict[str, str]) -> httpx.Response:
        draw = rng.random()
        if draw < 0.2:
            return await client.get(f"/graphql?{query_string(rng)}", headers=shown)
        if draw < 0.3:
            form = rng.choice(("csv", "ndjson", "x", "csv.csv"))
            return await client.get(f"/export/clusters.{form}?{query_string(rng)}", headers=shown)
        media = rng.choice(MEDIA if draw < 0.9 else OTHER_MEDIA)
        accept = rng.choice(("*/*", "application/graphql-response+json", "text/html", "", "q=;,/"))
        headers = shown | {"content-type": media, "accept": accept}
        encoded = {name: value.encode("latin-1") for name, value in headers.items()}
        return await client.post("/graphql", content=body(rng), headers=encoded)

    async with served(engine, issuer=issuer, get_queries=True, requests_per_second=1e6) as door:
        waiting = iter(range(BODIES[scale]))

        async def send_some() -> None:
            for _ in waiting:
                found = await one(door.client, door.as_(rng.choice(("ana", "tess"))))
                seen[found.status_code] += 1
                assert found.status_code < 500, (found.status_code, found.text)
                assert not any(each in found.text for each in INTERNALS), found.text
                if found.status_code >= 400:
                    assert found.json()["errors"][0]["message"]

        await asyncio.gather(*(send_some() for _ in range(ABREAST)))
        alive = await door.ask("{ fleet { revision } }")
    assert alive.json() == {"data": {"fleet": {"revision": 2}}}
    assert seen[400] > BODIES[scale] / 3, seen
    assert {200, 400, 404, 406, 415} <= set(seen), seen
