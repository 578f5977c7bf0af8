"""What a worker needs goes away and comes back: it waits, loses nothing, and needs nobody's help.

Each run: people change things, something fails under the worker, people go on changing things,
and it is put right. The same process then brings out all of it, every commit is whole, and what is
there is what rendering from scratch gives.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from api_process import Api, begun, calling, eventually, neo4j_settings
from changing_fleet import FLEET, OWNERS, Changes
from neo4j_process import LocalServer, wipe
from neo4j_server import local_server
from renderer_process import (
    TRELLIS,
    Record,
    Rendering,
    applied,
    caught_up,
    check_from_scratch,
    rendering,
)
from repositories import git
from serving import Serving

pytestmark = [pytest.mark.crash, pytest.mark.timeout(12 * 3_600)]

RUNS = {"test": 1, "campaign": 20}
NEO4J_RUNS = {"test": 1, "campaign": 5}
SMALL_DISK = "4m"


@dataclass
class Stage:
    """An API, a repository, and people."""

    directory: Path
    record: Record
    changes: Changes
    random: Random

    async def agree(self, api: Api, worker: Rendering) -> None:
        """Everything is out, by the very same process."""
        await caught_up(api, worker)
        self.record.check()
        await check_from_scratch(api.server.url, self.record)

    async def change(self, api: Api, most: int = 3) -> None:
        for _ in range(self.random.randint(1, most)):
            await self.changes.send(api)


@asynccontextmanager
async def serving(directory: Path, store: str = "", **more: str) -> AsyncIterator[Serving]:
    """The API over a store of its own, or another one."""
    url = store or f"sqlite:///{directory / 'trellis.db'}"
    async with begun(url, directory, more, arguments=["--create"]) as server:
        yield server


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    record = Record.made(tmp_path / "fleet.git", OWNERS)
    return Stage(tmp_path, record, Changes("faults"), Random("faults"))


async def test_a_held_lock_is_waited_for(stage: Stage, scale: str) -> None:
    lock = stage.record.repository / "refs" / "heads" / "main.lock"
    async with serving(stage.directory) as server, calling(server) as api:
        await applied(api, *FLEET)
        with rendering(server.url, stage.record.path, stage.directory) as worker:
            await stage.agree(api, worker)
            for _ in range(RUNS[scale]):
                before = stage.record.tip
                lock.touch(exist_ok=False)
                await stage.change(api)
                await asyncio.sleep(stage.random.uniform(1, 2 if scale == "test" else 20))
                assert stage.record.tip == before, "nobody else may move it"
                lock.unlink()
                await stage.agree(api, worker)
            assert worker.stop() == 0


async def test_a_remote_that_refuses_is_tried_until_it_takes_it(stage: Stage, scale: str) -> None:
    hook = stage.record.repository / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    async with serving(stage.directory) as server, calling(server) as api:
        await applied(api, *FLEET)
        with rendering(server.url, stage.record.url, stage.directory) as worker:
            await stage.agree(api, worker)
            for _ in range(RUNS[scale]):
                before, told = stage.record.tip, worker.said().count("not on a Friday")
                hook.write_text("#!/bin/sh\necho not on a Friday >&2\nexit 1\n")
                hook.chmod(0o755)
                await stage.change(api)
                await said(worker, "not on a Friday", told + 2)
                assert stage.record.tip == before
                hook.unlink()
                await stage.agree(api, worker)
            assert worker.stop() == 0


async def test_a_full_disk_is_waited_out(stage: Stage, scale: str) -> None:
    small = stage.directory / "small"
    small.mkdir()
    settings = {"TRELLIS_GIT_MIRROR": str(small / "mirror.git")}
    async with serving(stage.directory) as server, calling(server) as api:
        await applied(api, *FLEET)
        with rendering(
            server.url, stage.record.url, stage.directory, settings, command=on_a_small_disk(small)
        ) as worker:
            await stage.agree(api, worker)
            seen = Path(f"/proc/{worker.process.pid}/root{small}")
            assert (seen / "mirror.git").exists(), "it works on the small disk"
            for _ in range(RUNS[scale]):
                before, told = stage.record.tip, worker.said().count("No space left")
                fill(seen / "ballast")
                await stage.change(api)
                await said(worker, "No space left", told + 2)
                assert stage.record.tip == before
                (seen / "ballast").unlink()
                await stage.agree(api, worker)
            assert worker.stop() == 0


def on_a_small_disk(mounted: Path) -> list[str]:
    """The command, in a world in which ``mounted`` is a disk of its own."""
    unshare = shutil.which("unshare") or "false"
    mount = f"mount -t tmpfs -o size={SMALL_DISK} tmpfs {mounted}"
    if subprocess.run([unshare, "-rm", "sh", "-c", mount], check=False).returncode:
        pytest.skip("NO FULL DISK: this machine lets nobody mount a small one")
    return [unshare, "-rm", "sh", "-c", f'{mount} && exec "$@"', "sh", *TRELLIS]


def fill(path: Path) -> None:
    """Take all the room there is."""
    with path.open("wb", buffering=0) as file:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
async def test_an_api_that_restarts_is_followed_from_where_it_was(
    stage: Stage, scale: str, killed: bool
) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(stage.directory))
        api = await stack.enter_async_context(calling(server))
        await applied(api, *FLEET)
        url, port = server.url, str(server.port)
        worker = stack.enter_context(rendering(url, stage.record.url, stage.directory))
        await stage.agree(api, worker)
        for _ in range(RUNS[scale]):
            await stage.change(api)
            await asyncio.sleep(stage.random.random() * 0.1)
            told = worker.said().count("trying again in")
            await asyncio.to_thread(server.kill if killed else server.stop)
            await said(worker, "trying again in", told + 1)
            again = serving(stage.directory, TRELLIS_API_PORT=port)
            server = await stack.enter_async_context(again)
            assert server.url == url
            await stage.change(api)
            await stage.agree(api, worker)
        assert worker.stop() == 0
    subjects = git(stage.record.repository, "log", "--format=%s", "main").splitlines()
    anew = [each for each in subjects if each.startswith("Render everything")]
    assert len(anew) == 1, "it goes on from where it was"


@pytest.mark.neo4j
async def test_a_store_that_restarts_is_waited_for(stage: Stage, scale: str) -> None:
    process: LocalServer = await asyncio.to_thread(local_server)
    await asyncio.to_thread(wipe, process.url, process.user, process.password)
    impatient = {
        "TRELLIS_NEO4J_CONNECT_SECONDS": "1",
        "TRELLIS_NEO4J_ACQUIRE_SECONDS": "2",
        "TRELLIS_NEO4J_RETRY_SECONDS": "2",
    }
    settings = neo4j_settings(process) | impatient
    async with (
        serving(stage.directory, process.url, **settings) as server,
        calling(server) as api,
    ):
        await applied(api, *FLEET)
        with rendering(server.url, stage.record.path, stage.directory) as worker:
            await stage.agree(api, worker)
            for _ in range(NEO4J_RUNS[scale]):
                await stage.change(api)
                process.kill()
                assert (await refused(api))["__typename"] != "Applied"
                await asyncio.to_thread(process.launch)
                await eventually(lambda: takes_changes(api), within=120)
                await stage.change(api)
                await stage.agree(api, worker)
            assert worker.stop() == 0


async def refused(api: Api) -> dict[str, Any]:
    """What a change is answered while there is no store."""
    return await api.apply(*FLEET[:1], key="while it is away")


async def takes_changes(api: Api) -> bool:
    """Whether the store is back: what it has already is then a conflict."""
    return (await refused(api))["__typename"] != "Unavailable"


async def said(worker: Rendering, words: str, times: int) -> None:
    """Wait until a worker has said something so often."""

    async def state() -> bool:
        assert worker.is_alive(), worker.said()
        return worker.said().count(words) >= times

    await eventually(state)
