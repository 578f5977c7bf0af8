"""The attack list, as far as it comes by HTTP: each with the answer it gets, over real sockets."""

from __future__ import annotations

import asyncio
import io
import json
import time
from hashlib import sha256
from typing import Any

import pytest

from api.settings import MIB, TelemetrySettings
from api.telemetry.logs import log_to
from doors import Served, opened, served
from graph.store.embedded import EmbeddedStore

RETIRE = """mutation ($key: String) {
    retireCluster(input: {name: "austin-00"}, reason: "attack", idempotencyKey: $key) {
        __typename ... on Applied { revision } ... on Failure { code message }
    } }"""
REVISION = "{ fleet { revision } }"


def codes(answer: Any) -> list[str]:
    return [each["extensions"]["code"] for each in answer.json()["errors"]]


async def unharmed(door: Served) -> None:
    """Nothing was written, and others are answered."""
    assert await door.data(REVISION) == {"fleet": {"revision": 2}}


# what a page in somebody's browser could send


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_only_get_and_post_are_answered(door, method):
    found = await door.client.request(
        method, "/graphql", params={"query": REVISION}, headers=door.as_("ana")
    )
    assert found.status_code == 405
    assert found.headers["allow"] == "GET, POST"


async def test_with_get_switched_off_only_post_is_answered(engine, issuer):
    async with served(engine, issuer=issuer, get_queries=False) as door:
        found = await door.client.get(
            "/graphql", params={"query": REVISION}, headers=door.as_("ana")
        )
        assert found.status_code == 405
        assert found.headers["allow"] == "POST"


async def test_a_mutation_by_get_is_refused_and_does_nothing(door):
    text, digest = {"query": RETIRE}, hashed_fields(RETIRE)
    for fields in (text, digest, text | digest):
        found = await door.client.get("/graphql", params=fields, headers=door.as_("ana"))
        assert found.status_code == (405 if "query" in fields else 200)
        assert "data" not in found.json()
    known = {"query": f"{REVISION} {RETIRE.replace('mutation', 'mutation Retire')}"}
    found = await door.client.get(
        "/graphql", params=known | {"operationName": "Retire"}, headers=door.as_("ana")
    )
    assert "data" not in found.json()
    await unharmed(door)


async def test_a_mutation_known_by_its_hash_is_not_made_by_get(door):
    """Its hash becomes known by a POST that names no cluster that is there."""
    text = RETIRE.replace("austin-00", "nowhere-00")
    posted = await door.client.post(
        "/graphql", json={"query": text} | hashed(text), headers=door.as_("ana")
    )
    assert posted.json()["data"]["retireCluster"]["code"] == "NOT_FOUND"
    found = await door.client.get("/graphql", params=hashed_fields(text), headers=door.as_("ana"))
    assert found.status_code == 405
    await unharmed(door)


@pytest.mark.parametrize(
    "sent",
    [
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
        {"origin": "https://evil.example", "sec-fetch-site": "cross-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1.evil.example"},
    ],
    ids=str,
)
async def test_a_get_that_a_foreign_page_makes_a_browser_send_is_refused(door, sent):
    found = await door.client.get(
        "/graphql", params={"query": REVISION}, headers=door.as_("ana") | sent
    )
    assert found.status_code == 403
    assert codes(found) == ["DENIED"]
    assert "TRELLIS_API_ORIGINS" in found.json()["errors"][0]["extensions"]["hint"]


@pytest.mark.parametrize("site", ["same-origin", "none", ""])
async def test_a_get_of_our_own_page_or_of_no_page_is_answered(door, site):
    headers = door.as_("ana") | ({"sec-fetch-site": site} if site else {})
    if site == "same-origin":
        headers |= {"origin": f"http://127.0.0.1:{door.port}"}
    found = await door.client.get("/graphql", params={"query": REVISION}, headers=headers)
    assert found.json() == {"data": {"fleet": {"revision": 2}}}


# documents by their hash


