"""Several workers, one branch, and stores that are not what they seem: backups, forks, strangers.

Each worker is a real process on a store file of its own; git is real. Whatever happens, the branch
is a line, no commit brings back an earlier tree, and there is at most one commit for each change.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from api_process import WAIT_SECONDS
from changing_fleet import IN_CLUSTERS, template
from engines import give
from graph.engine import Engine
from graph.model.command import Command, CreateHierarchy, RegisterCluster
from graph.model.workload import Base, Choice
from graph.model.workload_command import Assign, DefineApplication, DefineNamespace, SetLayer
from graph.store.embedded import EmbeddedStore
from renderer_process import Record, Rendering, rendering, run, tree_of
from repositories import foreign_commit, git
from trellis_process import Trellis

OTHER_HISTORY = 4
CLUSTERS = 20
"""Few enough that a mass deletion of them all would go unasked but for its last cluster."""
FLEET: tuple[Command, ...] = (
    CreateHierarchy("geo"),
    *(RegisterCluster(f"store-{number}", groups=("/geo",)) for number in range(CLUSTERS)),
    DefineNamespace("shop"),
    DefineApplication(
        "till", "shop", reconcilers=IN_CLUSTERS, source=template("till"), values={"tag": "0"}
    ),
    Assign("everywhere", Choice("shop"), "all"),
)


@dataclass(frozen=True)
class House:
    """A directory with stores, and a repository that workers publish to."""

    trellis: Trellis
    record: Record

    @property
    def directory(self) -> Path:
        return self.trellis.directory

    def _settings(self, store: str) -> dict[str, str]:
        return {"TRELLIS_STORE_URL": f"sqlite:///{self.directory / store}"}

    def worker(self, stack: ExitStack, store: str, *arguments: str) -> Rendering:
        """A worker that follows a store until the test is over."""
        started = rendering(
            "store",
            self.record.path,
            self.directory,
            self._settings(store),
            arguments=arguments,
        )
        return stack.enter_context(started)

    def once(self, store: str, *arguments: str, expect: int = 0) -> str:
        """``trellis render --once``; what it said."""
        words = ("--once", *arguments)
        return run(
            "store",
            self.record.path,
            self.directory,
            *words,
            expect=expect,
            **self._settings(store),
        )

    async def change(self, store: str, *commands: Command) -> int:
        """Change a store as its owner does; the revision from then on."""
        opened = await EmbeddedStore.open(self.directory / store, write=True, create=True)
        engine = await Engine.open(opened)
        try:
            await give(engine, *commands)
            return engine.view.cursor.revision
        finally:
            await engine.close()

    async def retag(self, store: str, tag: str) -> int:
        """One change that everybody sees in git."""
        return await self.change(store, SetLayer("tag", "all", {"tag": tag}, "till"))

    def back_up(self, store: str, copy: str) -> None:
        self.trellis("--store", f"sqlite:///{store}", "backup", copy)

    def restore(self, store: str, copy: str) -> None:
        self.trellis("--store", f"sqlite:///{store}", "restore", copy, "--yes")

    def commits(self) -> list[str]:
        """Those of workers, the oldest first; a line, in which no tree comes twice."""
        span = f"{self.record.owners}..main"
        found = git(self.record.repository, "rev-list", "--reverse", span).split()
        merges = git(self.record.repository, "rev-list", "--min-parents=2", span)
        assert not merges, "history is a line"
        trees = [tree_of(self.record.repository, each) for each in found]
        assert len(set(trees)) == len(trees), "a commit brings back an earlier tree"
        return found

    def rendered(self) -> list[str]:
        """Those of them that a worker made."""
        told = ("--grep=^Trellis-Revision: ", f"{self.record.owners}..main")
        return git(self.record.repository, "rev-list", *told).split()

    def push_base(self, number: int, resource: str) -> None:
        """An owner pushes a base that is made of one file, which may not be there."""
        base = "apps/menu/base"
        files = {
            f"{base}/kustomization.yaml": f"# {number}\nresources: [{resource}]\n",
            f"{base}/menu.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: menu}\n",
        }
        foreign_commit(self.record.repository, files, message=f"Base {number}")

    def tags(self) -> set[str]:
        """What the till's overlays say."""
        files = self.record.files()
        overlays = [each for path, each in files.items() if path.startswith("apps/till/overlays/")]
        return set(_TAG.findall(b"\n".join(overlays).decode()))

    def revision(self) -> int:
        """How far the newest commit goes."""
        form = "--format=%(trailers:key=Trellis-Revision,valueonly)"
        return int(git(self.record.repository, "log", "-1", form, "main").partition(".")[0])


