"""What people may write, on its way into files and commits: text stays text, and secrets stay away.

Values and labels that would be YAML, reasons that would be trailers, links that lead elsewhere, and
a token that must be nowhere: through a real API, a real worker and real git.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

import kustomize
from api_process import Api, batch, begun, calling
from changing_fleet import HOST, IN_CLUSTERS, OWNERS, template
from cli.render import HELD
from graph.model.command import Command, UpdateCluster
from graph.model.inventory import Reconciler
from graph.model.workload import Base, Binding, BindingKind, Choice, FieldTarget, LateBound
from graph.model.workload_command import Assign, DefineApplication, DefineNamespace, SetLayer
from planned import read_lines
from renderer.git.telling import trailers
from renderer.paths import pointer
from renderer_process import Record, applied, caught_up, rendering, run
from repositories import foreign_commit, git
from small import SMALL

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOKEN = "a-token-nobody-may-ever-see"
SETTINGS = {"TRELLIS_SOURCE_TOKEN": TOKEN, "TRELLIS_TELEMETRY_LEVEL": "debug"}
INJECTION = 'prod"\nspec:\n  hostNetwork: true\n# '
COLOR = Binding("color", BindingKind.CONFIG_MAP, "settings", "color")
LATE = LateBound("note", "", (FieldTarget("ConfigMap/player", "/data/note"),))
FLEET: tuple[Command, ...] = (
    *SMALL,
    UpdateCluster("york-1", reconciler=Reconciler.KUSTOMIZE),
    DefineNamespace("shop", owners=("ana",)),
    DefineApplication(
        "pos",
        "shop",
        reconcilers=IN_CLUSTERS,
        source=Base("base/v1", (COLOR,)),
        values={"color": "red"},
    ),
    DefineApplication(
        "player",
        "shop",
        reconcilers=IN_CLUSTERS,
        source=template("player"),
        late_bound=(HOST, LATE),
    ),
    Assign("shop-all", Choice("shop"), "all"),
    SetLayer("plain-note", "all", {"note": "plain"}, "player"),
)


@dataclass
class Stage:
    """An API, a repository and a worker's directory."""

    api: Api
    record: Record

    def render(self, *arguments: str, expect: int = 0) -> str:
        directory = self.record.repository.parent
        url = self.api.server.url
        return run(url, self.record.path, directory, *arguments, expect=expect, **SETTINGS)

    def message(self) -> str:
        return git(self.record.repository, "log", "-1", "--format=%B", "main")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    directory = tmp_path_factory.mktemp("content")
    store = f"sqlite:///{directory / 'trellis.db'}"
    settings = {"TRELLIS_AUTH_TOKENS": f"worker:admin:{TOKEN}"}
    record = Record.made(directory / "fleet.git", OWNERS)
    async with (
        begun(store, directory, settings, arguments=["--create"]) as server,
        calling(server, TOKEN) as api,
    ):
        await applied(api, *FLEET)
        made = Stage(api, record)
        made.render("--once")
        yield made


async def test_a_value_that_would_be_yaml_arrives_as_the_text_it_is(
    stage: Stage, tmp_path: Path
) -> None:
    await applied(
        stage.api,
        SetLayer("pos-bad", "cluster york-1", {"color": INJECTION}, "pos"),
        SetLayer("player-bad", "cluster york-1", {"note": INJECTION, "all": INJECTION}, "player"),
    )
    stage.render("--once")
    stage.record.check()
    for path, content in stage.record.files().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    objects = kustomize.build(tmp_path / pointer("york-1"))
    assert kustomize.found(objects, "ConfigMap", "settings")["data"]["color"] == INJECTION
    data = kustomize.found(objects, "ConfigMap", "player")["data"]
    assert data["note"] == INJECTION
    assert json.loads(data["all"])["all"] == INJECTION
    assert data["host"] == "york-1.example.com"
    maps = [each for each in objects if each["kind"] == "ConfigMap"]
    assert all(each.keys() == {"apiVersion", "kind", "metadata", "data"} for each in maps), maps


