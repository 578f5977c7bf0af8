"""A disk that is full or fails: a clear refusal, and nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import apsw
import pytest

from graph.model.change import Cursor
from graph.model.errors import Conflict, Unavailable
from graph.store.embedded import EmbeddedStore
from history import BUSINESS, History, cluster
from powercut import failing, hasty
from recovery import check_recovered

pytestmark = pytest.mark.crash

CALLS = {"test": 24, "campaign": 300}
FAULTS = {
    "full": ("write", apsw.FullError("disk full")),
    "write": ("write", apsw.IOError("input/output error")),
    "sync": ("sync", apsw.IOError("input/output error")),
}


@pytest.fixture
async def seed(tmp_path: Path) -> Path:
    """A small store, closed, to be copied for each fault."""
    path = tmp_path / "seed.db"
    store = await EmbeddedStore.open(path)
    await (await History.of(store)).put(*BUSINESS)
    await store.close()
    return path


async def work(path: Path, random: Random) -> tuple[list[Cursor], int]:
    """Commit on, whatever is refused; tell what was acknowledged, and how often it was refused."""
    acknowledged: list[Cursor] = []
    refusals = 0
    try:
        store = await EmbeddedStore.open(path, checkpoint_pages=16)
    except Unavailable:
        return [], 1
    try:
        for step in range(12):
            try:
                history = await History.of(store)
                batch = [cluster(random.randrange(60), str(step)) for _ in range(20)]
                acknowledged.append((await history.put(*batch)).cursor)
            except (Unavailable, Conflict) as error:
                assert error.hint
                refusals += 1
    finally:
        await store.close()
    return acknowledged, refusals


@pytest.mark.parametrize("once", [True, False], ids=["once", "for good"])
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_at_any_call_is_refused_and_loses_nothing(
    seed: Path, tmp_path: Path, scale: str, fault: str, once: bool
) -> None:
    kind, error = FAULTS[fault]
    struck = refused = recovered = 0
    for nth in range(1, CALLS[scale] + 1):
        # Faults spread over the whole run, not only over its first calls.
        call = nth if scale == "campaign" else 1 + (nth - 1) * (7 if kind == "write" else 1)
        directory = tmp_path / f"{call}"
        directory.mkdir()
        path = directory / "fleet.db"
        await asyncio.to_thread(shutil.copy, seed, path)
        with failing(kind, call, error, once=once) as found:
            acknowledged, refusals = await work(path, Random(call))
        with hasty():
            head = await check_recovered(path, acknowledged)
        refused += refusals > 0
        recovered += refusals > 0 and len(acknowledged) > 0
        assert head.cursor.revision >= 1
        struck += found.hits > 0
    assert struck > 10
    assert refused > struck // 2, "faults passed unnoticed"
    if once:
        assert recovered > 0, "the store was never usable again"


@contextmanager
def pages_at_most(pages: int) -> Generator[None]:
    """SQLite itself finds no more room than this."""

    def hook(connection: apsw.Connection) -> None:
        connection.pragma("max_page_count", pages)

    apsw.connection_hooks.append(hook)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(hook)


async def test_a_full_store_refuses_and_works_again_with_more_room(
    seed: Path, tmp_path: Path
) -> None:
    with pages_at_most(120):
        store = await EmbeddedStore.open(seed)
        history = await History.of(store)
        with pytest.raises(Unavailable, match="full disk") as caught:
            for step in range(100):
                await history.put(*(cluster(number, f"{step}") for number in range(100)))
        assert "free some space" in caught.value.hint
        assert (await store.head()).cursor == history.cursor
        await store.close()
    assert (await check_recovered(seed, [history.cursor])).cursor == history.cursor
    store = await EmbeddedStore.open(seed)
    again = await History.of(store)
    assert (await again.put(cluster(0, "room again"))).revision == history.cursor.revision + 1
    await store.close()


async def test_a_file_that_may_not_grow_refuses_in_a_real_process(seed: Path) -> None:
    """The operating system itself says no: the child may not write files beyond 300 kB."""
    script = Path(__file__).with_name("no_room.py")
    child = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, str(script), str(seed)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert child.returncode == 3, child.stderr
    *acknowledged, refusal = child.stdout.splitlines()
    assert refusal.startswith("OutcomeUnknown: ")
    assert len(acknowledged) > 1
    await check_recovered(seed, [Cursor.parse(line) for line in acknowledged])


async def test_a_backup_without_room_leaves_nothing_behind(seed: Path, tmp_path: Path) -> None:
    store = await EmbeddedStore.open(seed)
    full = failing("write", 3, apsw.FullError("disk full"), once=False)
    with full, pytest.raises(Unavailable, match="full disk"):
        await store.backup(tmp_path / "copy.db")
    await store.close()
    assert not list(tmp_path.glob("copy.db*"))  # noqa: ASYNC240 - nothing else runs here


async def test_a_restore_without_room_changes_nothing(seed: Path, tmp_path: Path) -> None:
    store = await EmbeddedStore.open(seed)
    history = await History.of(store)
    await store.backup(tmp_path / "copy.db")
    await history.put(cluster(0))
    await store.close()
    for nth in (1, 5, 20):
        with failing("write", nth, apsw.FullError("disk full"), once=False):
            store = await EmbeddedStore.open(seed)
            with pytest.raises(Unavailable, match="full disk"):
                await store.restore(tmp_path / "copy.db")
            assert (await store.head()).cursor == history.cursor
            await store.close()
    await check_recovered(seed, [history.cursor])
