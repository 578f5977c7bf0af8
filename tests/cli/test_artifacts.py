"""Artifacts beside a worker: of its commits, over real git, HTTP and a real registry."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from contextlib import closing

import httpx
import pytest

from cli.artifacts import artifacts_of
from cli.settings import Settings
from crane import crane, registry
from graph.model.errors import Invalid
from published import FLUX, GRILL, sample
from published_git import opened, owners_commit, publish
from renderer.serve.settings import ArtifactSettings, ServeSettings
from renderer.settings import RenderSettings
from renderer.tree import Told
from trellis_process import Trellis

CURRENT = f"/v2/clusters/{FLUX}/manifests/current"
BASE = "apps/pos/base/v12/parts/cm.yaml"


def settings_for(path, **artifact):
    told = path.with_name("delivered.json")
    return Settings(
        render=RenderSettings(output=f"git:{path}#main"),
        artifact=ArtifactSettings(delivered_file=str(told), **artifact),
        serve=ServeSettings(port=0, head_milliseconds=0),
    )


def commit(publisher, files, cursor="next"):
    draft = publisher.begin(publisher.head())
    for name, content in files.items():
        draft.write(name, content)
    return draft.commit(Told("Render", "because", cursor, "format=1 settings=x"))


async def address(capsys):
    for _ in range(500):
        said = capsys.readouterr().out
        if "artifacts at " in said:
            return said.split()[2].removesuffix("/v2/")
        await asyncio.sleep(0.01)
    raise AssertionError("it was never served")


async def until(client, wanted):
    for _ in range(500):
        found = await client.get(CURRENT)
        if wanted(found):
            return found
        await asyncio.sleep(0.01)
    raise AssertionError("it never came")


async def test_a_worker_serves_its_commits_and_nothing_ahead_of_them(tmp_path, capsys):
    path = tmp_path / "gitops.git"
    publish(path, sample())
    with closing(opened(path)) as output:
        async with (
            artifacts_of(settings_for(path), output, serve=True) as publisher,
            httpx.AsyncClient(base_url=await address(capsys)) as client,
        ):
            first = await client.get(CURRENT)
            assert first.status_code == 200
            head = await asyncio.to_thread(publisher.head)
            draft = publisher.begin(head)
            overlay = f"apps/grill/overlays/{GRILL}/kustomization.yaml"
            draft.write(overlay, b'resources: ["grill.yaml"]\nnamePrefix: "x-"\n')
            for _ in range(5):
                assert (await client.get(CURRENT)).content == first.content
            draft.commit(Told("Render", "because", "next", "format=1 settings=x"))
            await until(client, lambda found: found.content != first.content)
            digest = first.headers["docker-content-digest"]
            old = await client.get(f"/v2/clusters/{FLUX}/manifests/{digest}")
            assert old.status_code == 200


async def test_a_commit_of_somebody_else_is_served_too(tmp_path, capsys):
    path = tmp_path / "gitops.git"
    publish(path, sample())
    with closing(opened(path)) as output:
        async with (
            artifacts_of(settings_for(path), output, serve=True),
            httpx.AsyncClient(base_url=await address(capsys)) as client,
        ):
            first = await client.get(CURRENT)
            tree = sample()
            changed = {BASE: tree.files[BASE].replace(b"unset", b"later")}
            await asyncio.to_thread(owners_commit, path, changed)
            await until(client, lambda found: found.content != first.content)


async def test_what_is_published_is_pushed_and_laid_out(tmp_path):
    path = tmp_path / "gitops.git"
    publish(path, sample())
    with registry() as there:
        layout = tmp_path / "layout"
        settings = settings_for(path, registry=f"http://{there}/fleet", layout=str(layout))
        with closing(opened(path)) as output:
            async with artifacts_of(settings, output, serve=False) as publisher:
                await asyncio.to_thread(
                    commit, publisher, {"fleet/aa00000000000002/x.yaml": b"a: b\n"}
                )
        manifest = crane("manifest", f"{there}/fleet/clusters/{FLUX}:current")
        crane("validate", "--remote", f"{there}/fleet/clusters/{FLUX}:current")
    assert f"clusters/{FLUX}" in json.loads((tmp_path / "delivered.json").read_bytes())["tags"]
    entries = json.loads((layout / f"clusters/{FLUX}/index.json").read_bytes())["manifests"]
    blob = layout / f"clusters/{FLUX}/blobs/sha256" / entries[0]["digest"].removeprefix("sha256:")
    assert blob.read_text() == manifest


async def test_a_registry_that_is_away_holds_no_commit_up(tmp_path, caplog):
    path = tmp_path / "gitops.git"
    publish(path, sample())
    settings = settings_for(path, registry="http://127.0.0.1:9", tries_max=1)
    with closing(opened(path)) as output, pytest.raises(ZeroDivisionError):
        async with artifacts_of(settings, output, serve=False) as publisher:
            for number in range(3):
                files = {"fleet/aa00000000000002/x.yaml": f"a: {number}\n".encode()}
                assert await asyncio.to_thread(commit, publisher, files, f"c{number}")
            for _ in range(500):
                if "not brought out" in caplog.text:
                    break
                await asyncio.sleep(0.01)
            assert "not brought out" in caplog.text
            raise ZeroDivisionError


async def test_artifacts_are_made_of_commits(tmp_path):
    path = tmp_path / "gitops.git"
    publish(path, sample())
    settings = Settings(render=RenderSettings(output=f"dir:{tmp_path}"))
    with closing(opened(path)) as output, pytest.raises(Invalid, match="made of commits"):
        async with artifacts_of(settings, output, serve=True):
            pass
    with closing(opened(path)) as output:
        async with artifacts_of(settings, output, serve=False) as publisher:
            assert publisher is output


def test_a_real_worker_serves_while_it_follows_and_ends_well(fleet):
    worker = Trellis(fleet, [], {"TRELLIS_SERVE_PORT": "0"}).start(
        "render", "--from", "store", "--to", "git:out.git", "--serve"
    )
    try:
        said = worker.stdout.readline()
        while not said.startswith(b"artifacts at "):
            assert said, worker.stderr.read()
            said = worker.stdout.readline()
        url = said.split()[2].decode().removesuffix("/v2/")
        cluster = next(name for name in fleet_names(fleet))
        with httpx.Client(base_url=url, timeout=30) as client:
            for _ in range(600):
                found = client.get(f"/v2/clusters/{cluster}/manifests/current")
                if found.status_code == 200:
                    break
                time.sleep(0.05)
            assert found.status_code == 200, found.text
        worker.send_signal(signal.SIGTERM)
        _, told = worker.communicate(timeout=60)
    finally:
        worker.kill()
        worker.wait()
    assert worker.returncode == 0, told


def fleet_names(directory):
    for line in (directory / "fleet.jsonl").read_text().splitlines():
        found = json.loads(line)
        if "registerCluster" in found:
            yield found["registerCluster"]["name"]
