"""Both consoles in a real browser, over the real process: they answer, and stay at home."""

from __future__ import annotations

import os
import uuid

import httpx
import pytest

from api.console.pages import FETCHED, NEEDED
from browser import visit
from serving import sample as sample
from serving import server as server

COUNTED = "{ fleet { clusters(first: 0) { totalCount } } }"
FOLLOWED = 'subscription Follow { changes(after: "%s") { ... on Changeset { reason } } }'


@pytest.fixture
def graphiql():
    """GraphiQL as the build fetched it; a loud skip where it could not."""
    if all((FETCHED / name).is_file() for name in NEEDED):
        return
    if "graphiql" in os.environ.get("TRELLIS_TEST_REQUIRE", "").split(","):
        pytest.fail("GraphiQL is required here, and the build did not fetch it")
    pytest.skip("GRAPHIQL WAS NOT OPENED: the build did not fetch it")


@pytest.fixture
def followed(server):
    """A subscription to every change from now on, whenever it arrives at the server."""
    answer = httpx.post(server.graphql, json={"query": "{ fleet { cursor } }"})
    return FOLLOWED % answer.json()["data"]["fleet"]["cursor"]


@pytest.fixture
def write(server):
    """Change something, for a reason."""

    def declare(reason):
        name = f"label-{uuid.uuid4().hex[:8]}"
        query = """mutation ($name: Name!, $reason: String!) {
          declareLabel(input: {name: $name, type: TEXT}, reason: $reason) { __typename }
        }"""
        body = {"query": query, "variables": {"name": name, "reason": reason}}
        answer = httpx.post(server.graphql, json=body)
        assert answer.json()["data"]["declareLabel"]["__typename"] == "Applied", answer.text

    return declare


def at_home(seen, url):
    """Nothing went elsewhere, and nothing went wrong."""
    assert seen.requests, "the page was loaded"
    assert seen.elsewhere(url) == []
    assert seen.errors == []


def test_graphiql_opens_with_the_samples_and_answers_the_first(graphiql, server):
    with visit() as seen:
        page = seen.page
        page.goto(server.url)
        page.wait_for_selector(".graphiql-tab:has-text('Counts')")
        assert page.locator(".graphiql-tab-button").all_inner_texts() == [
            "Counts",
            "Clusters",
            "Selector",
        ]
        page.click(".graphiql-execute-button")
        page.wait_for_selector(".graphiql-response :text('totalCount')")
        assert "errors" not in page.inner_text(".graphiql-response")
        page.click("[aria-label='Open settings dialog']")
        page.wait_for_selector(".graphiql-dialog")
        at_home(seen, server.url)


def test_graphiql_documents_the_schema_and_completes_a_field(graphiql, server):
    with visit() as seen:
        page = seen.page
        page.goto(server.url)
        page.click("[aria-label='Show Documentation Explorer']")
        page.click(".graphiql-doc-explorer a:text-is('Query')")
        page.wait_for_selector(".graphiql-doc-explorer :text('Everything that can be asked.')")
        page.click(".graphiql-query-editor .CodeMirror")
        page.keyboard.press("Control+A")
        page.keyboard.type("{ fleet { revis")
        page.wait_for_selector(".CodeMirror-hint:has-text('revision')")
        at_home(seen, server.url)


def test_graphiql_follows_a_subscription_over_the_socket(graphiql, server, followed, write):
    with visit() as seen:
        page = seen.page
        page.goto(server.url)
        page.click(".graphiql-query-editor .CodeMirror")
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(followed)
        page.wait_for_selector(".graphiql-tab:has-text('Follow')")
        page.keyboard.press("Control+Enter")
        write("a change seen in graphiql")
        page.wait_for_selector(".graphiql-response :text('a change seen in graphiql')")
        at_home(seen, server.url)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_small_console_answers_by_keyboard_alone(server, dark):
    with visit(dark=dark) as seen:
        page = seen.page
        page.goto(f"{server.url}/plain")
        page.wait_for_selector("#samples button")
        page.focus("#query")
        page.keyboard.press("Control+A")
        page.keyboard.type(COUNTED)
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#answer:has-text('totalCount')")
        assert page.inner_text("#status").startswith("200, ")
        assert page.locator("#history button").all_inner_texts() == [COUNTED]
        at_home(seen, server.url)


def test_the_small_console_answers_every_sample(server):
    with visit() as seen:
        page = seen.page
        page.goto(f"{server.url}/plain")
        page.wait_for_selector("#samples button")
        for number, told in enumerate(("labelKeys", "nodes", "canonical")):
            page.locator("#samples button").nth(number).click()
            page.click("#run")
            page.wait_for_selector(f"#answer:has-text('{told}')")
            assert '"errors"' not in page.inner_text("#answer")
        at_home(seen, server.url)


def test_the_small_console_outlines_the_schema_and_finds_in_it(server):
    with visit() as seen:
        page = seen.page
        page.goto(f"{server.url}/plain")
        page.click("#schema > summary")
        page.wait_for_selector("#outline summary:has-text('Fleet')")
        assert page.locator("#outline summary code").all_inner_texts()[:2] == ["Query", "Mutation"]
        page.fill("#find", "crosstab")
        page.wait_for_selector("#outline code:has-text('crossTab(')")
        assert page.locator("#outline summary:has-text('Viewer')").count() == 0
        at_home(seen, server.url)


def test_the_small_console_shows_a_refusal_and_a_slip_in_the_variables(server):
    with visit() as seen:
        page = seen.page
        page.goto(f"{server.url}/plain")
        page.wait_for_selector("#samples button")
        page.fill("#query", "{ fleet { revison } }")
        page.fill("#variables", "{")
        page.click("#run")
        page.wait_for_selector("#status:has-text('Variables:')")
        page.fill("#variables", "")
        page.click("#run")
        page.wait_for_selector("#answer:has-text('revison')")
        assert seen.elsewhere(server.url) == []


def test_the_small_console_follows_a_subscription_until_it_is_stopped(server, followed, write):
    with visit() as seen:
        page = seen.page
        page.goto(f"{server.url}/plain")
        page.wait_for_selector("#samples button")
        page.fill("#query", followed)
        with page.expect_websocket() as opened:
            page.keyboard.press("Control+Enter")
        write("a change seen in the console")
        page.wait_for_selector("#answer:has-text('a change seen in the console')")
        with opened.value.expect_event("close"):
            page.click("#stop")
        assert page.inner_text("#status") == "stopped"
        at_home(seen, server.url)
