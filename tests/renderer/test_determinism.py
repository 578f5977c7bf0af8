"""The same bytes from any process, from any way there: workers that share nothing but the API."""

from __future__ import annotations

from pathlib import Path

import pytest

from api_process import begun, calling
from changing_fleet import FLEET, OWNERS, Changes
from renderer_process import Record, applied, caught_up, from_scratch, rendering, run, tree_of
from repositories import git

SEQUENCES = {"test": 2, "campaign": 40}
CHANGES = 12


@pytest.mark.volume
@pytest.mark.timeout(3_600)
async def test_every_process_and_every_way_lead_to_the_same_bytes(
    tmp_path: Path, scale: str
) -> None:
    record = Record.made(tmp_path / "fleet.git", OWNERS)
    store = f"sqlite:///{tmp_path / 'trellis.db'}"
    async with begun(store, tmp_path, {}, arguments=["--create"]) as server, calling(server) as api:
        await applied(api, *FLEET)
        with rendering(server.url, record.path, tmp_path, {"PYTHONHASHSEED": "1"}) as worker:
            for number in range(SEQUENCES[scale]):
                changes = Changes(f"sequence {number}")
                for step in range(CHANGES):
                    revision = await changes.send(api)
                    if step % 3 == 0:
                        await caught_up(api, worker, revision)
                await changes.settle(api)
                await caught_up(api, worker)
                record.check()
                said = run(server.url, record.path, tmp_path, "--verify", PYTHONHASHSEED="2")
                assert "nothing differs" in said
                assert not record.is_held(), record.files()[".trellis/held.json"]
                assert record.tree == await from_scratch(server.url, record)
            assert worker.stop() == 0
        tip = record.tip
        said = run(server.url, record.path, tmp_path, "--once", PYTHONHASHSEED="3")
        assert "nothing differs" in said
        assert record.tip == tip, "a second run commits nothing"


async def test_hash_seeds_do_not_show(tmp_path: Path) -> None:
    record = Record.made(tmp_path / "fleet.git", OWNERS)
    store = f"sqlite:///{tmp_path / 'trellis.db'}"
    async with begun(store, tmp_path, {}, arguments=["--create"]) as server, calling(server) as api:
        await applied(api, *FLEET)
        for seed in ("0", "4242"):
            branch = f"seed-{seed}"
            git(record.repository, "update-ref", f"refs/heads/{branch}", record.owners)
            output = f"git:{record.repository}#{branch}"
            run(server.url, output, tmp_path, "--once", PYTHONHASHSEED=seed)
    trees = {tree_of(record.repository, f"seed-{seed}") for seed in ("0", "4242")}
    assert len(trees) == 1
    assert trees != {tree_of(record.repository, record.owners)}
