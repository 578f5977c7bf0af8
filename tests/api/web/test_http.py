"""GraphQL over HTTP: forms of answers, tags, and answers that are sent again as bytes."""

from __future__ import annotations

import asyncio
import json
from hashlib import sha256
from itertools import product
from typing import Any

import pytest

from doors import served
from engines import give
from graph.model.access import Role
from graph.model.command import GrantAccess, RetireCluster, RevokeAccess, UpdateCluster

COUNT = "query Count { fleet { revision clusters { totalCount } } }"
NEW = "application/graphql-response+json"


def hits(door: Any) -> int:
    return door.telemetry.tallies.responses_hit


# what an answer looks like


async def test_an_answer_is_private_and_says_what_it_depends_on(door):
    found = await door.ask(COUNT)
    assert found.status_code == 200
    assert found.headers["content-type"] == "application/json; charset=utf-8"
    assert found.headers["cache-control"].startswith("private")
    assert {"Authorization", "Accept"} <= set(found.headers["vary"].split(", "))
    assert found.headers["etag"]
    assert int(found.headers["content-length"]) == len(found.content)


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        (COUNT, 200, 200),
        ("{ fleet { nothing } }", 200, 400),
        ("{ fleet { ", 200, 400),
        ('{ fleet { clusters(where: {text: "/gio"}) { totalCount } } }', 200, 200),
        ("query ($n: Int!) { fleet { clusters(first: $n) { totalCount } } }", 200, 400),
    ],
)
async def test_only_the_newer_form_says_by_its_status_that_nothing_was_executed(
    door, query, old, new
):
    plain = await door.ask(query, accept="application/json")
    newer = await door.ask(query, accept=NEW)
    assert (plain.status_code, newer.status_code) == (old, new)
    assert newer.headers["content-type"].startswith(NEW)
    assert plain.json() == newer.json()
    assert ("data" in newer.json()) is (new == 200)


async def test_an_answer_in_no_form_the_caller_takes_is_refused(door):
    found = await door.ask(COUNT, accept="text/html")
    assert found.status_code == 406
    assert "application/json" in found.json()["errors"][0]["extensions"]["hint"]


async def test_an_error_has_a_code_a_hint_and_a_place(door):
    found = await door.ask('{ fleet { clusters(where: {text: "/gio/us"}) { totalCount } } }')
    error = found.json()["errors"][0]
    assert error["path"] == ["fleet", "clusters"]
    assert error["extensions"]["code"] == "SELECTOR_NOT_FOUND"
    assert error["extensions"]["path"] == ["where", "text"]
    assert error["extensions"]["column"] == 2
    assert "/geo/us" in str(error["extensions"])


# tags


async def test_a_get_with_the_tag_of_an_answer_gets_no_body_until_something_changes(door, fleet):
    first = await door.client.get("/graphql", params={"query": COUNT}, headers=door.as_("ana"))
    tag = {"if-none-match": first.headers["etag"]}
    again = await door.client.get(
        "/graphql", params={"query": COUNT}, headers=door.as_("ana") | tag
    )
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    await give(fleet, UpdateCluster("austin-00", title="other"))
    changed = await door.client.get(
        "/graphql", params={"query": COUNT}, headers=door.as_("ana") | tag
    )
    assert changed.status_code == 200
    assert changed.headers["etag"] != first.headers["etag"]


async def test_a_post_is_answered_in_full_whatever_tag_it_shows(door):
    first = await door.ask(COUNT)
    again = await door.ask(COUNT, **{"if-none-match": first.headers["etag"]})
    assert again.status_code == 200
    assert again.content == first.content


async def test_two_callers_who_see_different_things_have_different_tags(door):
    first, second = await door.ask(COUNT), await door.ask(COUNT, who="tess")
    assert first.headers["etag"] != second.headers["etag"]


NAMES = """query A($text: String!) { fleet { clusters(where: {text: $text}) { nodes { name } } } }
query B($text: String!) { fleet { clusters(where: {text: $text}) { totalCount } } }"""