def hashed(text: str) -> dict[str, Any]:
    digest = sha256(text.encode()).hexdigest()
    return {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": digest}}}


def hashed_fields(text: str) -> dict[str, str]:
    return {"extensions": json.dumps(hashed(text)["extensions"])}


async def test_a_hash_cannot_be_made_to_stand_for_another_document(door):
    poison = {"query": "{ fleet { age } }"} | hashed(REVISION)
    for _ in range(2):
        found = await door.client.post("/graphql", json=poison, headers=door.as_("tess"))
        assert found.status_code == 400
        assert codes(found) == ["INVALID"]
        await door.client.post(
            "/graphql", json={"query": REVISION} | hashed(REVISION), headers=door.as_("ana")
        )
    found = await door.client.post("/graphql", json=hashed(REVISION), headers=door.as_("ana"))
    assert found.json() == {"data": {"fleet": {"revision": 2}}}


async def test_documents_that_cannot_be_executed_are_not_known_by_their_hash(door):
    dear = "{ fleet(asOf: 1) { clusters(first: 99999) { nodes { name title } } } }"
    for text in ("{ fleet { nothing } }", "{", dear):
        await door.client.post(
            "/graphql", json={"query": text} | hashed(text), headers=door.as_("ana")
        )
        found = await door.client.post("/graphql", json=hashed(text), headers=door.as_("ana"))
        assert codes(found) == ["PERSISTED_QUERY_NOT_FOUND"]


async def test_a_hash_opens_nothing_that_its_text_would_not(door):
    text = "{ fleet { grants { name } } }"
    whole = {"query": text} | hashed(text)
    await door.client.post("/graphql", json=whole, headers=door.as_("ana"))
    answers = [
        (await door.client.post("/graphql", json=sent, headers=door.as_("tess"))).json()
        for sent in ({"query": text}, hashed(text))
    ]
    assert answers[0] == answers[1]
    assert answers[0]["errors"][0]["extensions"]["code"] == "DENIED"
    assert (await door.client.post("/graphql", json=hashed(text))).status_code == 401
    stranger = await door.client.post("/graphql", json=hashed(text), headers=door.as_("sid"))
    assert stranger.status_code == 403


async def test_a_flood_of_documents_keeps_within_the_bounds(engine, issuer):
    async with served(
        engine, issuer=issuer, persisted_queries_max=50, persisted_queries_bytes=5_000
    ) as door:
        for place in range(200):
            text = f"query Q{place} {REVISION}"
            await door.client.post(
                "/graphql", json={"query": text} | hashed(text), headers=door.as_("ana")
            )
        known = [
            place
            for place in range(200)
            if "data"
            in (
                await door.client.post(
                    "/graphql", json=hashed(f"query Q{place} {REVISION}"), headers=door.as_("ana")
                )
            ).json()
        ]
        assert known == list(range(200 - len(known), 200))
        assert 10 < len(known) <= 5_000 // 200


# what a form of some page could send


@pytest.mark.parametrize(
    "media",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; charset=application/json",
        "application/graphql",
        "",
    ],
)
async def test_a_form_of_some_web_page_is_refused_and_does_nothing(door, media):
    found = await door.client.post(
        "/graphql",
        content=json.dumps({"query": RETIRE}).encode(),
        headers=door.as_("ana") | {"content-type": media, "origin": "https://evil.example"},
    )
    assert found.status_code == 415
    assert "application/json" in found.json()["errors"][0]["extensions"]["hint"]
    assert not [name for name in found.headers if name.startswith("access-control")]
    await unharmed(door)


async def test_several_operations_in_one_body_are_refused(door):
    found = await door.client.post(
        "/graphql", json=[{"query": REVISION}] * 3, headers=door.as_("ana")
    )
    assert found.status_code == 400
    assert "one operation" in found.json()["errors"][0]["extensions"]["hint"]


async def test_nobody_is_answered_without_a_token(door):
    found = await door.client.post("/graphql", json={"query": REVISION})
    assert found.status_code == 401
    assert found.headers["www-authenticate"].startswith("Bearer")
    wrong = {"authorization": "Bearer of-bad-news-0123456789"}
    assert (await door.client.get("/export/clusters.csv", headers=wrong)).status_code == 401


async def test_whoever_has_no_grant_is_told_nothing(door):
    found = await door.ask(REVISION, who="sid")
    assert found.status_code == 403
    assert codes(found) == ["DENIED"]


# bodies that are too long, too slow or endless


