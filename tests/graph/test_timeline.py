"""Earlier revisions: from checkpoints or the log, shared by those who ask, and always right."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import nullcontext
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from changes import random_changes, random_fleet
from engines import NOON, give, ticking
from graph.checkpoints import Checkpoint, surplus
from graph.engine import Engine
from graph.index.builder import build, edit
from graph.index.file import read_snapshot, write_snapshot
from graph.index.snapshot import Snapshot
from graph.model.change import Change, Changeset, ChangesetHeader, Cursor, net
from graph.model.command import RegisterCluster, UpdateCluster
from graph.model.errors import RevisionExpired, Unavailable
from graph.model.names import Revision
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore
from graph.store.port import Entry
from small import SMALL
from twin import Twin, same_fleet

FORGETFUL = GraphSettings(
    snapshots_kept_max=1,
    snapshots_kept_seconds=0,
    reconstructions_kept_max=1,
    checkpoint_changes_min=8,
    checkpoints_kept_max=5,
)
"""Nothing at hand but the newest, and checkpoints every few changes."""


class Gated(EmbeddedStore):
    """A store whose log is read only while the gate is open; each read is counted."""

    gate: asyncio.Event
    reads: Counter[str]

    async def changeset(self, revision: Revision) -> Changeset:
        await self._pass("changeset")
        return await super().changeset(revision)

    async def changesets(self, *, after: Cursor) -> AsyncGenerator[Changeset]:
        await self._pass("changesets")
        async for changeset in super().changesets(after=after):
            yield changeset

    async def headers(self, last: Revision, count: int) -> list[ChangesetHeader]:
        self.reads["headers"] += 1
        return await super().headers(last, count)

    async def has_change(self, revision: Revision, wanted: Callable[[Change], bool]) -> bool:
        await self._pass("has_change")
        return await super().has_change(revision, wanted)

    async def _pass(self, what: str) -> None:
        await self.gate.wait()
        self.reads[what] += 1


class Traced:
    """A trace that remembers what was begun."""

    def __init__(self) -> None:
        self.begun: list[int | str] = []

    def __call__(self, what: str, /, **facts: str | int) -> nullcontext[None]:
        if what == "reconstruct":
            self.begun.append(facts["revision"])
        return nullcontext()


@pytest.fixture
async def gated(tmp_path: Path) -> AsyncGenerator[Gated]:
    store = await Gated.open(tmp_path / "fleet.db")
    assert isinstance(store, Gated)
    store.gate, store.reads = asyncio.Event(), Counter()
    store.gate.set()
    engine = await Engine.open(store, now=ticking())
    await give(engine, *SMALL)
    for number in range(30):
        await give(engine, UpdateCluster("york-1", title=f"title {number}"))
    yield store
    store.gate.set()
    await store.close()


def title(view: Snapshot) -> str:
    number = view.cluster_number("york-1")
    assert number is not None
    found = view.cluster(number)
    assert found is not None
    return found.title


async def settled() -> None:
    """Let everybody who can go on do so."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_those_who_ask_for_one_revision_wait_for_one_reconstruction(gated: Gated) -> None:
    trace = Traced()
    engine = await Engine.open(gated, trace=trace)
    gated.gate.clear()
    asked = [asyncio.create_task(engine.as_of(Revision(12))) for _ in range(5)]
    await settled()
    gated.gate.set()
    found = await asyncio.gather(*asked)
    assert {id(each) for each in found} == {id(found[0])}
    assert title(found[0]) == "title 10"
    assert trace.begun == [12]
    assert await engine.as_of(Revision(12)) is found[0]
    assert trace.begun == [12], "it is kept"


async def test_a_reconstruction_outlives_those_who_asked_for_it(gated: Gated) -> None:
    trace = Traced()
    engine = await Engine.open(gated, trace=trace)
    gated.gate.clear()
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await engine.as_of(Revision(12))
        await settled()
    gated.gate.set()
    assert title(await engine.as_of(Revision(12))) == "title 10"
    assert trace.begun == [12]


