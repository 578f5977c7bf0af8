"""Owners push bases that do not build: each is held with its file and line, and released alone.

A base is used by its path, so a push reaches what is published without a worker. The worker says
so, whether it runs, is started again or runs once; artifacts and bundles are made of what was good.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kustomize
from api_process import Api, begun, calling, eventually
from changing_fleet import FLEET, IN_CLUSTERS, OWNERS
from cli.render import HELD
from graph.model.workload import Base, Choice
from graph.model.workload_command import Assign, DefineApplication, DefineNamespace, SetLayer
from renderer.paths import pointer
from renderer_process import (
    ROOT,
    Record,
    Rendering,
    applied,
    caught_up,
    check_from_scratch,
    rendering,
    run,
)
from repositories import foreign_commit, git

EAGER = {"TRELLIS_RENDER_RETRY_SECONDS": "0.3"}
BASE = "apps/pos/base/v1"
INVALID = {f"{BASE}/all.yaml": OWNERS[f"{BASE}/all.yaml"] + "broken: a: b\n"}
MISSING = {f"{BASE}/kustomization.yaml": "resources:\n- all.yaml\n- gone.yaml\n"}
GOOD = {path: OWNERS[path] for path in (*INVALID, *MISSING)}
SHARED = {
    "shared/probe/kustomization.yaml": "resources: [probe.yaml]\n",
    "shared/probe/probe.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: probe}\n",
    "apps/scale/base/kustomization.yaml": "resources: [../../../shared/probe]\n",
    "apps/fryer/base/kustomization.yaml": (
        "resources: [../../../shared/probe]\nnamePrefix: fryer-\n"
    ),
}


def held(record: Record) -> dict[str, dict[str, Any]]:
    """What people are told is held, by application."""
    rows = json.loads(record.files()[".trellis/held.json"])["held"]
    return {each["application"]: each for each in rows}


async def until_held(record: Record, worker: Rendering, *names: str) -> dict[str, dict[str, Any]]:
    async def so() -> bool:
        assert worker.is_alive(), worker.said()
        return held(record).keys() == {*names}

    await eventually(so)
    return held(record)


def push(record: Record, files: Mapping[str, str], message: str = "An owner pushes") -> str:
    return foreign_commit(record.repository, files, message=message)


async def test_a_push_that_breaks_a_base_is_held_and_released_by_every_worker(
    tmp_path: Path,
) -> None:
    record = Record.made(tmp_path / "fleet.git", {**OWNERS, **SHARED})
    store = f"sqlite:///{tmp_path / 'trellis.db'}"
    async with begun(store, tmp_path, {}, arguments=["--create"]) as server, calling(server) as api:
        await applied(
            api,
            *FLEET,
            DefineNamespace("lab"),
            DefineApplication("scale", "lab", source=Base("base"), reconcilers=IN_CLUSTERS),
            DefineApplication("fryer", "lab", source=Base("base"), reconcilers=IN_CLUSTERS),
            Assign("lab-york", Choice("lab"), "cluster york-1"),
        )
        with (
            rendering(server.url, record.path, tmp_path, EAGER) as worker,
            rendering(server.url, record.url, tmp_path, EAGER) as second,
        ):
            assert (await caught_up(api, worker))["held"] == []
            await break_while_it_follows(record, api, worker)
            worker.kill()
            await others_go_on(record, api, second)
            bundle_builds(record, tmp_path)
            await break_what_two_share(record, second)
            second.kill()
        record.check()
        nothing_new_is_said(record, server.url, tmp_path)
        with rendering(server.url, record.path, tmp_path, EAGER) as worker:
            push(record, {**GOOD, **SHARED}, "Mend it")
            await until_held(record, worker)
            assert not [path for path in record.files() if "last-good" in path]
            assert worker.stop() == 0
        break_while_nobody_is_there(record, server.url, tmp_path)
        record.check()
        await check_from_scratch(server.url, record)


async def break_while_it_follows(record: Record, api: Api, worker: Rendering) -> None:
    revision = await api.revision()
    push(record, INVALID)
    row = (await until_held(record, worker, "pos"))["pos"]
    assert (row["file"], row["line"]) == (f"{BASE}/all.yaml", 5), row
    assert (row["reason"], row["since"]) == ("failed", revision)
    assert row["clusters"] >= 3
    (told,) = (await caught_up(api, worker))["held"]
    assert f"{BASE}/all.yaml, line 5" in told["message"]
    assert "held: pos (failed)" in git(record.repository, "log", "-1", "--format=%b", "main")


async def others_go_on(record: Record, api: Api, worker: Rendering) -> None:
    """Their changes are published; its own wait, and clusters that would get it do too."""
    overlays = {path for path in record.files() if path.startswith("apps/pos/overlays/")}
    before = {path: record.files()[path] for path in overlays}
    await applied(
        api,
        SetLayer("bump", "all", {"tag": "t1"}, "grill"),
        SetLayer("paint", "all", {"color": "green"}, "pos"),
        Assign("kitchen-ca", Choice("kitchen", ("pos",)), "/geo/ca"),
    )
    await caught_up(api, worker)
    files = record.files()
    grill = [files[path] for path in files if path.startswith("apps/grill/overlays/")]
    assert any(b"t1" in each for each in grill)
    assert {path: files.get(path) for path in overlays} == before
    pointers = [files[f"{pointer(name)}/kustomization.yaml"] for name in ("toronto-1", "york-1")]
    assert b"/apps/pos/" not in pointers[0], "no line leads to what does not build"
    assert b"/apps/pos/" in pointers[1]
    assert held(record).keys() == {"pos"}


def bundle_builds(record: Record, directory: Path) -> None:
    """One store in one file: with what its owner had pushed before."""
    made = directory / "dallas-2.tar.gz"
    words = ("bundle", "dallas-2", "--from", record.path, "--output", str(made))
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *words],
        cwd=directory,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    unpacked = directory / "unpacked"
    with tarfile.open(fileobj=io.BytesIO(made.read_bytes())) as archive:
        archive.extractall(unpacked, filter="data")
    objects = kustomize.build(unpacked)
    assert kustomize.found(objects, "ConfigMap", "settings")["data"]["color"] == "blue"


async def break_what_two_share(record: Record, worker: Rendering) -> None:
    """A file outside of both applications: each of them is held, with that file."""
    push(record, {"shared/probe/probe.yaml": "apiVersion: v1\nkind: ConfigMap\n"})
    rows = await until_held(record, worker, "pos", "scale", "fryer")
    for name in ("scale", "fryer"):
        assert (rows[name]["file"], rows[name]["line"]) == ("shared/probe/probe.yaml", 1)


def nothing_new_is_said(record: Record, url: str, directory: Path) -> None:
    """Whoever runs next finds the same, and makes no commit."""
    before, tip = held(record), record.tip
    run(url, record.path, directory, "--once", expect=HELD)
    run(url, record.path, directory, "--verify", expect=HELD)
    assert (held(record), record.tip) == (before, tip)


def break_while_nobody_is_there(record: Record, url: str, directory: Path) -> None:
    push(record, MISSING)
    said = run(url, record.path, directory, "--once", expect=HELD)
    assert f"gone.yaml is not there ({BASE}/kustomization.yaml, line 3)" in said
    row = held(record)["pos"]
    assert (row["file"], row["line"]) == (f"{BASE}/kustomization.yaml", 3), row
    assert "gone.yaml is not there" in row["message"]
    push(record, GOOD)
    run(url, record.path, directory, "--once")
    assert held(record) == {}
