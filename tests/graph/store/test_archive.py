from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from graph.model.access import Role
from graph.model.change import Changeset, Cursor
from graph.model.errors import Conflict, Invalid, RevisionExpired
from graph.model.names import Revision
from graph.record import Record
from graph.store.archive import archives, read_archive, write_archive
from graph.store.embedded import EmbeddedStore
from history import BUSINESS, GRANTS, History, cluster


@pytest.fixture
async def history(tmp_path: Path) -> AsyncIterator[History]:
    """Seven revisions."""
    store = await EmbeddedStore.open(tmp_path / "fleet.db")
    history = await History.of(store)
    await history.put(*BUSINESS)
    for number in range(6):
        # A grant comes, changes and goes with the clusters.
        grant = replace(GRANTS[0], role=list(Role)[number % 4])
        await history.put(
            cluster(number, "café"),
            *([] if number == 3 else [grant]),
            gone=[grant] if number == 3 else [],
        )
    yield history
    await store.close()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    directory = tmp_path / "archive"
    directory.mkdir()
    return directory


def files(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir())


async def log(history: History) -> list[Changeset]:
    head = await history.store.head()
    return [changeset async for changeset in history.store.changesets(after=head.horizon)]


async def compact(history: History, directory: Path, until: int) -> Path:
    """What an engine does: archive, then drop."""
    store, head = history.store, await history.store.head()
    cursor = (await store.changeset(Revision(until))).cursor
    path = await write_archive(
        directory,
        store.changesets(after=head.horizon),
        after=head.horizon.revision,
        chain=head.horizon_chain,
        until=cursor,
    )
    await store.drop(cursor)
    return path


async def test_an_archive_gives_back_what_was_dropped(history: History, directory: Path) -> None:
    before = await log(history)
    path = await compact(history, directory, 4)
    assert list(read_archive(path)) == before[:4]
    assert await log(history) == before[4:]
    assert path.name == f"changesets-000000000001-000000000004-{before[3].cursor.chain}.jsonl.gz"
    assert files(directory) == [path.name]


async def test_archives_and_log_together_are_the_whole_history(
    history: History, directory: Path
) -> None:
    before = await log(history)
    for until in (2, 3, 6):
        await compact(history, directory, until)
    horizon = (await history.store.head()).horizon
    found = archives(directory, horizon)
    assert [(each.after, each.until.revision) for each in found] == [(0, 2), (2, 3), (3, 6)]
    kept = [changeset for each in found for changeset in read_archive(each.path)]
    assert kept + await log(history) == before
    assert found[-1].until == horizon


async def test_a_record_reads_on_in_the_archive(history: History, directory: Path) -> None:
    before = await log(history)
    record = Record(history.store, directory)
    for until in (2, 3, 6):
        await compact(history, directory, until)
    for changeset in before:
        assert await record.changeset(changeset.revision) == changeset
    with pytest.raises(RevisionExpired):
        await Record(history.store, None).changeset(Revision(2))