def head(door: Served, *more: str, who: str = "ron", path: str = "/graphql") -> bytes:
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{door.port}",
        f"Authorization: {door.as_(who)['authorization']}",
        "Content-Type: application/json",
        *more,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def answer(reader: asyncio.StreamReader, within: float = 10) -> bytes:
    """Everything up to the end of the connection."""
    async with asyncio.timeout(within):
        return await reader.read()


async def test_a_body_said_to_be_too_long_is_refused_before_it_is_sent(door):
    reader, writer = await door.connect(head(door, f"Content-Length: {MIB + 1}"))
    found = await answer(reader)
    assert found.startswith(b"HTTP/1.1 413 ")
    assert b"1,048,576 bytes" in found
    writer.close()


async def test_an_endless_body_is_cut_off_at_the_cap(door):
    reader, writer = await door.connect(head(door, "Transfer-Encoding: chunked"))
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    sent = 0

    async def flood() -> None:
        nonlocal sent
        try:
            while True:
                writer.write(chunk)
                sent += 0x10000
                await writer.drain()
        except ConnectionError:
            pass

    flooding = asyncio.create_task(flood())
    try:
        async with asyncio.timeout(20):
            found = await reader.read(12)
            await flooding
    finally:
        flooding.cancel()
    assert found == b"HTTP/1.1 413"
    assert sent < 64 * MIB, "the connection was closed, not drained"
    await unharmed(door)


async def test_a_body_that_trickles_in_is_not_waited_for(engine, issuer):
    async with served(engine, issuer=issuer, body_seconds=0.3) as door:
        reader, writer = await door.connect(head(door, "Content-Length: 1000") + b"{")
        found = await answer(reader)
        assert found.startswith(b"HTTP/1.1 408 ")
        writer.close()
        await unharmed(door)


async def test_a_long_batch_is_for_editors_and_for_apply_and_preview_alone(door):
    """Sixteen mebibytes are a batch; nothing else is as long."""
    commands = [{"updateCluster": {"name": "austin-00", "title": "x" * 4_000}}] * 300
    batch = {"input": {"commands": commands, "reason": "many"}}
    preview = "query ($input: ApplyInput!) { preview(input: $input) { __typename } }"
    assert len(json.dumps(batch)) > MIB
    assert (await door.ask(preview, batch)).status_code == 200
    assert (await door.ask(preview, batch, who="tess")).status_code == 200
    assert (await door.ask(preview, batch, who="ron")).status_code == 413
    hidden = "query ($input: ApplyInput!) { ...F } fragment F on Query { preview(input: $input)"
    for other in (
        "query ($input: ApplyInput!) { fleet { revision } preview(input: $input) { __typename } }",
        "query ($input: ApplyInput!) { ... { preview(input: $input) { __typename } } }",
        hidden + " { __typename } fleet { revision } }",
    ):
        found = await door.ask(other, batch)
        assert found.status_code == 413, other
        assert "only a batch" in found.text
    await unharmed(door)


async def test_more_than_a_batch_may_have_is_too_much_for_everybody(door):
    reader, writer = await door.connect(head(door, f"Content-Length: {16 * MIB + 1}", who="ana"))
    assert (await answer(reader)).startswith(b"HTTP/1.1 413 ")
    writer.close()


# documents that are dear


def bomb(fragments: int) -> str:
    parts = [f"...F{place + 1} ...F{place + 1}" for place in range(fragments - 1)] + ["revision"]
    bodies = (f"fragment F{place} on Fleet {{{part}}}" for place, part in enumerate(parts))
    return "{fleet{...F0}} " + " ".join(bodies)