_TAG = re.compile(r'\\*"tag\\*": ?\\*"(\d+)')


def until(holds: Callable[[], bool], *workers: Rendering) -> None:
    """Wait until something holds, while every worker lives."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds():
        for each in workers:
            assert each.is_alive(), each.said()
        assert time.monotonic() < deadline, [each.said() for each in workers]
        time.sleep(0.02)


@pytest.fixture
async def house(trellis: Trellis) -> House:
    """A store at revision 1, published."""
    made = House(trellis, Record.made(trellis.directory / "fleet.git", {"README.md": "Stores."}))
    await made.change("fleet.db", *FLEET)
    made.once("fleet.db")
    return made


async def test_a_worker_on_an_old_backup_waits_and_writes_nothing(house: House) -> None:
    house.back_up("fleet.db", "old.db")
    await house.retag("fleet.db", "1")
    house.once("fleet.db")
    with ExitStack() as stack:
        behind = house.worker(stack, "old.db")
        until(lambda: behind.said().count("published up to revision 2") > 2, behind)
        assert "this fleet is at revision 1" in behind.said()
        assert "--anew" in behind.said()
        refused = house.once("old.db", expect=1)
        assert refused.startswith("error: main is published up to revision 2")
        assert len(house.commits()) == 2
        await house.retag("old.db", "2")  # as far as the other, and not the same
        assert behind.wait() == OTHER_HISTORY
        assert "another history" in behind.said()
    assert (len(house.commits()), house.tags()) == (2, {"1"})


async def test_a_fork_and_a_stranger_stop_and_say_how_to_go_on(house: House) -> None:
    house.back_up("fleet.db", "fork.db")
    await house.retag("fleet.db", "1")
    house.once("fleet.db")
    await house.retag("fork.db", "2")
    await house.change("stranger.db", *FLEET[:-1])
    for number in range(3):
        await house.change("stranger.db", CreateHierarchy(f"other-{number}"))
    for store in ("fork.db", "stranger.db"):
        for arguments in ((), ("--verify",), ("--dry-run",)):
            said = house.once(store, *arguments, expect=OTHER_HISTORY)
            assert "main was published from another history" in said
            assert "give the output to this fleet with --anew" in said
    assert (len(house.commits()), house.tags()) == (2, {"1"})


async def test_whoever_takes_over_fences_off_the_other(house: House) -> None:
    house.back_up("fleet.db", "old.db")
    await house.retag("fleet.db", "1")
    with ExitStack() as stack:
        first = house.worker(stack, "fleet.db")
        until(lambda: house.revision() == 2, first)
        house.once("old.db", "--anew")  # the fleet was restored from a backup, and goes on there
        assert house.revision() == 1
        await house.retag("fleet.db", "7")  # nobody told the other one
        assert first.wait() == OTHER_HISTORY
        assert "was given to another history with --anew" in first.said()
    assert house.once("fleet.db", expect=OTHER_HISTORY)
    await house.retag("old.db", "2")
    house.once("old.db")
    commits = house.commits()
    assert (len(commits), house.tags()) == (4, {"2"})
    kept = orjson.loads(house.record.files()[".trellis/discarded.json"])
    assert [each.partition(".")[0] for each in kept["discarded"]] == ["2"]


async def test_another_fleet_deletes_no_application_however_small_it_is(house: House) -> None:
    """Even where somebody gives it the output: what would go waits until it is confirmed."""
    await house.change("stranger.db", CreateHierarchy("geo"))
    await house.change("stranger.db", CreateHierarchy("other"))
    house.once("stranger.db", expect=OTHER_HISTORY)
    before = {path for path in house.record.files() if path.startswith("clusters/")}
    said = house.once("stranger.db", "--anew", expect=3)
    assert said.splitlines()[-1].startswith("held back: 1 application on 20 clusters")
    after = {path for path in house.record.files() if path.startswith("clusters/")}
    assert (after, len(after)) == (before, CLUSTERS)


@pytest.mark.crash
async def test_a_broken_base_is_held_and_released_by_workers_that_are_killed(
    house: House, scale: str
) -> None:
    """Whoever is killed, and though the fleet is restored: others go on, and nothing flaps."""
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    menu = DefineApplication("menu", "shop", reconcilers=IN_CLUSTERS, source=Base("base"))
    house.push_base(0, "menu.yaml")
    await house.change("fleet.db", menu)
    house.once("fleet.db")
    house.back_up("fleet.db", "old.db")
    changes = 2
    for number in range(1, 20 if scale == "campaign" else 3):
        house.push_base(number, chance.choice(("menu.yaml", "missing.yaml")))
        with ExitStack() as stack:
            workers = [house.worker(stack, "fleet.db") for _ in range(2)]
            await house.retag("fleet.db", str(number))
            changes += 2
            await asyncio.sleep(3 * chance.random())
            for each in workers:
                each.kill()
    house.push_base(50, "missing.yaml")
    said = house.once("fleet.db", expect=3)
    assert "missing.yaml" in said and "held back: 1 application on 20 clusters" in said
    (held,) = orjson.loads(house.record.files()[".trellis/held.json"])["held"]
    assert (held["application"], held["file"], held["line"]) == (
        "menu",
        "apps/menu/base/kustomization.yaml",
        2,
    )
    assert house.tags() == {str(number)}
    assert len(house.rendered()) <= 2 + changes, f"seed {seed}"
    house.restore("fleet.db", "old.db")
    house.once("fleet.db", expect=1)
    house.once("fleet.db", "--anew", expect=3)
    house.push_base(51, "menu.yaml")
    assert "held back" not in house.once("fleet.db")
    assert len(house.rendered()) <= 4 + changes, f"seed {seed}"
    assert len(house.commits()) > len(house.rendered())


@pytest.mark.crash
async def test_workers_of_three_histories_are_killed_while_a_backup_is_restored(
    house: House, scale: str
) -> None:
    """Only the fleet's own worker ever writes, and each of its changes once."""
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    house.back_up("fleet.db", "old.db")
    house.back_up("fleet.db", "fork.db")
    await house.retag("fork.db", "50")
    await house.retag("fleet.db", "1")
    house.once("fleet.db")  # from here on the branch is the fleet's, and not the fork's as well
    changes = 1
    for _ in range(20 if scale == "campaign" else 3):
        with ExitStack() as stack:
            workers = [house.worker(stack, each) for each in ("fleet.db", "old.db", "fork.db")]
            changes += 1
            await house.retag("fleet.db", str(changes))
            await asyncio.sleep(3 * chance.random())  # what holds, holds at every moment
            for each in chance.sample(workers, 2):
                each.kill()
    house.once("fleet.db")
    assert len(house.commits()) <= 1 + changes, f"seed {seed}"
    assert house.tags() == {str(changes)}
    house.back_up("fleet.db", "newest.db")
    house.restore("fleet.db", "old.db")
    house.once("fleet.db", expect=1)
    house.once("newest.db")
    house.once("fleet.db", "--anew")
    house.once("newest.db", expect=OTHER_HISTORY)
    await house.retag("fleet.db", "60")
    house.once("fleet.db")
    assert house.tags() == {"60"}
    assert len(house.commits()) <= 3 + changes, f"seed {seed}"
    house.record.check_sound()
