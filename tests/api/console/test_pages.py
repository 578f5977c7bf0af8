"""The console's pages come whole, from a closed list, under a policy that lets nothing else in."""

from __future__ import annotations

import re

import httpx
import pytest
from graphql import parse, validate
from starlette.applications import Starlette

from api.console.pages import FETCHED, NEEDED, OURS, console_routes
from api.schema.schema import GRAPHQL
from serving import copy_store, serve
from serving import sample as sample


def visit(*, fetched=FETCHED):
    app = Starlette(routes=console_routes(fetched=fetched))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


@pytest.fixture
def graphiql(tmp_path):
    """A directory as the build leaves it; what is in the files does not matter here."""
    for name in NEEDED:
        (tmp_path / name).write_text(f"/* {name} */", "utf-8")
    return tmp_path


@pytest.fixture
def none(tmp_path):
    return tmp_path / "none"


async def test_the_first_page_is_graphiql_where_the_build_has_fetched_it(graphiql):
    async with visit(fetched=graphiql) as client:
        assert "console/graphiql.min.js" in (await client.get("/")).text
        assert "console/plain.js" in (await client.get("/plain")).text


async def test_without_graphiql_or_with_half_of_it_the_first_page_is_our_own(graphiql, none):
    (graphiql / NEEDED[0]).unlink()
    for fetched in (graphiql, none):
        async with visit(fetched=fetched) as client:
            assert (await client.get("/")).text == (await client.get("/plain")).text
            assert (await client.get(f"/console/{NEEDED[1]}")).status_code == 404


@pytest.mark.parametrize("page", ["/", "/plain"])
async def test_every_file_a_page_names_is_served_with_its_type(graphiql, page):
    types = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
    async with visit(fetched=graphiql) as client:
        names = re.findall(r'(?:src|href)="(console/[^"]+)"', (await client.get(page)).text)
        assert len(names) >= 3
        for name in names:
            answer = await client.get(f"/{name}")
            assert answer.status_code == 200, name
            assert answer.headers["Content-Type"].startswith(types[name.rpartition(".")[2]])


@pytest.mark.parametrize("name", sorted(path.name for path in OURS.glob("*.js")))
async def test_every_file_a_script_imports_is_served(name, none):
    imported = re.findall(r'from "\./([^"]+)"', (OURS / name).read_text("utf-8"))
    async with visit(fetched=none) as client:
        for each in imported:
            assert (await client.get(f"/console/{each}")).status_code == 200


@pytest.mark.parametrize("path", ["/", "/plain", "/console/plain.js", "/console/missing.js"])
async def test_every_answer_forbids_guessing_framing_and_telling_where_one_came_from(path, none):
    async with visit(fetched=none) as client:
        headers = (await client.get(path)).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["/", "/plain"])
async def test_the_policy_lets_in_nothing_inline_and_nothing_from_elsewhere(path, graphiql):
    async with visit(fetched=graphiql) as client:
        policy = (await client.get(path)).headers["Content-Security-Policy"]
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == "'none'"
    assert parts["script-src"] == "'self'"
    assert parts["connect-src"] == "'self'"
    assert parts["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy
    assert "://" not in policy
    assert "*" not in policy


@pytest.mark.parametrize("path", sorted(OURS.iterdir()), ids=lambda path: path.name)
def test_no_file_of_ours_names_an_address_elsewhere(path):
    addresses = re.findall(r"(?:https?:|wss?:)?//[\w.-]+\.\w+", path.read_text("utf-8"))
    assert addresses == (["http://www.w3.org"] if path.suffix == ".svg" else [])


@pytest.mark.parametrize("name", ["../pages.py", "..%2Fpages.py", "%2e%2e/pages.py", "nothing.js"])
async def test_only_the_consoles_own_files_can_be_asked_for(name):
    async with visit() as client:
        assert (await client.get(f"/console/{name}")).status_code == 404


async def test_a_reader_who_has_the_file_is_not_sent_it_again(none):
    async with visit(fetched=none) as client:
        first = await client.get("/console/plain.js")
        again = await client.get(
            "/console/plain.js", headers={"If-None-Match": first.headers["ETag"]}
        )
        other = await client.get("/console/plain.js", headers={"If-None-Match": '"other"'})
    assert (again.status_code, again.content) == (304, b"")
    assert (other.status_code, other.content) == (200, first.content)


def test_a_console_that_is_switched_off_is_not_there(sample, tmp_path):
    with serve(copy_store(sample, tmp_path), {"TRELLIS_API_CONSOLE": "false"}) as server:
        for path in ("/", "/plain", "/console/plain.js"):
            assert httpx.get(f"{server.url}{path}").status_code == 404


async def test_nothing_can_be_sent_to_the_console(none):
    async with visit(fetched=none) as client:
        assert (await client.post("/")).status_code == 405


def samples():
    text = (OURS / "samples.graphql").read_text("utf-8")
    return re.split(r"\n\n(?=#)", text.strip())


def test_there_are_three_samples_and_each_says_what_it_asks():
    assert len(samples()) == 3
    assert all(each.startswith("# ") for each in samples())


@pytest.mark.parametrize("text", samples(), ids=lambda text: re.search(r"query (\w+)", text)[1])
def test_a_sample_is_valid_and_needs_no_variables(text):
    document = parse(text)
    assert validate(GRAPHQL, document) == []
    (operation,) = document.definitions
    assert all(
        each.default_value is not None or each.type.kind != "non_null_type"
        for each in operation.variable_definitions or ()
    )