# pages of the newest fleet are counted by what it holds, which is little here
DEAR = {
    "a fragment bomb": bomb(20),
    "a larger one": bomb(100),
    "a page of two milliards": "{ fleet(asOf: 1) { clusters(first: 2147483647)"
    " { nodes { name } } } }",
    "pages in pages": "{ fleet(asOf: 1) { hierarchies { root { children { children { children"
    " { children { name } } } } } } } }",
    "two hundred levels": "{ fleet { hierarchies { "
    + "root { hierarchy { " * 95
    + "name"
    + " } }" * 95
    + " } } }",
    "a cycle": "{ fleet { ...A } } fragment A on Fleet { ...A }",
    "a fragment of nobody": "{ fleet { ...Nobody } }",
    "a thousand aliases": "{ fleet { " + " ".join(f"a{n}: revision" for n in range(1_000)) + " } }",
    "a thousand directives": "{ fleet { revision " + "@skip(if: false) " * 1_000 + "} }",
    "three thousand fields": "{ fleet { " + "revision " * 3_000 + "} }",
    "many earlier revisions": "{ "
    + " ".join(f"a{n}: fleet(asOf: 1) {{ revision }}" for n in range(30))
    + " }",
    "every history": "{ fleet(asOf: 1) { clusters(first: 10000)"
    " { nodes { history(first: 0) { at } } } } }",
}


@pytest.mark.parametrize("text", DEAR.values(), ids=DEAR)
async def test_a_dear_document_is_refused_readably_before_it_is_executed(door, text):
    started = time.process_time()
    found = await door.ask(text, accept="application/graphql-response+json")
    assert time.process_time() - started < 0.5, "bounded, with room for a busy machine"
    assert found.status_code == 400
    assert "data" not in found.json()
    error = found.json()["errors"][0]
    assert error["extensions"]["code"] in ("INVALID", "BAD_REQUEST")
    assert len(error["message"]) < 1_000


@pytest.mark.parametrize("first", [-1, 10_001, 2**31 - 1])
async def test_a_page_of_no_size_is_refused_by_name(door, first):
    query = "query ($n: Int!) { fleet { clusters(first: $n) { totalCount nodes { name } } } }"
    found = await door.ask(query, {"n": first})
    error = found.json()["errors"][0]
    assert error["extensions"]["code"] == "INVALID"
    assert error["extensions"]["hint"]


@pytest.mark.parametrize(
    "selector",
    [
        " or ".join(["size = large"] * 10_000),
        "(" * 1_000 + "all" + ")" * 1_000,
        "not " * 5_000 + "all",
        "size in (" + ", ".join(["small"] * 50_000) + ")",
        "/geo/" + "/".join(["*"] * 500),
        'size = "' + "a" * 500_000 + '"',
    ],
    ids=["leaves", "parentheses", "nots", "values", "stars", "text"],
)
async def test_a_selector_that_is_too_large_is_refused(door, selector):
    query = "query ($text: String!) { fleet { clusters(where: {text: $text}) { totalCount } } }"
    started = time.process_time()
    found = await door.ask(query, {"text": selector})
    assert time.process_time() - started < 2.0, "bounded, with room for a busy machine"
    assert found.status_code == 200
    error = found.json()["errors"][0]
    assert error["extensions"]["code"] == "SELECTOR_INVALID"
    assert error["extensions"]["hint"]
    assert len(error["message"]) < 1_000


async def test_selectors_nested_a_thousand_deep_in_variables_are_refused(door):
    where: dict[str, Any] = {"everything": True}
    for _ in range(400):
        where = {"not": where}
    query = "query ($where: SelectorInput) { fleet { clusters(where: $where) { totalCount } } }"
    found = await door.ask(query, {"where": where})
    assert found.status_code in (200, 400)
    assert found.json()["errors"][0]["message"]


async def test_a_label_key_that_would_break_out_of_a_query_is_refused_by_its_name(door):
    for key in ("a` SET n.x = 1 //", "\\u0060", "size) MATCH (n", "a.b"):
        query = "query ($key: Name!) { fleet { facets(by: [{label: $key}]) { label } } }"
        found = await door.ask(query, {"key": key})
        assert codes(found) == ["NOT_FOUND"], key


# too often


async def test_a_caller_that_asks_too_often_is_told_when_to_ask_again(engine, issuer):
    async with served(engine, issuer=issuer, requests_burst=3, requests_per_second=0.1) as door:
        found = [(await door.ask(REVISION)).status_code for _ in range(3)]
        assert found == [200] * 3
        refused = await door.ask(REVISION)
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 10
        assert codes(refused) == ["TOO_MANY_REQUESTS"]
        assert (await door.ask(REVISION, who="ron")).status_code == 200


# doing it twice


