"""Pages of other origins: those listed may ask and read, the others see nothing."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from api.settings import ApiSettings
from doors import served

OURS = "https://dashboards.example"
FOREIGN = (
    "https://evil.example",
    "null",
    "https://dashboards.example.evil",
    "http://dashboards.example",
)
PATHS = ("/graphql", "/export/clusters.csv")


def cross(headers) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.startswith("access-control-")}


@pytest.fixture
async def shared(fleet, an_issuer):
    async with served(fleet, issuer=an_issuer, origins=f"{OURS} http://127.0.0.1:9") as running:
        yield running


def preflight(origin: str) -> dict[str, str]:
    return {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type",
    }


@pytest.mark.parametrize("path", PATHS)
async def test_a_listed_page_is_told_what_it_may_send_without_a_token(shared, path):
    found = await shared.client.options(path, headers=preflight(OURS))
    assert found.status_code == 204
    assert found.content == b""
    told = cross(found.headers)
    assert told["access-control-allow-origin"] == OURS
    assert {"GET", "POST"} <= set(told["access-control-allow-methods"].split(", "))
    allowed = set(told["access-control-allow-headers"].split(", "))
    assert {"authorization", "content-type"} <= allowed
    assert "access-control-allow-credentials" not in told
    assert "Origin" in found.headers["vary"]


def allowed_headers(found) -> set[str]:
    return set(found.headers["access-control-allow-headers"].split(", "))


async def test_a_listed_page_may_send_what_clients_and_traces_add(shared):
    """Each header that is not allowed fails the whole request in the browser."""
    found = await shared.client.options("/graphql", headers=preflight(OURS))
    assert allowed_headers(found) >= {
        "authorization", "content-type", "if-none-match", "last-event-id",
        "traceparent", "tracestate", "baggage",
        "apollographql-client-name", "apollographql-client-version", "apollo-require-preflight",
        "x-apollo-operation-name", "graphql-client-name", "graphql-client-version",
    }  # fmt: skip


async def test_the_headers_a_page_may_send_are_a_setting(fleet, an_issuer):
    listed = "Authorization content-type X-Ours"
    async with served(fleet, issuer=an_issuer, origins=OURS, origin_headers=listed) as door:
        found = await door.client.options("/graphql", headers=preflight(OURS))
        assert allowed_headers(found) == {"authorization", "content-type", "x-ours"}


@pytest.mark.parametrize("headers", ["x-a, x-b", "x:a", "x-a\r\nx-b", "*", "naïve"])
def test_what_can_be_no_header_is_refused_as_a_setting(headers):
    with pytest.raises(ValidationError):
        ApiSettings(origin_headers=headers)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("origin", FOREIGN)
async def test_a_foreign_page_is_told_nothing(shared, path, origin):
    asked = await shared.client.options(path, headers=preflight(origin))
    assert asked.status_code == 405
    assert not cross(asked.headers)


async def test_a_listed_page_may_read_answers_exports_and_refusals(shared):
    origin = {"origin": OURS}
    answers = [
        await shared.ask("{ fleet { revision } }", **origin),
        await shared.ask("{ fleet { revision } }", **origin),
        await shared.ask("{ fleet { ", **origin),
        await shared.client.get("/export/clusters.csv", headers=shared.as_("ana") | origin),
        await shared.client.post("/graphql", json={}, headers=origin),
    ]
    assert [each.status_code for each in answers] == [200, 200, 200, 200, 401]
    for found in answers:
        told = cross(found.headers)
        assert told["access-control-allow-origin"] == OURS
        assert "trellis-cursor" in told["access-control-expose-headers"]
        assert "Origin" in found.headers.get_list("vary", split_commas=True)
        assert "Authorization" in found.headers.get_list("vary", split_commas=True)


@pytest.mark.parametrize("origin", [*FOREIGN, None])
async def test_other_pages_are_answered_and_may_not_read_it(shared, origin):
    headers = {} if origin is None else {"origin": origin}
    found = await shared.ask("{ fleet { revision } }", **headers)
    assert found.status_code == 200
    assert not cross(found.headers)
    assert "Origin" in found.headers.get_list("vary", split_commas=True)


async def test_an_answer_remembered_for_one_page_is_not_marked_for_another(shared):
    for _ in range(2):
        found = await shared.ask("{ fleet { revision } }", origin=OURS)
        assert cross(found.headers)["access-control-allow-origin"] == OURS
        found = await shared.ask("{ fleet { revision } }", origin=FOREIGN[0])
        assert not cross(found.headers)


async def test_without_listed_origins_no_page_is_told_anything(door):
    assert not cross((await door.client.options("/graphql", headers=preflight(OURS))).headers)
    found = await door.ask("{ fleet { revision } }", origin=OURS)
    assert not cross(found.headers)
