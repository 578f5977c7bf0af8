"""S5 when the process is killed: whatever was acknowledged is there, and all of it agrees."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from graph.model.change import Cursor
from graph.store.embedded import EmbeddedStore
from history import BUSINESS, History, cluster
from recovery import check_recovered

pytestmark = [pytest.mark.crash, pytest.mark.timeout(3_600)]

CYCLES = {"test": 40, "campaign": 1_000}
CYCLES_A_FILE = 8
"""A store is killed this often before it is left alone: recovery upon recovery."""


class Victims:
    """Processes that start quickly and are killed at a moment of our choice."""

    def __init__(self) -> None:
        root = Path(__file__).parents[2]
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("writer.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            text=True,
        )

    def kill_one(self, role: str, path: Path, seed: int, *, after_seconds: float) -> list[str]:
        """Start a role, kill it some time after its first words; return what it had said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(role, path, seed, file=self._process.stdin, flush=True)
        started = pid = 0
        said: list[str] = []
        for line in self._process.stdout:
            word = line.rstrip("\n")
            if word.startswith("started "):
                pid = int(word.split()[1])
            elif word == "ended":
                return said
            else:
                said.append(word)
            if pid and said and not started:
                started = 1
                threading.Timer(after_seconds, os.kill, (pid, signal.SIGKILL)).start()
        raise AssertionError("the victims' parent has died")

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def victims() -> Iterator[Victims]:
    victims = Victims()
    yield victims
    victims.close()


@pytest.mark.parametrize("role", ["single", "groups"])
async def test_a_killed_writer_loses_nothing_acknowledged(
    victims: Victims, tmp_path: Path, scale: str, role: str
) -> None:
    random = Random(role)
    promised: list[Cursor] = []
    total = survivors = 0
    for cycle in range(CYCLES[scale] // 2):
        if cycle % CYCLES_A_FILE == 0:
            promised = []
        path = tmp_path / f"fleet-{cycle // CYCLES_A_FILE}.db"
        said = victims.kill_one(role, path, cycle, after_seconds=random.uniform(0, 0.15))
        cursors = [Cursor.parse(line) for line in said]
        promised += cursors
        total += len(cursors)
        head = await check_recovered(path, promised)
        survivors += head.cursor != promised[-1]
        if role == "groups":
            await check_receipts(path, promised)
    assert total > CYCLES[scale], "too little was written for the kills to mean anything"
    print(f"{total:,} acknowledged; {survivors:,} kills left an unacknowledged commit, whole")


async def check_receipts(path: Path, promised: list[Cursor]) -> None:
    """Each commit has its receipt, the unacknowledged ones included."""
    store = await EmbeddedStore.open(path, write=False)
    head = await store.head()
    for cursor in {*promised[-3:], head.cursor}:
        kept = await store.kept("ann", f"k-{cursor.revision}")
        assert (kept is None) == (cursor.revision == 1)
        if kept is not None:
            assert kept.receipt.cursor == cursor
    await store.close()


async def test_a_killed_restore_leaves_one_record_or_the_other(
    victims: Victims, tmp_path: Path, scale: str
) -> None:
    path = tmp_path / "fleet.db"
    heads: dict[str, Cursor] = {}
    store = await EmbeddedStore.open(path)
    history = await History.of(store)
    await history.put(*BUSINESS)
    for name in ("one", "other"):
        await history.put(*(cluster(number, name) for number in range(3_000)))
        heads[name] = history.cursor
        await store.backup(tmp_path / f"{name}.backup")
    await store.close()

    random = Random(0)
    seen: list[str] = ["other"]
    names = {cursor: name for name, cursor in heads.items()}
    for cycle in range(CYCLES[scale] // 5):
        said = victims.kill_one("restore", path, cycle, after_seconds=random.uniform(0, 0.6))
        now = names[(await check_recovered(path, [])).cursor]
        told = seen[-1] if said[-1] == "open" else said[-1]
        coming = "one" if said[-1] in ("open", "other") else "other"
        assert now in (told, coming)
        seen.append(now)
        assert not list(tmp_path.glob("*.restoring*"))  # noqa: ASYNC240 - nothing else runs here
    assert set(seen[1:]) == set(heads)


async def test_a_killed_backup_leaves_whole_backups_only(
    victims: Victims, tmp_path: Path, scale: str
) -> None:
    path = tmp_path / "fleet.db"
    random = Random(0)
    promised: list[Cursor] = []
    whole = 0
    for cycle in range(CYCLES[scale] // 10):
        said = victims.kill_one("backup", path, cycle, after_seconds=random.uniform(0.05, 0.4))
        promised += [Cursor.parse(line) for line in said]
        head = await check_recovered(path, promised)
        for backup in tmp_path.glob("*.backup"):  # noqa: ASYNC240 - nothing else runs here
            assert (await check_recovered(backup, [])).cursor.revision <= head.cursor.revision
            backup.unlink()
            whole += 1
    assert whole > 0