async def test_one_runs_at_a_time_and_who_gives_up_waiting_leaves_nothing_behind(
    gated: Gated,
) -> None:
    trace = Traced()
    engine = await Engine.open(gated, trace=trace)
    gated.gate.clear()
    asked = {each: asyncio.create_task(engine.as_of(Revision(each))) for each in (12, 5, 20)}
    await settled()
    assert trace.begun == [12]
    asked[5].cancel()
    await settled()
    gated.gate.set()
    assert title(await asked[20]) == "title 18"
    assert title(await asked[12]) == "title 10"
    assert trace.begun == [12, 20]


async def test_what_is_kept_is_bounded_in_number_and_in_bytes(gated: Gated) -> None:
    for settings, kept in (
        (GraphSettings(reconstructions_kept_max=2), 2),
        (GraphSettings(reconstructions_kept_bytes=0), 1),
    ):
        engine = await Engine.open(gated, settings=settings)
        for revision in (3, 9, 15, 21):
            await engine.as_of(Revision(revision))
        assert len(engine._timeline._rebuilt) == kept


async def test_a_failed_reconstruction_is_told_to_who_asks_and_tried_again(
    gated: Gated, tmp_path: Path
) -> None:
    engine = await Engine.open(gated, archive=tmp_path / "archive")
    await engine.compact(Revision(10))
    for _ in range(2):
        with pytest.raises(RevisionExpired):
            await engine.as_of(Revision(3))
    assert title(await engine.as_of(Revision(10))) == "title 8"


async def test_closing_stops_a_reconstruction(gated: Gated) -> None:
    engine = await Engine.open(gated)
    gated.gate.clear()
    asked = asyncio.create_task(engine.as_of(Revision(12)))
    await settled()
    await asyncio.wait_for(engine._timeline.close(), 10)
    with pytest.raises(asyncio.CancelledError):
        await asked


async def test_listing_the_log_reads_no_changes(gated: Gated) -> None:
    engine = await Engine.open(gated)
    gated.reads.clear()
    page = await engine.changesets(first=31)
    assert [each.header.change_count for each in page.entries][-2:] == [1, 18]
    assert set(gated.reads) == {"headers"}
    page = await engine.changesets(first=10, actor="nobody")
    assert set(gated.reads) == {"headers"}


# checkpoints


