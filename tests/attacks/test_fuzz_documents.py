"""Generated documents over HTTP, good ones and broken ones: answered or refused, never a fault."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from random import Random
from typing import Any

import pytest

from api.schema.schema import GRAPHQL
from doors import served, words
from graphql_documents import Maker

DOCUMENTS = {"test": 1_500, "campaign": 50_000}
ABREAST = 8
"""Requests under way at a time."""
TOKENS = (
    "{", "}", "(", ")", "[", "]", ":", "=", "!", "|", "&", "@", "$", "...", '"', '"""', "#",
    "\\", "\x00", "\ufeff", "\ud7ff", "é", "-", "-0", "1e999", "9" * 400, "null", "true", "on",
    "fragment", "query", "mutation", "subscription", "__typename", "__schema", "@skip(if: true)",
    "$v0", "...F0", "first: -1", '"\\u0000"', '"\\uD83D\\uDE00"', '"""\n block \n"""',
)  # fmt: skip
INTERNALS = ("Traceback", "site-packages", 'File "', "strawberry", "0x7f", "<class", "object at")
"""What no answer may hold."""


def broken(rng: Random, text: str) -> str:
    """The same with a few tokens lost, doubled, swapped, or from somewhere else."""
    parts = text.split(" ")
    for _ in range(rng.choice((1, 1, 2, 5))):
        place = rng.randrange(len(parts))
        kind = rng.randrange(5)
        if kind == 0:
            del parts[place]
        elif kind == 1:
            parts.insert(place, rng.choice(TOKENS))
        elif kind == 2:
            parts[place] = rng.choice(TOKENS)
        elif kind == 3:
            parts.insert(place, parts[rng.randrange(len(parts))])
        else:
            parts = parts[:place]
        parts = parts or ["{"]
    return " ".join(parts)


@pytest.mark.volume
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the same
async def test_no_document_makes_the_door_fail(engine, issuer, scale):
    rng = Random(4711)
    maker = Maker(GRAPHQL, rng, await words(engine))
    seen: Counter[Any] = Counter()
    async with served(
        engine, issuer=issuer, at_least_seconds=0.01, requests_per_second=1e6
    ) as door:
        waiting = iter(range(DOCUMENTS[scale]))

        async def ask_some() -> None:
            for place in waiting:
                made = maker.mutation() if place % 8 == 7 else maker.document()
                text = broken(rng, made.text) if place % 3 == 0 else made.text
                who = rng.choice(("ana", "tess"))
                accept = rng.choice(("application/json", "application/graphql-response+json"))
                found = await door.client.post(
                    "/graphql",
                    json={
                        "query": text,
                        "variables": made.variables,
                        "operationName": made.operation_name,
                    },
                    headers=door.as_(who) | {"accept": accept},
                )
                seen[found.status_code] += 1
                answer = found.json()
                shown = found.text
                assert found.status_code in (200, 400), (shown, text)
                assert not any(each in shown for each in INTERNALS), (shown, text)
                for error in answer.get("errors", []):
                    assert error["extensions"]["code"] != "INTERNAL", (error, text, made.variables)
                seen["errors" if "errors" in answer else "data"] += 1

        await asyncio.gather(*(ask_some() for _ in range(ABREAST)))
    gc.collect()  # graphql-core forgets what it began beside a field that failed
    assert seen["data"] > DOCUMENTS[scale] / 4, seen
    assert seen[400] > DOCUMENTS[scale] / 20, seen
