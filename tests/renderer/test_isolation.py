"""One application's trouble is nobody else's: it keeps its last good files and is mended alone.

Six applications run everywhere; four of them are broken at once, each in another way, in the same
change that gives the other two something new. A seventh waits for manifests its owners have not
pushed yet, and that needs no change at all to be mended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api_process import Api, begun, calling, eventually
from changing_fleet import OWNERS, template
from graph.model.command import Command, Join
from graph.model.workload import Base, Binding, BindingKind, Choice, Template
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    Prohibit,
    SetLayer,
)
from planned import read_lines
from renderer_process import Record, Rendering, applied, caught_up, check_from_scratch, rendering
from repositories import foreign_commit
from small import SMALL

SETTINGS = {"TRELLIS_TEMPLATE_SECONDS_MAX": "0.5", "TRELLIS_RENDER_RETRY_SECONDS": "0.5"}
GOOD = ("menu", "pos")
BROKEN = {
    "till": "{{ values.tag | json | quote",
    "kds": "{{ values.nowhere | json | quote }}",
    "loop": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}x",
    "flood": "{% for i in range(99999) %}{{ 'x' * 5000 }}{% endfor %}",
}
"""No template at all; one that asks for what there is not; one without end; one of 500 MB."""
WORDS = {"till": "all.yaml", "kds": "nowhere", "loop": "took more than", "flood": "characters"}
"""What has to be told of each."""


COLOR = Binding("tag", BindingKind.CONFIG_MAP, "settings", "color")


def application(name: str, text: str = "{{ values | json | quote }}") -> DefineApplication:
    return DefineApplication(name, "shop", source=template(name, text), values={"tag": "one"})


FLEET: tuple[Command, ...] = (
    *SMALL,
    DefineNamespace("shop"),
    *(application(name) for name in ("menu", *BROKEN)),
    DefineApplication("pos", "shop", source=Base("base/v1", (COLOR,)), values={"tag": "one"}),
    DefineApplication(
        "lanes",
        "shop",
        source=template("lanes"),
        schema={"properties": {"count": {"type": "integer"}}, "required": ["count"]},
    ),
    SetLayer("lanes-us", "/geo/us", {"count": 2}, "lanes"),
    Assign("shop-all", Choice("shop"), "all"),
)


def overlays(files: Mapping[str, bytes], *names: str) -> dict[str, bytes]:
    """Rendered files of some applications."""
    roots = tuple(f"apps/{name}/overlays/" for name in names)
    return {path: content for path, content in files.items() if path.startswith(roots)}


def held(record: Record) -> dict[str, dict[str, Any]]:
    """What people are told is held, by application."""
    rows = json.loads(record.files()[".trellis/held.json"])["held"]
    return {each["application"]: each for each in rows}


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record.made(tmp_path / "fleet.git", OWNERS)


async def test_what_cannot_be_rendered_is_held_alone_and_mended_alone(record: Record) -> None:
    directory = record.repository.parent
    store = f"sqlite:///{directory / 'trellis.db'}"
    async with (
        begun(store, directory, {}, arguments=["--create"]) as server,
        calling(server) as api,
    ):
        await applied(api, *FLEET)
        with rendering(server.url, record.path, directory, SETTINGS) as worker:
            assert (await caught_up(api, worker))["held"] == []
            good = record.files()
            await break_four(record, api, worker, good)
            await prohibit_one(record, api, worker, good)
            await block_one(record, api, worker)
            await wait_for_owners(record, api, worker)
            await mend(record, api, worker)
            record.check()
            await check_from_scratch(server.url, record)
            assert worker.stop() == 0


async def break_four(
    record: Record, api: Api, worker: Rendering, good: Mapping[str, bytes]
) -> None:
    before = len(record.commits) + record.check()
    broken = [application(name, text) for name, text in BROKEN.items()]
    news = [SetLayer(f"{name}-news", "all", {"tag": "two"}, name) for name in (*GOOD, *BROKEN)]
    revision = await applied(api, *broken, *news)
    told = await caught_up(api, worker)
    record.check()
    assert len(record.commits) == before + 1, "what can be rendered is there, all at once"
    files = record.files()
    for name in GOOD:
        assert overlays(files, name) != overlays(good, name), f"{name} has got its news"
    for name in BROKEN:
        assert overlays(files, name) == overlays(good, name), f"{name} keeps what it had"
    assert held(record).keys() == {*BROKEN}
    for name, words in WORDS.items():
        row = held(record)[name]
        assert (row["reason"], row["since"]) == ("failed", revision)
        assert words in json.dumps(row), row
    assert {each["application"] for each in told["held"]} == {*BROKEN}
    assert {each["reason"] for each in told["held"]} == {"failed"}
    assert told["commit"] == record.tip


async def prohibit_one(
    record: Record, api: Api, worker: Rendering, good: Mapping[str, bytes]
) -> None:
    """What may not run goes, whatever else is held."""
    assert ("loop", "york-1") in read_lines(record.files())
    law = Prohibit("law", Choice("", ("loop",)), "cluster york-1")
    await applied(api, law)
    await caught_up(api, worker)
    files = record.files()
    assert {cluster for name, cluster in read_lines(files) if name == "loop"} == {
        "austin-1",
        "austin-2",
    }
    assert overlays(files, "loop") == overlays(good, "loop")
    assert held(record).keys() == {*BROKEN}


async def block_one(record: Record, api: Api, worker: Rendering) -> None:
    """A cluster comes to where its values are off the schema: it keeps the line it has."""
    before = read_lines(record.files())["lanes", "york-1"]
    await applied(api, Join("york-1", "/geo/ca"))
    told = await caught_up(api, worker)
    assert read_lines(record.files())["lanes", "york-1"] == before
    row = held(record)["lanes"]
    assert (row["reason"], row["clusters"]) == ("blocked", 1)
    assert "count" in row["message"]
    assert ("lanes", "blocked") in {(each["application"], each["reason"]) for each in told["held"]}


async def wait_for_owners(record: Record, api: Api, worker: Rendering) -> None:
    """What waits for a base is tried again, and there as soon as the base is."""
    later = DefineApplication("later", "shop", source=Base("base/v9"))
    await applied(api, later)
    await caught_up(api, worker)
    row = held(record)["later"]
    assert (row["reason"], row["clusters"]) == ("failed", 3)
    assert not overlays(record.files(), "later")
    revision = await api.revision()
    base = {
        name.replace("/pos/base/v1/", "/later/base/v9/"): text.replace("settings", "later")
        for name, text in OWNERS.items()
        if name.startswith("apps/pos/base/v1/")
    }
    foreign_commit(record.repository, base, message="Push what is missing")

    async def there() -> bool:
        assert worker.is_alive(), worker.said()
        return "later" not in held(record)

    await eventually(there)
    assert len([pair for pair in read_lines(record.files()) if pair[0] == "later"]) == 3
    assert await api.revision() == revision, "nobody had to change anything"


async def mend(record: Record, api: Api, worker: Rendering) -> None:
    mended = [
        replace(application(name), source=Template({"all.yaml": _whole(name)})) for name in BROKEN
    ]
    lanes = SetLayer("lanes-ca", "/geo/ca", {"count": 1}, "lanes")
    await applied(api, *mended, lanes)
    told = await caught_up(api, worker)
    assert told["held"] == []
    assert held(record) == {}
    files = record.files()
    for name in BROKEN:
        found = overlays(files, name)
        assert any(b"mended" in content for content in found.values()), name
        assert any(b"two" in content for content in found.values()), "with the news it missed"


def _whole(name: str) -> str:
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"
        "data: {mended: {{ values | json | quote }}}\n"
    )
