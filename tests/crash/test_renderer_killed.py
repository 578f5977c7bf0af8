"""``kill -9`` of a worker between any two steps: what is published is whole, and is gone on from.

One worker comes after the other on the same branch. Each first brings out what its predecessor
left undone, and that is compared with rendering from scratch; then people change things until it
dies. Every third is told to die at once, so that some die in their very first commit.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from random import Random

import pytest

from api_process import Api, begun, calling
from changing_fleet import FLEET, OWNERS, Changes
from renderer_process import (
    TRELLIS,
    Record,
    Rendering,
    applied,
    caught_up,
    check_from_scratch,
    dying,
    rendering,
    run,
)

pytestmark = [pytest.mark.crash, pytest.mark.timeout(12 * 3_600)]

STEPS = ("looked", "begun", "taken", "planned", "sealed", "landed", "moved", "committed", "told")
ANY = "any"
"""A worker as it is, killed from outside and at any time."""
RUNS = {"test": 10, "campaign": 200}


async def test_a_worker_killed_between_any_two_steps_leaves_a_whole_state(
    tmp_path: Path, scale: str
) -> None:
    record, random, changes = Record.made(tmp_path / "fleet.git", OWNERS), Random(1), Changes(1)
    store = f"sqlite:///{tmp_path / 'trellis.db'}"
    async with begun(store, tmp_path, {}, arguments=["--create"]) as server, calling(server) as api:
        await applied(api, *FLEET)
        for number in range(RUNS[scale]):
            step = (*STEPS, ANY)[number % (len(STEPS) + 1)]
            at_once = number % 3 == 0 and step != ANY
            await one_life(record, api, changes, step, random, at_once=at_once)
            record.check()
        record.check_sound()
        await changes.send(api)
        run(server.url, record.path, tmp_path, "--once")
        record.check()
        await check_from_scratch(server.url, record)
    assert len(record.commits) > RUNS[scale] // 2, "hardly anything was published"


async def one_life(
    record: Record, api: Api, changes: Changes, step: str, random: Random, *, at_once: bool
) -> None:
    """A worker comes, goes on, and dies in the middle of something."""
    directory = record.repository.parent
    armed = directory / "armed"
    armed.unlink(missing_ok=True)
    if at_once:
        armed.touch()
    for _ in range(random.randint(1, 3)):
        await changes.send(api)
    command = TRELLIS if step == ANY else dying(step, armed)
    where = random.choice([record.path, record.url])
    with rendering(api.server.url, where, directory, command=command) as worker:
        if not at_once:
            await caught_up(api, worker)
            record.check()
            await check_from_scratch(api.server.url, record)
            armed.touch()
        started = worker.children() if worker.is_alive() else set[int]()
        await until_dead(worker, api, changes, random if step == ANY else None)
        await asyncio.to_thread(wait_until_gone, started)
        assert worker.wait() == -9, f"it was to die {step}:\n{worker.said()}"


async def until_dead(worker: Rendering, api: Api, changes: Changes, random: Random | None) -> None:
    """Change things until it has come to that; at random if it does not end by itself."""
    for _ in range(200):
        await changes.send(api)
        if random is not None:
            await asyncio.sleep(random.random() * 0.2)
            worker.kill()
        await asyncio.sleep(0.05)
        if not worker.is_alive():
            return
    raise AssertionError(f"it does not die:\n{worker.said()}")


def wait_until_gone(processes: set[int]) -> None:
    """Whatever a worker had started ends by itself."""
    until = time.monotonic() + 30
    while left := [each for each in processes if Path(f"/proc/{each}").exists()]:
        assert time.monotonic() < until, f"these are left: {left}"
        time.sleep(0.01)