def directory(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


async def opened(store: EmbeddedStore, tmp_path: Path, settings: GraphSettings) -> Engine:
    return await Engine.open(
        store, settings=settings, checkpoints=directory(tmp_path), now=ticking()
    )


def revisions(tmp_path: Path) -> list[int]:
    return sorted(int(path.name[:12]) for path in directory(tmp_path).glob("*.snapshot"))


async def test_whoever_commits_leaves_a_checkpoint_in_time(tmp_path: Path) -> None:
    settings = FORGETFUL.model_copy(update={"checkpoints_kept_max": 100})
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await opened(store, tmp_path, settings)
    sizes: list[int] = []
    for size in (3, 3, 3, 1, 30, 1, 1, 7, 2, 2, 2, 2, 2):
        names = [f"c-{len(sizes)}-{each}" for each in range(size)]
        await give(engine, *(RegisterCluster(name) for name in names))
        sizes.append(size)
    await engine.close()
    found = [0, *revisions(tmp_path), len(sizes)]
    assert len(found) > 4
    for one, other in pairwise(found):
        between = sum(sizes[one:other])
        assert between <= 8 or other == one + 1, (found, one, other)


async def test_short_processes_leave_checkpoints_too(tmp_path: Path) -> None:
    for number in range(12):
        engine = await opened(await EmbeddedStore.open(tmp_path / "fleet.db"), tmp_path, FORGETFUL)
        await give(engine, *(RegisterCluster(f"c-{number}-{each}") for each in range(3)))
        await engine.close()
    assert revisions(tmp_path) == [2, 4, 6, 8, 10]


async def test_no_directory_or_no_files_means_none_are_written(tmp_path: Path) -> None:
    for settings, path in (
        (FORGETFUL, None),
        (FORGETFUL.model_copy(update={"checkpoints_kept_max": 0}), directory(tmp_path)),
    ):
        store = await EmbeddedStore.open(tmp_path / f"{path is None}.db")
        engine = await Engine.open(store, settings=settings, checkpoints=path, now=ticking())
        for number in range(30):
            await give(engine, RegisterCluster(f"c-{number}"))
        assert len((await engine.as_of(Revision(9))).everything()) == 9
        await engine.close()
    assert not directory(tmp_path).exists()


async def test_a_directory_that_cannot_be_written_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory(tmp_path).write_text("in the way")
    engine = await opened(await EmbeddedStore.open(tmp_path / "fleet.db"), tmp_path, FORGETFUL)
    for number in range(30):
        await give(engine, RegisterCluster(f"c-{number}"))
    assert len((await engine.as_of(Revision(9))).everything()) == 9
    await engine.close()
    assert "earlier revisions take longer to read" in caplog.text


async def test_compaction_deletes_what_is_older_than_the_log(tmp_path: Path) -> None:
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await Engine.open(
        store,
        settings=FORGETFUL,
        checkpoints=directory(tmp_path),
        archive=tmp_path / "archive",
        now=ticking(),
    )
    for number in range(30):
        await give(engine, RegisterCluster(f"c-{number}"))
    await engine._checkpoints.close()
    assert revisions(tmp_path) == [8, 16, 24]
    await engine.compact(Revision(16))
    assert revisions(tmp_path) == [16, 24]
    assert len((await engine.as_of(Revision(16))).everything()) == 16
    with pytest.raises(RevisionExpired):
        await engine.as_of(Revision(15))
    await engine.close()


async def test_checkpoints_of_a_history_that_was_replaced_are_not_used(tmp_path: Path) -> None:
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    engine = await opened(store, tmp_path, FORGETFUL)
    for number in range(12):
        await give(engine, RegisterCluster(f"both-{number}"))
    await store.backup(tmp_path / "backup.db")
    for number in range(12):
        await give(engine, RegisterCluster(f"old-{number}"))
    await engine._checkpoints.close()
    assert revisions(tmp_path) == [8, 16]
    await store.restore(tmp_path / "backup.db")
    after = ticking(NOON + timedelta(days=1))
    writer = await Engine.open(
        store, settings=FORGETFUL, checkpoints=directory(tmp_path), now=after
    )
    for number in range(20):
        await give(writer, RegisterCluster(f"new-{number}"))
    for each in (writer, engine):
        for revision in (16, 17, 9):
            then = await each.as_of(Revision(revision))
            names = {then.cluster_name(number) for number in then.everything()}
            assert len(names) == revision
            assert not any(name.startswith("old") for name in names)
    await writer.close()


@pytest.mark.volume
async def test_every_way_to_a_revision_leads_to_the_same_fleet(tmp_path: Path, scale: str) -> None:
    """Random histories, read by processes that come and go over files that may be damaged."""
    for story in range(3 if scale == "test" else 40):
        rng, place = Random(story), tmp_path / str(story)
        place.mkdir()
        store = await EmbeddedStore.open(place / "fleet.db")
        twin, cursor = Twin(), (await store.head()).cursor
        truth = [Snapshot.empty(cursor)]
        changes = net(Change(None, each) for each in random_fleet(rng))
        for _ in range(40):
            entry = Entry(Changeset(Revision(cursor.revision + 1), NOON, "a", "r", changes))
            [receipt] = await store.commit([entry], expected=cursor, now=NOON)
            cursor = receipt.cursor
            twin.apply(changes)
            truth.append(build(twin.entities(), cursor=cursor, numbers=twin.numbers))
            changes = ()
            while not changes:
                changes = net(random_changes(rng, twin, Revision(cursor.revision + 1)))
        for _ in range(4):
            engine = await opened(store, place, FORGETFUL)
            for revision in rng.choices(range(len(truth)), k=10):
                then = await engine.as_of(Revision(revision))
                assert then.cursor == truth[revision].cursor
                difference = same_fleet(then, truth[revision], ignoring=("numbers",))
                assert difference is None, (story, revision, difference)
                assert len(revisions(place)) <= FORGETFUL.checkpoints_kept_max
                damage(rng, directory(place))
            await engine._timeline.close()
        await store.close()


async def test_verify_names_a_checkpoint_that_is_not_what_the_fleet_was(gated: Gated) -> None:
    place = Path(gated.path).parent
    engine = await opened(gated, place, FORGETFUL)
    await engine.as_of(Revision(12))
    files = revisions(place)
    assert len(files) > 1
    found = await engine.verify()
    assert found.whole
    assert found.findings[-1].check == "the checkpoints are what the fleet was"
    assert found.findings[-1].compared == len(files)
    path = next(directory(place).glob(f"{files[0]:012d}-*"))
    wrong = edit(await engine.as_of(Revision(files[0] + 1)))
    write_snapshot(wrong.freeze(read_snapshot(path).cursor), path)
    assert str(path) in (await engine.verify()).findings[-1].difference
    path.write_bytes(b"")
    assert "is not a snapshot file" in (await engine.verify()).findings[-1].difference


def damage(rng: Random, files: Path) -> None:
    """What disks and people do to files."""
    there = sorted(files.glob("*.snapshot"))
    if not there:
        return
    path, other = rng.choice(there), rng.choice(there)
    match rng.randrange(8):
        case 0:
            path.unlink()
        case 1:
            path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size)])
        case 2:
            data = bytearray(path.read_bytes())
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            path.write_bytes(data)
        case 3:
            path.write_bytes(other.read_bytes())
        case 4:
            path.rename(path.with_name(f"{rng.randrange(99):012d}-{'0' * 16}.snapshot"))
        case _:
            pass