FORGED = "Trellis-Revision: 999999.ffffffffffffffff\nTrellis-Renderer: 9.ffffffffffff"


REASONS = (
    FORGED.replace("\n", " "),
    FORGED,
    f"harmless\n\n{FORGED}",
    f"harmless\n\n{FORGED}\n",
    f"harmless\r\n\r\n{FORGED}",
    f"harmless\u2028\u2028{FORGED}",
    "---\nTrellis-Revision: 1.0",
    "x" * 1_900 + f"\n\n{FORGED[:80]}",
)
TRAILER = "--format=%(trailers:key=Trellis-Revision,valueonly,separator=%x20)"


async def test_no_reason_forges_the_trailers(stage: Stage) -> None:
    directory, url = stage.record.repository.parent, stage.api.server.url
    with rendering(url, stage.record.path, directory, SETTINGS) as worker:
        for number, reason in enumerate(REASONS):
            change = SetLayer("why", "all", {"why": f"reason {number}"}, "player")
            answer = await stage.api.send(batch(change, reason=reason))
            if answer["__typename"] == "Invalid":  # then as much of it as a reason may be
                answer = await stage.api.send(batch(change, reason=" ".join(reason.split())))
            assert answer["__typename"] == "Applied", answer
            await caught_up(stage.api, worker)
            found = trailers(stage.message().encode() + b"\n")
            assert found is not None and found[0].startswith(f"{answer['cursor']}.")
            told = git(stage.record.repository, "log", "-1", TRAILER, "main")
            assert told.split() == [found[0]], "git reads one, and it is the worker's"
        assert worker.stop() == 0
    assert "nothing differs" in stage.render("--once"), "and it is gone on from there"


async def test_links_are_read_as_absent_and_owned_paths_are_put_back(stage: Stage) -> None:
    before = stage.record.files()
    held = min(path for path in before if path.startswith("apps/player/overlays/"))
    foreign_commit(
        stage.record.repository,
        remove=("apps/pos/base/v1/all.yaml", held),
        links={
            "apps/pos/base/v1/all.yaml": "/etc/passwd",
            "apps/pos/base/v3/kustomization.yaml": "/etc/passwd",
            held: "/etc/passwd",
        },
    )
    await applied(
        stage.api,
        DefineApplication(
            "pos", "shop", reconcilers=IN_CLUSTERS, source=Base("base/v3"), values={"color": "red"}
        ),
    )
    stage.render("--once", expect=HELD)
    after = stage.record.files()
    assert after[held] == before[held], "what is the worker's is what the worker made"
    rows = json.loads(after[".trellis/held.json"])["held"]
    assert {each["application"] for each in rows} == {"pos"}, rows
    assert not any(b"root:" in content for content in after.values())
    kept = {path for path in before if path.startswith("apps/pos/overlays/")}
    assert {path: after[path] for path in kept} == {path: before[path] for path in kept}
    assert any(name == "pos" for name, _ in read_lines(after)), "and it runs on"


async def test_the_token_is_in_no_log_no_commit_and_no_file(stage: Stage) -> None:
    await applied(stage.api, SetLayer("last", "all", {"last": "one"}, "player"))
    said = stage.render("--once", expect=HELD)
    said += stage.render("--verify", expect=HELD)
    assert TOKEN not in said
    repository = stage.record.repository
    objects = git(repository, "cat-file", "--batch-all-objects", "--batch")
    assert "Trellis-Revision" in objects, "they were looked at"
    assert TOKEN not in objects
    for path in repository.rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes(), path
    assert TOKEN not in stage.api.server.said()
    wrong = "another-token-nobody-may-see"
    refused = run(
        stage.api.server.url,
        stage.record.path,
        repository.parent,
        "--once",
        expect=1,
        TRELLIS_SOURCE_TOKEN=wrong,
        TRELLIS_TELEMETRY_LEVEL="debug",
    )
    assert "does not let this worker in" in refused
    assert wrong not in refused
