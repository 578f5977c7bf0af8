"""The export: the rows a paged query gives, as lines, in parts, and for whoever may see them."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import time
from random import Random
from typing import Any

import pytest

from api.settings import TelemetrySettings
from api.telemetry.logs import AccessLines, log_to
from api.telemetry.telemetry import Telemetry
from api.web.export import PAGE, Export, export_of
from doors import ADMIN, TEXAN, served
from engines import give
from graph.model.command import RegisterCluster, UpdateCluster
from graph.model.errors import Invalid, NotFound, TrellisError

TRIES = {"test": 40, "campaign": 2_000}
COLUMNS = (
    "id", "name", "title", "kind", "reconciler", "timeZone", "changed", "label:size",
    "label:lanes", "label:open", "place:geo", "places:devices", "place:empty",
)  # fmt: skip
SELECTORS = (
    "all", "not all", "/geo/us", "/geo/us/tx or /devices/camera", "size = large", "lanes >= 2",
    "not @texas", "@grills", "only /geo/us/ny", "cluster austin-05", "open = true", "has lanes",
)  # fmt: skip


UNSEEN = ("place:empty", "label:open")
"""What nothing in Texas has."""


def written(column: str) -> str:
    """The field of a query that a column is."""
    kind, _, key = column.partition(":")
    if not key:
        return column
    argument = "key" if kind == "label" else "hierarchy"
    return f'{kind}_{key}: {kind}({argument}: "{key}")'


async def paged(door: Any, selector: str, columns: list[str], who: str) -> list[list[Any]]:
    """The same clusters by pages of seven."""
    fields = " ".join(map(written, columns))
    query = f"""query ($text: String!, $after: String) {{ fleet {{
        clusters(where: {{text: $text}}, first: 7, after: $after) {{
            nodes {{ {fields} }} pageInfo {{ endCursor hasNextPage }} }} }} }}"""
    rows: list[list[Any]] = []
    after = None
    while True:
        page = (await door.data(query, who=who, text=selector, after=after))["fleet"]["clusters"]
        rows += [list(each.values()) for each in page["nodes"]]
        if not page["pageInfo"]["hasNextPage"]:
            return rows
        after = page["pageInfo"]["endCursor"]


async def export(door: Any, form: str, who: str = "ana", **asked: str) -> Any:
    return await door.client.get(f"/export/clusters.{form}", params=asked, headers=door.as_(who))


async def test_an_export_holds_what_the_paged_query_holds(door, scale):
    rng = Random(31)
    for _ in range(TRIES[scale]):
        columns = rng.sample(COLUMNS, rng.randint(1, len(COLUMNS)))
        selector, who = rng.choice(SELECTORS), rng.choice(("ana", "tess"))
        if who == "tess":
            columns = [each for each in columns if each not in UNSEEN] or ["name"]
            selector = "lanes >= 2" if "open" in selector or "/ny" in selector else selector
        wanted = await paged(door, selector, columns, who)
        asked = {"where": selector, "columns": ",".join(columns)}
        lines = (await export(door, "ndjson", who, **asked)).text.splitlines()
        found = [json.loads(line) for line in lines]
        assert [list(each) for each in found] == [columns] * len(wanted)
        kinds = {"KUBERNETES": "kubernetes", "FLUX": "flux", "ARGOCD": "argocd"}
        plain = [[kinds.get(str(each), each) for each in row] for row in wanted]
        assert [list(each.values()) for each in found] == plain
        table = list(csv.reader(io.StringIO((await export(door, "csv", who, **asked)).text)))
        assert table == [columns, *([_cell(each) for each in row] for row in plain)]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


async def test_an_export_says_what_it_is_and_of_which_revision(door):
    found = await export(door, "csv")
    assert found.headers["content-type"].startswith("text/csv; charset=utf-8")
    assert found.headers["content-disposition"] == 'attachment; filename="clusters.csv"'
    assert found.headers["cache-control"] == "private, no-store"
    assert found.headers["trellis-cursor"].startswith("2.")
    assert found.text.splitlines()[0] == "name,title,kind,reconciler,timeZone"
    assert (await export(door, "ndjson")).headers["content-type"].startswith("application/x-ndjson")


async def test_an_export_under_a_scope_holds_what_may_be_seen(door):
    found = await export(door, "csv", "tess", columns="name,place:geo")
    places = {line.split(",")[1] for line in found.text.splitlines()[1:]}
    assert places == {"/geo/us/tx/austin", "/geo/us/tx/dallas"}
    hidden = await export(door, "csv", "tess", where="/geo/us/ny")
    assert hidden.status_code == 404
    assert "/geo/us/ny" not in hidden.json()["errors"][0]["extensions"]["hint"]
    unseen = await export(door, "csv", "tess", columns="place:empty")
    assert unseen.status_code == 404
    assert "empty" not in unseen.json()["errors"][0]["extensions"]["hint"]
    assert (await export(door, "csv", "sid")).status_code == 403


@pytest.mark.parametrize(
    "title", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", '=HYPERLINK("http://evil")', "=1\n=2"]
)
async def test_no_cell_is_a_formula_to_a_spreadsheet(door, fleet, title):
    try:
        await give(fleet, UpdateCluster("austin-00", title=title))
    except Invalid:
        return  # the core does not let it in at all
    found = await export(door, "csv", where="cluster austin-00", columns="title")
    assert list(csv.reader(io.StringIO(found.text)))[1] == [f"'{title}"]
    plain = await export(door, "ndjson", where="cluster austin-00", columns="title")
    assert json.loads(plain.text) == {"title": title}


BAD = {
    "a selector of nowhere": ("where=/gio", 404, "SELECTOR_NOT_FOUND"),
    "half a selector": ("where=/geo%20or%20size", 400, "SELECTOR_INVALID"),
    "an empty selector": ("where=", 400, "SELECTOR_INVALID"),
    "a selector without a value": ("where", 400, "SELECTOR_INVALID"),
    "an unknown column": ("columns=nam", 400, "INVALID"),
    "an empty column": ("columns=", 400, "INVALID"),
    "an unknown label": ("columns=label:siz", 404, "NOT_FOUND"),
    "an unknown hierarchy": ("columns=place:gio", 404, "NOT_FOUND"),
    "an unknown kind of column": ("columns=tag:x", 400, "INVALID"),
    "a column twice": ("columns=name,name", 400, "INVALID"),
    "too many columns": ("columns=" + ",".join(["name"] * 101), 400, "INVALID"),
    "an unknown parameter": ("selector=all", 400, "INVALID"),
    "a parameter twice": ("where=all&where=none", 400, "INVALID"),
    "bytes that are no text": ("where=%FF", 400, "INVALID"),
    "a null": ("where=%00", 400, "SELECTOR_INVALID"),
    "too many parameters": ("&".join(["where=all"] * 11), 400, "INVALID"),
}


@pytest.mark.parametrize(("query", "status", "code"), BAD.values(), ids=BAD)
async def test_an_export_of_nothing_that_makes_sense_is_refused_with_a_hint(
    door, query, status, code
):
    found = await door.client.get(f"/export/clusters.csv?{query}", headers=door.as_("ana"))
    error = found.json()["errors"][0]
    assert (found.status_code, error["extensions"]["code"]) == (status, code)
    assert error["extensions"]["hint"]


@pytest.mark.parametrize(
    "path",
    [
        "clusters.xml", "clusters.", "clusters.x.csv", "clusters.CSV",
        "clusters.foo/clusters.csv", "clusters.foo/chargeback.csv?by=/geo", "chargeback.x",
    ],
)  # fmt: skip
async def test_there_are_two_forms_and_no_others(door, path):
    found = await door.client.get(f"/export/{path}", headers=door.as_("ana"))
    assert found.status_code == 404


async def test_an_export_is_read_by_get(door):
    found = await door.client.post("/export/clusters.csv", headers=door.as_("ana"))
    assert (found.status_code, found.headers["allow"]) == (405, "GET")


# many rows


class Endless:
    """A view of as many clusters as one likes, which tells how many were read at once."""

    def __init__(self, view: Any, count: int) -> None:
        self.cursor = view.cursor
        self.numbers = range(count)
        self.read: list[int] = []

    def export(self) -> Export:
        def names(_: Any, numbers: Any) -> list[str]:
            self.read.append(len(numbers))
            return [f"cluster-{number}" for number in numbers]

        return Export(self, self.numbers, (("name", names),))  # type: ignore[arg-type]


async def test_sixty_thousand_rows_are_made_a_page_at_a_time(fleet):
    many = Endless(fleet.view, 60_000)
    parts, largest = 0, 0
    async for part in many.export().ndjson():
        parts += 1
        largest = max(largest, len(part))
        assert len(many.read) == parts, "no page is made before the one before it was taken"
    assert parts == 60_000 / PAGE
    assert largest < 40 * PAGE
    assert set(many.read) == {PAGE}


async def test_others_are_served_between_two_pages(fleet):
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(other())
    async for _ in Endless(fleet.view, 10 * PAGE).export().csv():
        pass
    beside.cancel()
    assert turns >= 10


async def test_a_stream_is_of_one_view_however_long_it_takes(door, fleet):
    await give(fleet, *(RegisterCluster(f"many-{n:04}", groups=("/geo/ca",)) for n in range(3_000)))
    asked = door.client.stream(
        "GET", "/export/clusters.ndjson?columns=name,title", headers=door.as_("ana")
    )
    rows: list[dict[str, Any]] = []
    async with asked as found:
        async for line in found.aiter_lines():
            rows.append(json.loads(line))
            if len(rows) == 10:
                await give(fleet, UpdateCluster("york-28", title="changed meanwhile"))
    assert found.headers["trellis-cursor"].startswith("3.")
    assert len(rows) == 3_039
    assert "changed meanwhile" not in {each["title"] for each in rows}


@pytest.fixture
async def many(fleet):
    """Seven pages of clusters."""
    for start in range(0, 6_000, 3_000):
        names = (f"many-{number:04}" for number in range(start, start + 3_000))
        await give(fleet, *(RegisterCluster(name, groups=("/geo/ca",)) for name in names))
    return fleet


def scope(door: Any) -> dict[str, Any]:
    shown = [(name.encode(), value.encode()) for name, value in door.as_("ana").items()]
    return {
        "type": "http",
        "method": "GET",
        "path": "/export/clusters.ndjson",
        "query_string": b"",
        "headers": [*shown, (b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 1),
    }


async def test_a_reader_who_hangs_up_is_not_written_for_any_more(many, door):
    sent: list[Any] = []
    gone = asyncio.Event()

    async def receive() -> Any:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)
        if len(sent) == 3:
            gone.set()

    await door.app(scope(door), receive, send)
    assert [each["type"] for each in sent[:2]] == ["http.response.start", "http.response.body"]
    assert 3 <= len(sent) <= 5, "of seven pages and an end"


async def test_a_reader_who_takes_nothing_is_let_go(many, an_issuer):
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)
        if len(sent) == 3:
            await asyncio.Event().wait()

    async with served(many, issuer=an_issuer, send_seconds=0.05) as door:
        async with asyncio.timeout(10):
            await door.app(scope(door), receive, send)
        assert len(sent) == 3
        assert door.telemetry.tallies.readers_dropped == 1


# what is told of an export, and when


@pytest.fixture
async def told(many, an_issuer):
    """A door whose log lines can be read."""
    lines = io.StringIO()
    with log_to(TelemetrySettings(logs="json"), stream=lines) as handler:
        access = AccessLines(handler)
        telemetry = Telemetry(TelemetrySettings(), access=access)
        async with served(many, issuer=an_issuer, telemetry=telemetry) as door:
            yield door, lambda: exports(access, lines)


def exports(access: AccessLines, lines: io.StringIO) -> list[dict[str, Any]]:
    access.flush()
    found = [json.loads(line) for line in lines.getvalue().splitlines()]
    return [each for each in found if each.get("kind") == "export"]


async def nothing() -> Any:
    await asyncio.Event().wait()


async def test_an_export_is_told_at_its_end_with_who_read_it(told):
    door, exported = told

    async def send(message: Any) -> None:
        assert not exported(), "it has not ended"

    await door.app(scope(door), nothing, send)
    (line,) = exported()
    assert (line["actor"], line["name"], line["outcome"]) == ("ana", "ndjson", "ok")
    assert line["milliseconds"] > 0
    await export(door, "csv", where="/gio")
    assert (exported()[1]["actor"], exported()[1]["outcome"]) == ("ana", "SELECTOR_NOT_FOUND")


async def test_an_export_without_its_end_is_not_told_as_ok(told):
    door, exported = told
    sent: list[Any] = []

    async def gone() -> Any:
        while len(sent) < 3:  # noqa: ASYNC110 - a list tells nobody
            await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await door.app(scope(door), gone, send)
    assert [each["outcome"] for each in exported()] == ["GONE"]


async def test_an_export_ends_when_its_token_does(told, an_issuer):
    door, exported = told
    token = an_issuer.token(sub="tess", groups=["texas"], exp=int(time.time()) - 29)
    asked = scope(door)
    asked["headers"][0] = (b"authorization", f"Bearer {token}".encode())
    asked["query_string"] = b"columns=name"
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)
        await asyncio.sleep(2)  # its leeway of thirty seconds is over then

    await door.app(asked, nothing, send)
    assert [each["type"] for each in sent] == ["http.response.start"]
    assert [each["outcome"] for each in exported()] == ["UNAUTHENTICATED"]


async def test_exports_count_for_the_quota_of_their_caller(many, an_issuer):
    async with served(many, issuer=an_issuer, sockets_per_caller_max=1) as door:
        tallies = door.telemetry.tallies
        statuses: list[int] = []

        async def send(message: Any) -> None:
            if not statuses:
                assert tallies.sockets_open == 1
                statuses.append((await export(door, "csv")).status_code)
                statuses.append((await export(door, "csv", "ron")).status_code)

        await door.app(scope(door), nothing, send)
        assert statuses == [429, 200]
        assert tallies.sockets_open == 0
        assert (await export(door, "csv")).status_code == 200


async def test_readers_who_cut_the_line_midway_harm_nobody(many, door):
    head = "GET /export/clusters.csv HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\n\r\n"
    for _ in range(5):
        reader, writer = await door.connect(head.format(door.as_("ana")["authorization"]).encode())
        assert (await reader.read(12)) == b"HTTP/1.1 200"
        writer.transport.abort()
    assert (await door.data("{ fleet { revision } }"))["fleet"]["revision"] == 4


def test_columns_are_found_in_what_may_be_seen(fleet):
    for actor in (ADMIN, TEXAN):
        view = fleet.seen(fleet.access(actor))
        made = export_of(fleet, view, b"where=all&columns=name,label:size")
        assert [name for name, _ in made.columns] == ["name", "label:size"]
        assert len(made.numbers) == len(view.everything())
    with pytest.raises(NotFound):
        export_of(fleet, fleet.seen(fleet.access(TEXAN)), b"columns=place:empty")
    with pytest.raises(TrellisError):
        export_of(fleet, fleet.view, b"where=/gio")
