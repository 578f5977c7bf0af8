"""Operations: what is executed again, and what never is."""

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64encode

from doors import served
from engines import give
from graph.model.command import UpdateCluster


def ahead(revision: int) -> str:
    """The cursor of a page of a revision that is not there yet."""
    return urlsafe_b64encode(f"{revision}.{'0' * 16}.name.a".encode()).decode().rstrip("=")


TWO = """mutation ($after: String) {
  first: createGroup(input: {path: "/geo/one"}, reason: "x") {
    __typename
    ... on Applied { fleet { clusters(first: 1, after: $after) { nodes { name } } } }
  }
  second: createGroup(input: {path: "/geo/two"}, reason: "x") {
    __typename ... on Applied { revision }
  }
}"""


async def test_a_mutation_is_executed_once_whatever_its_answer_asks_for(door):
    """The page's cursor is of the revision the second of them makes."""
    answer = (await door.ask(TWO, {"after": ahead(4)})).json()
    assert answer["data"]["second"] == {"__typename": "Applied", "revision": 4}
    assert answer["data"]["first"]["__typename"] == "Applied"
    assert answer["errors"][0]["path"][:3] == ["first", "fleet", "clusters"]
    assert (await door.data("{ fleet { revision } }"))["fleet"]["revision"] == 4


async def test_a_query_waits_for_the_revision_of_its_page(fleet, an_issuer):
    query = (
        "query ($after: String) { fleet { clusters(first: 1, after: $after) { nodes { name } } } }"
    )
    async with served(fleet, issuer=an_issuer, at_least_seconds=20) as door:
        asking = asyncio.create_task(door.ask(query, {"after": ahead(3)}))
        while not door.telemetry.tallies.documents_missed:  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.01)
        await give(fleet, UpdateCluster("austin-00", title="arrived"))
        (error,) = (await asking).json()["errors"]
        assert error["extensions"]["code"] == "CONFLICT", "it is judged where it belongs"