def test_of_too_many_files_those_go_whose_neighbours_are_nearest() -> None:
    def file(revision: int, size_bytes: int = 1) -> Checkpoint:
        return Checkpoint(Cursor(Revision(revision), "0" * 16), Path(str(revision)), size_bytes)

    files = [file(each) for each in (10, 20, 21, 40, 50)]
    places = {each.cursor: 50 - each.cursor.revision for each in files}
    places[Cursor(Revision(0), "0" * 16)] = 50

    def left(**bounds: int) -> list[int]:
        gone = surplus(files, places, GraphSettings(**bounds))
        return [each.cursor.revision for each in files if each not in gone]

    assert left() == [10, 20, 21, 40, 50]
    assert left(checkpoints_kept_max=4) == [10, 21, 40, 50]
    assert left(checkpoints_kept_max=3) == [21, 40, 50]
    assert left(checkpoints_kept_bytes=2) == [21, 50]
    assert left(checkpoints_kept_max=1) == [50]
    assert left(checkpoints_kept_bytes=0) == []


async def test_a_store_that_is_away_when_the_log_is_counted_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Away(EmbeddedStore):
        """A store that cannot tell what is in its log."""

        async def headers(self, last: Revision, count: int) -> list[ChangesetHeader]:
            raise Unavailable("the store is away", hint="wait")

    for opener, prefix in ((EmbeddedStore, "before"), (Away, "away")):
        engine = await opened(await opener.open(tmp_path / "fleet.db"), tmp_path, FORGETFUL)
        for number in range(3):
            await give(engine, RegisterCluster(f"{prefix}-{number}"))
        await engine.close()
    assert "no checkpoint was written: the store is away" in caplog.text
