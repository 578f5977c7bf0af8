"""Three people at the API: a dashboard author, an analyst, a CI job. Each in their own words.

The process is the real one, over the sample fleet; nothing is asked that a person would not ask.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from cli.demo_queries import QUERIES
from serving import Serving, serve
from trellis_process import Trellis

TOKENS = "ana:admin:the-token-of-ana ci-bot:editor:the-token-of-the-bot"


@pytest.fixture
def api(fleet: Trellis) -> Iterator[Serving]:
    """A serving process over a sample fleet of its own."""
    with serve(fleet.directory / "trellis.db", {"TRELLIS_AUTH_TOKENS": TOKENS}) as serving:
        yield serving


def _ask(
    api: Serving, query: str, *, token: str = "the-token-of-ana", **variables: Any
) -> dict[str, Any]:
    answer = httpx.post(
        api.graphql,
        json={"query": query, "variables": variables},
        headers={"Authorization": f"Bearer {token}"},
        timeout=30,
    )
    body = answer.json()
    assert answer.status_code == 200 and "errors" not in body, body
    data: dict[str, Any] = body["data"]
    return data


def test_a_dashboard_author_pastes_one_query_and_has_the_counts(api: Serving) -> None:
    data = _ask(
        api,
        """
        query Board($which: SelectorInput!) {
          fleet {
            revision
            clusters(where: $which) { totalCount }
            facets(where: $which, by: [{group: "/geo/us"}, {group: "/franchise"}]) {
              group
              bucketCount
              buckets(orderBy: COUNT, first: 1000) { value count share }
            }
            crossTab(
              where: $which
              rows: {group: "/franchise"}
              columns: {group: "/geo/us"}
            ) { rows columns counts }
          }
        }
        """,
        which={"text": "/geo/us and size = large"},
    )
    fleet = data["fleet"]
    regions, franchises = fleet["facets"]
    total = fleet["clusters"]["totalCount"]
    assert fleet["revision"] >= 1
    assert total > 0
    assert regions["group"] == "/geo/us"
    assert {bucket["value"] for bucket in regions["buckets"]} >= {"/geo/us/northeast"}
    assert sum(bucket["count"] for bucket in regions["buckets"]) == total
    assert sum(bucket["count"] for bucket in franchises["buckets"]) == total
    assert len(franchises["buckets"]) == franchises["bucketCount"]
    both = fleet["crossTab"]  # by region and franchise at once
    assert set(both["rows"]) == {bucket["value"] for bucket in franchises["buckets"]}
    assert sum(map(sum, both["counts"])) == total
    # the same board as a tree of selectors gives the same answer, from the same revision
    tree = {"and": [{"group": "/geo/us"}, {"label": {"key": "size", "in": ["large"]}}]}
    again = _ask(
        api,
        "query ($which: SelectorInput!) { fleet { revision clusters(where: $which) "
        "{ totalCount } } }",
        which=tree,
    )
    assert again["fleet"] == {"revision": fleet["revision"], "clusters": {"totalCount": total}}


def test_an_analyst_narrows_asks_why_and_saves_the_selector(api: Serving) -> None:
    table = _ask(
        api,
        """{ fleet { crossTab(rows: {group: "/geo/us"}, columns: {group: "/devices/grill/acme"})
        { rows columns counts } } }""",
    )["fleet"]["crossTab"]
    assert "/geo/us/northeast" in table["rows"]
    assert len(table["counts"]) == len(table["rows"])
    assert all(len(row) == len(table["columns"]) for row in table["counts"])
    # the editor offers what may stand there
    text = "/devices/grill/acme/acme3000 and /geo/us/nor"
    offers = _ask(
        api,
        "query ($t: String!, $p: Int!) { fleet { complete(text: $t, position: $p) "
        "{ insert from to kind count } } }",
        t=text,
        p=len(text),
    )["fleet"]["complete"]
    first = offers[0]
    narrowed = text[: first["from"]] + first["insert"] + text[first["to"] :]
    assert narrowed == "/devices/grill/acme/acme3000 and /geo/us/northeast"
    # a slip is told with its place, and what was meant
    problem = _ask(
        api,
        '{ fleet { selector(text: "/gio/us") { problem { message column hint nearest } } } }',
    )["fleet"]["selector"]["problem"]
    assert problem["message"] == 'no hierarchy called "gio"'
    assert (problem["column"], problem["nearest"]) == (2, ["geo"])
    # why is this one not among them?
    chosen = _ask(
        api,
        "query ($w: SelectorInput!) { fleet { clusters(where: $w, first: 1) { totalCount } "
        'out: clusters(where: {text: "/geo/us/northeast and not '
        '/devices/grill/acme/acme3000"}, first: 1) { nodes { name } } } }',
        w={"text": narrowed},
    )["fleet"]
    outsider = chosen["out"]["nodes"][0]["name"]
    why = _ask(
        api,
        "query ($c: Name!, $w: SelectorInput!) { fleet { explain(cluster: $c, where: $w) "
        "{ holds summary reasons { depth holds text fact } nearest } } }",
        c=outsider,
        w={"text": narrowed},
    )["fleet"]["explain"]
    assert not why["holds"]
    assert why["summary"] == "no: 1 of 2 clauses holds"
    assert why["nearest"] == ["join /devices/grill/acme/acme3000"]
    # kept under a name, it is usable at once, and its history says who and why
    saved = _ask(
        api,
        """
        mutation ($s: SelectorInput!) {
          saveSelector(input: {name: "ne-acme3000", selector: $s}, reason: "grill recall 17") {
            __typename
            ... on Applied { revision changed objects { id } }
          }
        }
        """,
        s={"text": narrowed},
    )["saveSelector"]
    assert saved["__typename"] == "Applied"
    assert saved["objects"] == [{"id": "saved_selector:ne-acme3000"}]
    kept = _ask(
        api,
        "query ($r: Revision!) { fleet(atLeast: $r) { savedSelector(name: "
        '"ne-acme3000") { text count history { actor reason } } } }',
        r=saved["revision"],
    )["fleet"]["savedSelector"]
    assert kept["count"] == chosen["clusters"]["totalCount"]
    assert kept["history"] == [{"actor": "ana", "reason": "grill recall 17"}]


BATCH = """
mutation Deploy($input: ApplyInput!) {
  apply(input: $input) {
    __typename
    ... on Applied { revision cursor changed }
    ... on Failure { code message hint path }
    ... on Rejected { reasons }
  }
}
"""


def test_a_ci_job_is_refused_readably_mends_its_batch_and_may_repeat_it(api: Serving) -> None:
    bot = "the-token-of-the-bot"
    _ask(
        api,
        """mutation { saveSelector(input: {name: "pilots", selector: {text: "/geo/us/northeast"}},
        reason: "the pilot stores") { __typename } }""",
    )
    commands: list[dict[str, Any]] = [
        {"createGroup": {"path": "/geo/us/atlantic", "title": "Atlantic"}},
        {"deleteGroup": {"path": "/geo/us/northeast", "cascade": True}},
    ]
    batch: dict[str, Any] = {
        "commands": commands,
        "reason": "merge the coast, ticket 4711",
        "idempotencyKey": "pipeline-8812",
    }
    refused = _ask(api, BATCH, token=bot, input=batch)["apply"]
    assert refused["__typename"] == "Rejected"
    assert refused["reasons"] == ["@pilots"]
    assert refused["path"][:2] == ["commands", "1"]
    assert "@pilots" in refused["hint"]
    # nothing of it happened, not even the first command
    assert _ask(api, '{ fleet { group(path: "/geo/us/atlantic") { id } } }') == {
        "fleet": {"group": None}
    }
    # the mended batch: move the stores' group instead of taking it away, as the preview shows
    batch["commands"] = [
        commands[0],
        {"renameGroup": {"path": "/geo/us/northeast", "name": "new-england"}},
        {"moveGroup": {"path": "/geo/us/new-england", "parent": "/geo/us/atlantic"}},
    ]
    preview = _ask(
        api,
        "query ($i: ApplyInput!) { preview(input: $i) { ... on Preview { changeCount } "
        "... on Failure { message } } }",
        token=bot,
        i=batch,
    )["preview"]
    assert preview == {"changeCount": 2}
    # the job sends it and loses the answer, as jobs do
    _send_and_hang_up(api, bot, batch)
    receipt = _ask(api, BATCH, token=bot, input=batch)["apply"]
    assert receipt["__typename"] == "Applied"
    assert _ask(api, BATCH, token=bot, input=batch)["apply"] == receipt
    log = _ask(
        api,
        '{ changesets(first: 5, actor: "ci-bot") { nodes { revision reason } } '
        'fleet { savedSelector(name: "pilots") { text } } }',
    )
    assert [each["reason"] for each in log["changesets"]["nodes"]] == [batch["reason"]]
    assert log["changesets"]["nodes"][0]["revision"] == receipt["revision"]
    assert log["fleet"]["savedSelector"]["text"] == "/geo/us/atlantic/new-england"
    # the same key for something else is a mistake, and said so
    other = _ask(api, BATCH, token=bot, input={**batch, "reason": "something else"})["apply"]
    assert (other["__typename"], other["code"]) == ("Conflict", "CONFLICT")


def _send_and_hang_up(api: Serving, token: str, batch: dict[str, Any]) -> None:
    body = json.dumps({"query": BATCH, "variables": {"input": batch}}).encode()
    address = urlsplit(api.url)
    assert address.hostname is not None and address.port is not None
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        head = (
            f"POST /graphql HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        connection.sendall(head.encode() + body)


def test_the_demo_serves_and_its_queries_are_answered(trellis: Trellis) -> None:
    """What the demo prints to be pasted is pasted."""
    settled = replace(trellis, settings={"TRELLIS_API_PORT": "0"})
    demo = settled.start("demo", "--clusters", "1500")
    try:
        said, url = _said_until_serving(demo)
        for title, query in QUERIES:
            assert title in said and query in said
            answer = httpx.post(f"{url}/graphql", json={"query": query}, timeout=30).json()
            assert "errors" not in answer, answer
        page = httpx.get(url, timeout=30)
        assert page.status_code == 200 and "text/html" in page.headers["content-type"]
    finally:
        demo.terminate()
        assert demo.wait(60) == 0


def _said_until_serving(demo: subprocess.Popen[bytes]) -> tuple[str, str]:
    assert demo.stdout is not None
    said = ""
    for line in demo.stdout:
        said += line.decode()
        if found := re.match(r"serving at (http://\S+)", line.decode()):
            return said, found[1]
    raise AssertionError(f"it ended without serving:\n{said}")


def test_the_first_revision_of_the_demo_can_still_be_read(api: Serving) -> None:
    data = _ask(
        api,
        "{ before: fleet(asOf: 1) { revision } now: fleet { revision clusters { totalCount } } }",
    )
    assert data["before"]["revision"] == 1
    assert data["now"]["clusters"]["totalCount"] == 2_000