async def test_a_long_log_is_archived_in_files_of_a_bounded_size(
    history: History, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.record.CHANGESETS_A_FILE", 2)
    before = await log(history)
    record = Record(history.store, directory)
    paths = await asyncio.gather(record.compact(Revision(5)), record.compact(Revision(5)))
    assert [len(each) for each in paths] == [3, 0]
    horizon = (await history.store.head()).horizon
    stretches = [(each.after, each.until.revision) for each in archives(directory, horizon)]
    assert stretches == [(0, 2), (2, 4), (4, 5)]
    assert [await record.changeset(each.revision) for each in before] == before


async def test_the_directory_is_made_when_it_is_first_needed(
    history: History, tmp_path: Path
) -> None:
    path = await compact(history, tmp_path / "first", 2)
    assert files(path.parent) == [path.name]


async def test_an_interrupted_compaction_can_be_repeated(history: History, directory: Path) -> None:
    head = await history.store.head()
    until = (await history.store.changeset(Revision(4))).cursor

    async def write(cursor: Cursor) -> Path:
        return await write_archive(
            directory,
            history.store.changesets(after=head.horizon),
            after=head.horizon.revision,
            chain=head.horizon_chain,
            until=cursor,
        )

    first = await write(until)
    content = first.read_bytes()
    assert await write(until) == first
    assert first.read_bytes() == content
    longer = await write((await history.store.changeset(Revision(5))).cursor)
    ends = (await history.store.changeset(Revision(5))).cursor
    assert [each.path for each in archives(directory, ends)] == [longer]


async def test_another_file_under_an_archives_name_is_never_overwritten(
    history: History, directory: Path
) -> None:
    cursor = (await history.store.changeset(Revision(4))).cursor
    path = directory / f"changesets-000000000001-000000000004-{cursor.chain}.jsonl.gz"
    path.write_bytes(
        gzip.compress(b'{"after":0,"chain":"aa","format":1,"until":"4.0123456789abcdef"}\n')
    )
    content = path.read_bytes()
    with pytest.raises(Conflict, match="another history"):
        await compact(history, directory, 4)
    assert path.read_bytes() == content
    assert (await history.store.head()).horizon.revision == 0


async def test_a_log_that_does_not_reach_the_mark_is_not_archived(
    history: History, directory: Path
) -> None:
    head = await history.store.head()
    for until in (Cursor(Revision(9), head.cursor.chain), Cursor(Revision(3), head.cursor.chain)):
        with pytest.raises(Invalid, match="does not lead"):
            await write_archive(
                directory,
                history.store.changesets(after=head.horizon),
                after=head.horizon.revision,
                chain=head.horizon_chain,
                until=until,
            )
    assert files(directory) == []


async def test_a_broken_chain_is_not_archived(history: History, directory: Path) -> None:
    head = await history.store.head()
    with pytest.raises(Invalid, match="broken at revision 1"):
        await write_archive(
            directory,
            history.store.changesets(after=head.horizon),
            after=Revision(0),
            chain="0" * 64,
            until=head.cursor,
        )
    assert files(directory) == []


async def test_a_truncated_archive_names_the_revision(history: History, directory: Path) -> None:
    path = await compact(history, directory, 6)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(Invalid, match=r"is broken at revision [1-7]\nhint"):
            list(read_archive(path))


async def test_an_archive_cut_at_a_line_is_noticed(history: History, directory: Path) -> None:
    path = await compact(history, directory, 6)
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:-2])))
    with pytest.raises(Invalid, match="broken at revision 5"):
        list(read_archive(path))


@pytest.mark.parametrize("position", range(1, 7))
async def test_an_edited_line_is_noticed_and_named(
    history: History, directory: Path, position: int
) -> None:
    path = await compact(history, directory, 6)
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    lines[position] = lines[position].replace(b'"actor":"ann"', b'"actor":"bob"')
    path.write_bytes(gzip.compress(b"".join(lines)))
    seen: list[int] = []
    with pytest.raises(Invalid, match=f"broken at revision {position}"):
        seen.extend(changeset.revision for changeset in read_archive(path))


async def test_swapped_and_missing_lines_are_noticed(history: History, directory: Path) -> None:
    path = await compact(history, directory, 6)
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    for changed in (
        [*lines[:2], lines[3], lines[2], *lines[4:]],
        [*lines[:2], *lines[3:]],
        [*lines[:3], lines[2], *lines[3:]],
    ):
        path.write_bytes(gzip.compress(b"".join(changed)))
        with pytest.raises(Invalid, match="broken at revision"):
            list(read_archive(path))


async def test_a_missing_archive_between_two_is_noticed(history: History, directory: Path) -> None:
    paths = [await compact(history, directory, until) for until in (2, 3, 6)]
    paths[1].unlink()
    with pytest.raises(Invalid, match="no archive that ends at revision 3"):
        archives(directory, (await history.store.head()).horizon)


def test_a_file_that_is_no_archive_is_refused(directory: Path) -> None:
    for content in (b"", b"text", gzip.compress(b"text\n"), gzip.compress(b'{"format":2}\n')):
        (directory / "x.jsonl.gz").write_bytes(content)
        with pytest.raises(Invalid):
            archives(directory, Cursor(Revision(1), "0" * 16))