async def test_answers_have_the_same_tag_exactly_where_they_are_the_same(door, fleet):
    """Over callers, forms, methods, operations, variables and revisions."""
    by_tag: dict[str, set[tuple[str, bytes]]] = {}
    asked = [
        {"query": NAMES, "operationName": name, "variables": {"text": text}}
        for name in ("A", "B")
        for text in ("/geo/us/tx", "/geo/us", "size = large", "not all")
    ]
    for revision in (2, 3):
        assert fleet.view.cursor.revision == revision
        for who, accept, sent in product(("ana", "ron", "tess"), ("application/json", NEW), asked):
            headers = door.as_(who) | {"accept": accept}
            fields = sent | {"variables": json.dumps(sent["variables"])}
            for found in (
                await door.client.post("/graphql", json=sent, headers=headers),
                await door.client.post("/graphql", json=sent, headers=headers),
                await door.client.get("/graphql", params=fields, headers=headers),
            ):
                assert found.status_code == 200
                answer = (found.headers["content-type"], found.content)
                by_tag.setdefault(found.headers["etag"], set()).add(answer)
        await give(fleet, RetireCluster(f"austin-{10 * revision}"))
    assert len(by_tag) > 20
    assert all(len(answers) == 1 for answers in by_tag.values())
    assert len({answer for answers in by_tag.values() for answer in answers}) == len(by_tag)


async def test_a_get_is_told_that_nothing_changed_though_the_answer_was_not_remembered(
    fleet, an_issuer
):
    async with served(fleet, issuer=an_issuer, responses_kept_bytes=0) as door:
        first = await door.client.get("/graphql", params={"query": COUNT}, headers=door.as_("ana"))
        headers = door.as_("ana") | {"if-none-match": first.headers["etag"]}
        again = await door.client.get("/graphql", params={"query": COUNT}, headers=headers)
        assert (first.status_code, again.status_code) == (200, 304)


# documents by their hash