async def test_the_same_key_does_a_thing_once_and_another_body_under_it_is_refused(door):
    first = await door.data(RETIRE, key="k1")
    again = await door.data(RETIRE, key="k1")
    assert first == again
    assert first["retireCluster"]["revision"] == 3
    other = await door.data(RETIRE.replace("austin-00", "austin-05"), key="k1")
    assert other["retireCluster"]["code"] == "CONFLICT"
    assert (await door.data(REVISION))["fleet"]["revision"] == 3


async def test_moves_that_would_make_a_ring_are_refused_one_of_them(door):
    move = """mutation ($path: GroupPath!, $parent: GroupPath!) {
        moveGroup(input: {path: $path, parent: $parent}, reason: "ring") { __typename } }"""
    answers = await asyncio.gather(
        door.data(move, path="/geo/us/tx", parent="/geo/us/ny"),
        door.data(move, path="/geo/us/ny", parent="/geo/us/tx"),
    )
    kinds = sorted(each["moveGroup"]["__typename"] for each in answers)
    assert kinds[0] == "Applied"
    assert kinds[1] in ("Invalid", "NotFound", "Rejected")


# what an error may tell

SECRET = "bolt://neo4j:hunter2-and-more@db.internal:7687"


class Leaky(EmbeddedStore):
    """A store whose driver puts what it knows into its errors."""

    leaking = False

    async def commit(self, *given: Any, **named: Any) -> Any:
        self._leak()
        return await super().commit(*given, **named)

    async def changeset(self, *given: Any, **named: Any) -> Any:
        self._leak()
        return await super().changeset(*given, **named)

    def changesets(self, *given: Any, **named: Any) -> Any:
        self._leak()
        return super().changesets(*given, **named)

    def _leak(self) -> None:
        if self.leaking:
            raise RuntimeError(f"cannot connect to {SECRET}")


async def test_a_driver_that_tells_secrets_tells_them_to_nobody(tmp_path, issuer):
    store = await Leaky.open(tmp_path / "fleet.db", write=True, create=True)
    log = io.StringIO()
    settings = TelemetrySettings(logs="json", metrics=False)
    with log_to(settings, secrets=["hunter2-and-more", SECRET], stream=log):
        async with opened(tmp_path, store) as engine, served(engine, issuer=issuer) as door:
            store.leaking = True
            asked = [
                RETIRE,
                '{ fleet { cluster(name: "austin-00") { history { revision } } } }',
                "{ changesets { nodes { revision } } }",
                "{ fleet(atLeast: 3) { revision } }",
            ]
            answers = [await door.ask(each) for each in asked]
            store.leaking = False
            await unharmed(door)
    failed = [each for each in answers if "errors" in each.json()]
    assert len(failed) >= 2  # history and the log's newest part are in memory
    for found in answers:
        assert "hunter2" not in found.text
        assert "db.internal" not in found.text
        assert "RuntimeError" not in found.text
    masked = [each for found in failed for each in found.json()["errors"]]
    ids = [each["extensions"].get("errorId") for each in masked]
    assert any(ids)
    written = log.getvalue()
    assert "hunter2" not in written
    assert all(each in written for each in ids if each), "whoever reads the log finds the error"


async def test_a_name_with_a_line_break_forges_no_line_of_the_log(tmp_path, issuer, engine):
    log = io.StringIO()
    with log_to(TelemetrySettings(logs="json"), stream=log):
        async with served(engine, issuer=issuer) as door:
            await door.client.post(
                "/graphql",
                json={
                    "query": "query A { fleet { revision } }",
                    "operationName": 'A\n{"level": "error"}',
                },
                headers=door.as_("ana"),
            )
    for line in log.getvalue().splitlines():
        assert json.loads(line)["level"] != "error"


# what may be asked about the schema


async def test_the_schema_and_its_names_can_be_kept_to_oneself(engine, issuer):
    async with served(engine, issuer=issuer, introspection=False, console=False) as door:
        found = await door.ask("{ __schema { types { name } } }")
        assert set(codes(found)) == {"BAD_REQUEST"}
        found = await door.ask("{ fleet { revisio } }")
        assert "revision" not in found.text
        assert (await door.client.get("/")).status_code == 404
        await unharmed(door)
