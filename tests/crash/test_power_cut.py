"""S5 when the power goes: nothing acknowledged is lost, nothing is damaged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import apsw
import pytest

from graph.model.change import Cursor
from graph.store.embedded import EmbeddedStore
from graph.store.port import Claim, Entry
from history import BUSINESS, History, cluster
from powercut import Disk, hasty
from recovery import check_recovered

pytestmark = pytest.mark.crash

CUTS = {"test": 500, "campaign": 20_000}
CUTS_A_RUN = 50
COMMITS_A_RUN = 24
CHECKPOINT_PAGES = 24
"""Small, so that a short run moves its log to the file several times."""


async def work(path: Path, random: Random, told: Callable[[object], None]) -> None:
    """Commit groups of all sizes, with a restart somewhere; say what was acknowledged."""
    store = await EmbeddedStore.open(path, checkpoint_pages=CHECKPOINT_PAGES)
    history = await History.of(store)
    restart_after = random.randrange(COMMITS_A_RUN)
    for commit in range(COMMITS_A_RUN):
        batches = [
            [
                cluster(random.randrange(200), f"{commit}.{n}")
                for _ in range(random.choice((1, 3, 40)))
            ]
            for n in range(random.choice((1, 1, 2, 5)))
        ]
        entries = [
            Entry(changeset, Claim("ann", f"{commit}.{n}", "d"))
            for n, changeset in enumerate(history.changesets(*batches))
        ]
        for receipt in await history.commit(*entries):
            told(receipt.cursor)
        if commit == restart_after:
            await store.close()
            store = await EmbeddedStore.open(path, checkpoint_pages=CHECKPOINT_PAGES)
            history = await History.of(store)
    await store.close()


async def recorded(directory: Path, random: Random) -> Disk:
    """A run on a store that stands at revision 1 when the record begins."""
    lay_out(directory, {})
    store = await EmbeddedStore.open(directory / "fleet.db")
    await (await History.of(store)).put(*BUSINESS)
    await store.close()
    disk = await asyncio.to_thread(Disk, directory)
    with disk.recording():
        await work(directory / "fleet.db", random, disk.mark)
    return disk


def lay_out(directory: Path, files: dict[str, bytes]) -> Path:
    directory.mkdir(exist_ok=True)
    for left in directory.iterdir():
        left.unlink()
    for name, data in files.items():
        (directory / name).write_bytes(data)
    return directory / "fleet.db"


@pytest.mark.timeout(3_600)
async def test_a_power_cut_loses_nothing_acknowledged_and_damages_nothing(
    tmp_path: Path, scale: str
) -> None:
    unacknowledged = 0
    for run in range(CUTS[scale] // CUTS_A_RUN):
        random = Random(run)
        disk = await recorded(tmp_path / f"run-{run}", random)
        moments = sorted(random.choices(range(len(disk.operations) + 1), k=CUTS_A_RUN))
        for moment, (known, files) in zip(moments, disk.cuts(moments, random), strict=True):
            acknowledged = [cursor for cursor in known if isinstance(cursor, Cursor)]
            path = lay_out(tmp_path / "found", files)
            try:
                with hasty():
                    head = await check_recovered(path, acknowledged)
            except Exception as error:
                error.add_note(f"run {run}, cut at {moment:,} of {len(disk.operations):,}")
                raise
            if acknowledged and head.cursor != acknowledged[-1]:
                unacknowledged += 1
    # Cuts between the sync and the answer must have been among them.
    assert unacknowledged > 0


@contextmanager
def synchronous_normal() -> Generator[None]:
    """Every connection keeps synchronous NORMAL, whatever it is told."""

    def ignore(action: int, name: str | None, value: str | None, *_: str | None) -> int:
        asked = action == apsw.SQLITE_PRAGMA and name == "synchronous" and value is not None
        return apsw.SQLITE_IGNORE if asked else apsw.SQLITE_OK

    def hook(connection: apsw.Connection) -> None:
        connection.pragma("synchronous", "normal")
        connection.authorizer = ignore

    apsw.connection_hooks.append(hook)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(hook)


async def test_the_same_cuts_do_lose_commits_without_full_syncs(tmp_path: Path) -> None:
    """The test above has teeth: what it would catch, it catches here."""
    lost = 0
    with synchronous_normal():
        for run in range(2):
            random = Random(run)
            disk = await recorded(tmp_path / f"run-{run}", random)
            moments = sorted(random.choices(range(len(disk.operations) + 1), k=20))
            for known, files in disk.cuts(moments, random):
                acknowledged = [cursor for cursor in known if isinstance(cursor, Cursor)]
                path = lay_out(tmp_path / "found", files)
                try:
                    with hasty():
                        await check_recovered(path, acknowledged)
                except AssertionError as error:
                    assert "lost" in str(error)
                    lost += 1
    assert lost >= 5


async def test_a_power_cut_during_a_restore_leaves_one_record_or_the_other(
    tmp_path: Path,
) -> None:
    directory = tmp_path / "run"
    directory.mkdir()
    store = await EmbeddedStore.open(directory / "fleet.db")
    history = await History.of(store)
    await history.put(*BUSINESS)
    await history.put(*(cluster(number) for number in range(400)))
    await store.backup(tmp_path / "backup.db")
    backup = history.cursor
    await history.put(*(cluster(number, "later") for number in range(100, 300)))
    later = history.cursor
    await store.close()

    disk = await asyncio.to_thread(Disk, directory)
    with disk.recording():
        store = await EmbeddedStore.open(directory / "fleet.db")
        await store.restore(tmp_path / "backup.db")
        disk.mark(backup)
        await store.close()
    random = Random(0)
    moments = sorted(random.choices(range(len(disk.operations) + 1), k=60))
    heads: set[Cursor] = set()
    for known, files in disk.cuts(moments, random):
        path = lay_out(tmp_path / "found", files)
        with hasty():
            head = await check_recovered(path, [backup])
        assert head.cursor in ({backup} if known else {backup, later})
        heads.add(head.cursor)
    assert heads == {backup, later}