def hashed(text: str, *, sent: bool = False, **more: Any) -> dict[str, Any]:
    digest = sha256(text.encode()).hexdigest()
    found = {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": digest}}, **more}
    return found | {"query": text} if sent else found


@pytest.mark.parametrize("accept", ["application/json", NEW])
async def test_a_document_sent_with_its_hash_is_known_by_it_to_all_and_through_every_door(
    door, accept
):
    async def post(who: str = "ana", **sent: Any) -> Any:
        headers = door.as_(who) | {"accept": accept}
        return await door.client.post("/graphql", json=sent, headers=headers)

    unknown = await post(**hashed(COUNT))
    assert unknown.status_code == 200
    assert unknown.json()["errors"][0]["message"] == "PersistedQueryNotFound"
    assert unknown.json()["errors"][0]["extensions"]["code"] == "PERSISTED_QUERY_NOT_FOUND"
    assert "etag" not in unknown.headers
    whole = await post(**hashed(COUNT, sent=True))
    assert whole.json()["data"]["fleet"]["clusters"]["totalCount"] == 39
    for _ in range(2):
        assert (await post(**hashed(COUNT))).json() == whole.json()
        by_another = await post("tess", **hashed(COUNT))
        assert by_another.json()["data"]["fleet"]["clusters"]["totalCount"] == 16
    fields = {"extensions": json.dumps(hashed(COUNT)["extensions"])}
    by_get = await door.client.get("/graphql", params=fields, headers=door.as_("ana"))
    assert by_get.json() == whole.json()


async def test_where_hashes_are_switched_off_clients_are_told_to_send_texts(fleet, an_issuer):
    async with served(fleet, issuer=an_issuer, persisted_queries_max=0) as door:
        for sent, message in (
            (hashed(COUNT), "PersistedQueryNotSupported"),
            (hashed(COUNT, sent=True), ""),
            (hashed(COUNT), "PersistedQueryNotSupported"),
        ):
            found = await door.client.post("/graphql", json=sent, headers=door.as_("ana"))
            assert found.status_code == 200
            assert found.json().get("errors", [{"message": ""}])[0]["message"] == message


# answers remembered


async def test_the_same_request_is_answered_from_memory(door):
    first = await door.ask(COUNT)
    before = hits(door)
    again = await door.ask(COUNT)
    assert hits(door) == before + 1
    assert again.content == first.content
    assert again.headers["etag"] == first.headers["etag"]


async def test_two_callers_with_different_scopes_never_share_an_answer(door):
    for _ in range(3):
        assert (await door.data(COUNT))["fleet"]["clusters"]["totalCount"] == 39
        assert (await door.data(COUNT, who="ron"))["fleet"]["clusters"]["totalCount"] == 39
        assert (await door.data(COUNT, who="tess"))["fleet"]["clusters"]["totalCount"] == 16
        assert (await door.ask(COUNT, who="sid")).status_code == 403


async def test_a_grant_taken_away_takes_the_remembered_answers_with_it(door, fleet):
    await give(fleet, GrantAccess("sids", Role.READER, subject="sid", scope="/geo/ca"))
    for _ in range(2):
        assert (await door.data(COUNT, who="sid"))["fleet"]["clusters"]["totalCount"] == 8
    await give(fleet, RevokeAccess("sids"))
    assert (await door.ask(COUNT, who="sid")).status_code == 403


async def test_an_answer_is_of_the_newest_revision_right_after_a_change(door, fleet):
    for place in range(3, 6):
        await give(fleet, UpdateCluster("austin-00", title=str(place)))
        for _ in range(3):
            assert (await door.data(COUNT))["fleet"]["revision"] == place


@pytest.mark.parametrize(
    "query",
    [
        "{ viewer { name } }",
        "{ fleet { age } }",
        "{ fleet { revision } viewer { name } }",
        '{ preview(input: {commands: [], reason: "x"}) { __typename } }',
        '{ fleet { clusters(where: {text: "/gio"}) { totalCount } } }',
        "{ fleet { nothing } }",
        'mutation { revokeAccess(input: {name: "nobody"}, reason: "x") { __typename } }',
    ],
)
async def test_what_is_not_of_the_revision_alone_is_never_remembered(door, query):
    before = hits(door)
    for _ in range(3):
        found = await door.ask(query)
        assert "etag" not in found.headers
    assert hits(door) == before


async def test_viewers_with_the_same_scope_see_themselves(door):
    query = "{ viewer { name } fleet { revision } }"
    for who in ("ana", "ron", "tess", "ana", "ron"):
        assert (await door.data(query, who=who))["viewer"]["name"] == who


async def test_an_answer_to_a_get_is_no_answer_to_a_post_of_the_same_bytes(door):
    text = "query=%7Bfleet%7Brevision%7D%7D"
    by_get = await door.client.get(f"/graphql?{text}", headers=door.as_("ana"))
    assert by_get.status_code == 200
    by_post = await door.client.post(
        "/graphql", content=text, headers=door.as_("ana") | {"content-type": "application/json"}
    )
    assert by_post.status_code == 400


async def test_requests_that_differ_in_anything_are_different_requests(door):
    query = "query ($n: Int!) { fleet { clusters(first: $n) { nodes { name } } } }"
    sizes = [
        len((await door.data(query, n=n))["fleet"]["clusters"]["nodes"]) for n in (1, 2, 3, 2, 1)
    ]
    assert sizes == [1, 2, 3, 2, 1]


# by GET


async def test_a_query_by_get_has_its_variables_and_its_name(door):
    found = await door.client.get(
        "/graphql",
        params={
            "query": "query A($n: Int!) { fleet { clusters(first: $n) { nodes { name } } } }"
            " query B { viewer { name } }",
            "variables": '{"n": 1}',
            "operationName": "A",
        },
        headers=door.as_("ana"),
    )
    assert found.json()["data"]["fleet"]["clusters"]["nodes"] == [{"name": "austin-00"}]


MUTATION = 'mutation { revokeAccess(input: {name: "texans"}, reason: "x") { __typename } }'
SUBSCRIPTION = "subscription { changes { __typename } }"


@pytest.mark.parametrize("accept", ["application/json", NEW, "text/event-stream"])
async def test_nothing_is_changed_by_get_whatever_form_the_answer_has(door, accept):
    for query in (MUTATION, f"query A {{ viewer {{ name }} }} {MUTATION.replace('{', 'B {', 1)}"):
        found = await door.client.get(
            "/graphql",
            params={"query": query, **({"operationName": "B"} if query != MUTATION else {})},
            headers=door.as_("ana") | {"accept": accept},
        )
        assert (found.status_code, found.headers["allow"]) == (405, "POST")
    assert (await door.data(COUNT))["fleet"]["revision"] == 2


async def test_by_get_a_subscription_is_answered_by_a_stream_and_nothing_else(door):
    asked = {"params": {"query": SUBSCRIPTION}, "headers": door.as_("ana")}
    assert (await door.client.get("/graphql", **asked)).status_code == 400
    asked["headers"]["accept"] = "text/event-stream"
    async with door.client.stream("GET", "/graphql", **asked) as found:
        assert found.status_code == 200
        assert await anext(found.aiter_lines()) == "event: next"


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_only_a_batch_may_be_long_whatever_form_the_answer_has(fleet, an_issuer, accept):
    async with served(fleet, issuer=an_issuer, body_bytes_max=1_000) as door:
        filler = {"extensions": {"x": "y" * 1_000}}
        headers = door.as_("ana") | {"accept": accept}
        found = await door.client.post("/graphql", json={"query": COUNT, **filler}, headers=headers)
        assert found.status_code == 413
        batch = '{ preview(input: {commands: [], reason: "x"}) { __typename } }'
        found = await door.client.post("/graphql", json={"query": batch, **filler}, headers=headers)
        assert (found.status_code, "preview" in found.text) == (200, True)


# odd ends


@pytest.mark.parametrize("variables", ['{"n": null}', '{"n": 1e400}', '{"n": [[]]}', '{"n": {}}'])
async def test_odd_variables_are_the_callers_fault_and_not_ours(door, variables):
    query = "query ($n: Int) { fleet { clusters(first: $n) { nodes { name } } } }"
    body = f'{{"query": "{query}", "variables": {variables}}}'
    headers = door.as_("ana") | {"content-type": "application/json"}
    found = await door.client.post("/graphql", content=body, headers=headers)
    assert found.status_code in (200, 400)
    assert found.json()["errors"][0]["extensions"]["code"] in ("BAD_REQUEST", "INVALID")
    well = await door.data(query, n=1)
    assert len(well["fleet"]["clusters"]["nodes"]) == 1


async def test_a_subscription_that_asks_for_no_stream_is_told_how_to_have_one(door):
    found = await door.ask("subscription { changes { __typename } }")
    assert found.status_code == 400
    assert "text/event-stream" in found.json()["errors"][0]["extensions"]["hint"]


async def test_a_revision_that_does_not_come_is_waited_for_and_then_unavailable(fleet, an_issuer):
    async with served(fleet, issuer=an_issuer, at_least_seconds=0.05) as door:
        found = await door.ask("{ fleet(atLeast: 3) { revision } }")
        assert found.json()["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
        assert found.json()["data"] is None


async def test_all_of_an_answer_is_of_the_revision_it_waited_for(door, fleet):
    query = "{ a: fleet { revision } b: fleet(atLeast: 3) { revision } c: fleet { revision } }"
    waiting = asyncio.create_task(door.ask(query))
    await give(fleet, UpdateCluster("austin-00", title="arrived"))
    found = (await waiting).json()["data"]
    assert found == {name: {"revision": 3} for name in "abc"}


async def test_a_revision_that_comes_while_it_is_waited_for_is_answered(door, fleet):
    waiting = asyncio.create_task(door.data("{ fleet(atLeast: 3) { revision } }"))
    await give(fleet, UpdateCluster("austin-00", title="arrived"))
    assert await waiting == {"fleet": {"revision": 3}}


async def test_a_caller_who_hangs_up_in_the_middle_harms_nobody(door):
    for _ in range(5):
        _, writer = await door.connect(
            b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\nAuthorization: "
            + door.as_("ana")["authorization"].encode()
            + b'\r\n\r\n{"query": '
        )
        writer.close()
        await writer.wait_closed()
    assert (await door.data(COUNT))["fleet"]["revision"] == 2


async def test_a_process_that_has_lost_its_store_for_too_long_refuses(fleet, an_issuer):
    async with served(fleet, issuer=an_issuer, stale_seconds=1e-9) as door:
        for found in (
            await door.ask(COUNT),
            await door.client.get("/export/clusters.csv", headers=door.as_("ana")),
        ):
            assert found.status_code == 503
            assert "has not reached the store" in found.json()["errors"][0]["message"]
