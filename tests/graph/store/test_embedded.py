from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from graph.engine import Engine
from graph.model.change import Cursor
from graph.model.command import Batch, CreateHierarchy
from graph.model.errors import Conflict, Denied, Invalid, NotFound, ResyncRequired, Unavailable
from graph.model.names import Revision
from graph.model.ref import Ref
from graph.store.embedded import EmbeddedStore
from graph.store.port import Claim, Entry
from graph.store.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION
from graph.store.sqlite import SQLITE_VERSION, SQLITE_VERSION_MIN, check_version
from history import BUSINESS, FULL_CLUSTER, History, at, by_ref, cluster, exact, replay


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "fleet.db"


@pytest.fixture
async def history(path: Path) -> AsyncIterator[History]:
    """A store with four revisions, open for writing."""
    store = await EmbeddedStore.open(path)
    history = await History.of(store)
    await history.put(*BUSINESS)
    for number in range(3):
        await history.put(cluster(number), claim=Claim("ann", f"k-{number}", "d"))
    yield history
    await store.close()


def embedded(history: History) -> EmbeddedStore:
    assert isinstance(history.store, EmbeddedStore)
    return history.store


def read(path: Path) -> bytes:
    return path.read_bytes()


def write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def content(directory: Path) -> dict[str, bytes]:
    """Every file, to see that nothing was touched."""
    return {each.name: each.read_bytes() for each in sorted(directory.iterdir())}


async def refused(path: Path, error: type[Exception], match: str, *, write: bool = True) -> None:
    with pytest.raises(error, match=match):
        await EmbeddedStore.open(path, write=write)


class TestOpening:
    async def test_a_new_store_is_made_where_no_file_is(self, path: Path) -> None:
        store = await EmbeddedStore.open(path)
        await store.close()
        assert sorted(content(path.parent)) == ["fleet.db", "fleet.db.lock"]

    async def test_a_store_is_not_made_unasked(self, path: Path) -> None:
        with pytest.raises(NotFound, match="no store"):
            await EmbeddedStore.open(path, create=False)
        await refused(path, NotFound, "no store", write=False)
        assert content(path.parent) == {}

    async def test_a_store_needs_its_directory(self, path: Path) -> None:
        await refused(path / "deeper" / "fleet.db", NotFound, "not a directory")

    async def test_the_version_of_sqlite_is_shown_and_safe(self, history: History) -> None:
        assert embedded(history).sqlite_version == SQLITE_VERSION == apsw.sqlite_lib_version()

    @pytest.mark.parametrize("version", ["3.7.0", "3.40.1", "3.51.2"])
    def test_a_sqlite_that_can_damage_a_file_is_refused(self, version: str) -> None:
        with pytest.raises(Unavailable, match=r"3\.51\.3 or newer"):
            check_version(version)

    def test_the_oldest_safe_sqlite_is_accepted(self) -> None:
        check_version(".".join(map(str, SQLITE_VERSION_MIN)))
        check_version("3.100.0")

    async def test_text_is_no_store(self, path: Path) -> None:
        write(path, b"not a database, but long enough to have a header" * 10)
        before = content(path.parent)
        await refused(path, Invalid, "is not a store")
        await refused(path, Invalid, "is not a store", write=False)
        assert content(path.parent) == before

    async def test_an_empty_file_is_no_store(self, path: Path) -> None:
        write(path, b"")
        await refused(path, Invalid, "is empty")
        assert content(path.parent) == {"fleet.db": b""}

    async def test_a_database_of_another_program_is_left_alone(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA journal_mode = WAL")
            other.execute("CREATE TABLE meta (id)")
            other.commit()
        before = content(path.parent)
        await refused(path, Invalid, "another program")
        await refused(path, Invalid, "another program", write=False)
        assert content(path.parent) == before

    async def test_the_log_of_a_lost_file_is_not_taken_for_a_new_store(self, path: Path) -> None:
        path.with_name("fleet.db-wal").write_bytes(b"what is left")
        await refused(path, Invalid, "fleet.db-wal is there")
        assert "fleet.db" not in content(path.parent)

    async def test_what_a_killed_creation_left_is_no_obstacle(self, path: Path) -> None:
        path.with_name("fleet.db.new").write_bytes(b"half a store")
        store = await EmbeddedStore.open(path)
        await store.close()
        assert "fleet.db.new" not in content(path.parent)

    async def test_a_damaged_file_is_said_to_be_damaged(self, history: History, path: Path) -> None:
        await history.put(*(cluster(number) for number in range(10, 2_000)))
        await history.store.close()
        data = bytearray(read(path))
        for page in range(1, len(data) // 4096):
            data[page * 4096 : page * 4096 + 512] = os.urandom(512)
        write(path, bytes(data))
        with pytest.raises(Invalid, match="damaged"):
            store = await EmbeddedStore.open(path)
            try:
                await store.load()
            finally:
                await store.close()

    async def test_receipts_are_kept_for_as_many_days_as_it_was_told(self, path: Path) -> None:
        store = await EmbeddedStore.open(path, receipts_kept_days=2)
        claim = Claim("ann", "k", "d")
        made = at(0)
        head = (await store.head()).cursor
        await store.commit([Entry(None, claim)], expected=head, now=made)
        for days, kept in ((2, True), (3, False)):
            other = Entry(None, Claim("ann", f"after-{days}", "d"))
            await store.commit([other], expected=head, now=made + timedelta(days=days))
            assert (await store.kept("ann", "k") is not None) is kept
        await store.close()

    async def test_a_closed_store_says_so(self, history: History) -> None:
        await history.store.close()
        await history.store.close()
        with pytest.raises(Unavailable, match="closed"):
            await history.store.head()
        with pytest.raises(Unavailable, match="closed"):
            await history.put(cluster(9))

    async def test_what_cannot_be_read_is_unavailable(self, path: Path) -> None:
        (path.parent / "fleet.db").mkdir()
        await refused(path, Unavailable, "cannot be opened")
        await refused(path, Unavailable, "cannot be opened", write=False)


class TestOneWriter:
    async def test_a_second_writer_in_this_process_is_refused(
        self, history: History, path: Path
    ) -> None:
        await refused(path, Conflict, f"in process {os.getpid()}")
        await history.put(cluster(9))

    async def test_a_second_writer_in_another_process_is_refused(
        self, history: History, path: Path
    ) -> None:
        script = (
            "import asyncio, sys, pathlib\n"
            "from graph.store.embedded import EmbeddedStore\n"
            "asyncio.run(EmbeddedStore.open(pathlib.Path(sys.argv[1])))\n"
        )
        child = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", script, str(path)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert child.returncode != 0
        assert f"open for writing in process {os.getpid()}" in child.stderr
        assert "a store has one writer" in child.stderr

    async def test_a_link_is_no_way_around_the_lock(self, history: History, path: Path) -> None:
        link = path.with_name("link.db")
        link.symlink_to(path)
        await refused(link, Conflict, "open for writing")
        await history.put(cluster(9))

    async def test_the_next_writer_may_enter_when_the_first_has_left(
        self, history: History, path: Path
    ) -> None:
        await history.store.close()
        store = await EmbeddedStore.open(path)
        assert (await store.head()).cursor == history.cursor
        await store.close()

    async def test_a_reader_beside_the_writer_sees_its_commits(
        self, history: History, path: Path
    ) -> None:
        reader = await EmbeddedStore.open(path, write=False)
        for number in range(10, 20):
            receipt = await history.put(cluster(number))
            assert (await reader.head()).cursor == receipt.cursor
        assert exact(by_ref((await reader.load()).entities)) == exact(history.facts)
        await reader.close()

    async def test_a_reader_cannot_write(self, history: History, path: Path) -> None:
        reader = await EmbeddedStore.open(path, write=False)
        for attempt in (
            reader.commit([], expected=history.cursor, now=at(9)),
            reader.drop(history.cursor),
            reader.restore(path),
        ):
            with pytest.raises(Denied, match="open for reading only"):
                await attempt
        await reader.close()

    async def test_an_engine_over_a_reader_is_refused_at_once(
        self, history: History, path: Path
    ) -> None:
        engine = await Engine.open(await EmbeddedStore.open(path, write=False))
        batch = Batch((CreateHierarchy("new"),), "ana", "try")
        with pytest.raises(Denied, match="open for reading only"):
            await engine.execute(batch)
        await engine.close()

    async def test_readers_without_a_writer_read_what_a_killed_one_left(
        self, history: History, path: Path, tmp_path: Path
    ) -> None:
        left = tmp_path / "left"
        left.mkdir()
        for name in ("fleet.db", "fleet.db-wal"):
            shutil.copy(path.with_name(name), left / name)
        reader = await EmbeddedStore.open(left / "fleet.db", write=False)
        assert (await reader.head()).cursor == history.cursor
        await reader.close()


class TestTheLog:
    async def test_the_write_ahead_log_stays_bounded(self, path: Path) -> None:
        store = await EmbeddedStore.open(path, checkpoint_pages=100)
        reader = await EmbeddedStore.open(path, write=False)
        history = await History.of(store)
        await history.put(*BUSINESS)
        sizes: dict[str, int] = {}
        largest = 0
        for step in range(30):
            await history.put(*(cluster(number, f"step {step}") for number in range(1_000)))
            await reader.head()
            sizes = {name: len(data) for name, data in content(path.parent).items()}
            largest = max(largest, sizes["fleet.db-wal"])
        await reader.close()
        await store.close()
        assert sizes["fleet.db"] > 6_000_000
        assert largest < 2_000_000

    async def test_a_commit_goes_on_while_a_reader_is_busy(
        self, history: History, path: Path
    ) -> None:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as slow:
            slow.execute("BEGIN")
            before = slow.execute("SELECT revision FROM meta").fetchone()
            for number in range(10, 30):
                await history.put(cluster(number))
            assert slow.execute("SELECT revision FROM meta").fetchone() == before


UNDONE = """
DROP INDEX changesets_by_time; DROP INDEX receipts_by_time; DROP TABLE publications;
DROP TABLE headers
"""
"""Takes back what came after the first schema version."""


class TestMigration:
    @pytest.fixture
    async def older(self, history: History, path: Path) -> Path:
        """A file as the first schema version left it."""
        await history.store.close()
        with closing(apsw.Connection(str(path))) as file:
            file.execute(UNDONE)
            file.pragma("user_version", 1)
        return path

    async def test_an_older_file_is_brought_up_to_date(self, history: History, older: Path) -> None:
        store = await EmbeddedStore.open(older)
        assert (await store.head()).cursor == history.cursor
        assert exact(by_ref((await store.load()).entities)) == exact(history.facts)
        assert await store.revision_at(at(2)) == 2
        for header in await store.headers(history.cursor.revision, 100):
            assert header == (await store.changeset(header.revision)).header
        await store.close()
        with closing(apsw.Connection(str(older))) as file:
            assert file.pragma("user_version") == SCHEMA_VERSION
            indexes = file.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")
            assert {"changesets_by_time", "receipts_by_time"} <= {name for (name,) in indexes}

    async def test_a_migrated_file_has_the_schema_of_a_new_one(
        self, older: Path, tmp_path: Path
    ) -> None:
        schemas: list[list[tuple[object, ...]]] = []
        for path in (older, tmp_path / "new.db"):
            await (await EmbeddedStore.open(path)).close()
            with closing(apsw.Connection(str(path))) as file:
                rows = file.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
                schemas.append(sorted(rows, key=str))
        assert schemas[0] == schemas[1]

    async def test_a_migration_that_fails_changes_nothing(self, older: Path) -> None:
        with closing(apsw.Connection(str(older))) as file:
            file.execute("CREATE TABLE receipts_by_time (in_the_way)")
        with pytest.raises(Unavailable):
            await EmbeddedStore.open(older)
        with closing(apsw.Connection(str(older))) as file:
            assert file.pragma("user_version") == 1
            found = file.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")
            assert "changesets_by_time" not in {name for (name,) in found}

    async def test_a_reader_asks_for_a_writer_to_migrate(self, older: Path) -> None:
        await refused(older, Conflict, "older schema version 1", write=False)

    async def test_a_newer_file_is_refused_and_left_alone(
        self, history: History, path: Path
    ) -> None:
        await history.store.close()
        with closing(apsw.Connection(str(path))) as file:
            file.pragma("user_version", SCHEMA_VERSION + 1)
        before = content(path.parent)
        await refused(path, Conflict, f"schema version {SCHEMA_VERSION + 1}")
        await refused(path, Conflict, "upgrade trellis", write=False)
        after = content(path.parent)
        for name in ("fleet.db-shm", "fleet.db-wal"):
            after.pop(name, None)
        assert after == before

    def test_the_version_is_the_number_of_migrations(self) -> None:
        assert len(MIGRATIONS) == SCHEMA_VERSION


class TestBackup:
    async def test_a_backup_is_a_store_with_the_same_record(
        self, history: History, tmp_path: Path
    ) -> None:
        steps: list[tuple[int, int]] = []
        copy = tmp_path / "copy.db"
        await embedded(history).backup(copy, progress=lambda done, of: steps.append((done, of)))
        assert steps[-1][0] == steps[-1][1] > 0
        assert not [name for name in content(tmp_path) if name.startswith("copy.db.")]
        store = await EmbeddedStore.open(copy)
        assert await store.head() == await history.store.head()
        assert exact(by_ref((await store.load()).entities)) == exact(history.facts)
        assert await store.kept("ann", "k-1") == await history.store.kept("ann", "k-1")
        await store.close()

    async def test_a_backup_with_a_commit_at_every_step_is_of_one_moment(
        self, history: History, tmp_path: Path
    ) -> None:
        await history.put(*(cluster(number) for number in range(100, 10_000)))
        loop = asyncio.get_running_loop()
        moment = history.cursor
        steps: list[int] = []

        def commit_meanwhile(done: int, total: int) -> None:
            assert done > (steps[-1] if steps else 0), "the backup began again"
            steps.append(done)
            commit = history.put(cluster(len(steps), "meanwhile"))
            asyncio.run_coroutine_threadsafe(commit, loop).result(30)

        await embedded(history).backup(tmp_path / "copy.db", progress=commit_meanwhile)
        assert len(steps) > 2
        assert history.cursor.revision == moment.revision + len(steps)
        store = await EmbeddedStore.open(tmp_path / "copy.db")
        facts = await store.load()
        assert facts.head.cursor == moment
        assert exact(by_ref(facts.entities)) == exact(
            await replay(store.changesets(after=facts.head.horizon))
        )
        await store.close()

    async def test_a_backup_never_overwrites(self, history: History, tmp_path: Path) -> None:
        taken = tmp_path / "taken.db"
        taken.write_text("precious")
        with pytest.raises(Conflict, match="exists already"):
            await embedded(history).backup(taken)
        assert taken.read_text() == "precious"

    async def test_a_backup_needs_its_directory(self, history: History, tmp_path: Path) -> None:
        with pytest.raises(NotFound, match="not a directory"):
            await embedded(history).backup(tmp_path / "missing" / "copy.db")

    async def test_a_store_with_a_broken_chain_has_no_backup(
        self, history: History, path: Path, tmp_path: Path
    ) -> None:
        with closing(apsw.Connection(str(path))) as file:
            file.execute(
                "UPDATE changesets SET actor = actor, body = ? WHERE revision = 3", (b"{}",)
            )
        with pytest.raises(Invalid, match="broken at revision 3"):
            await embedded(history).backup(tmp_path / "copy.db")
        assert not [name for name in content(tmp_path) if name.startswith("copy")]


class TestRestore:
    @pytest.fixture
    async def backup(self, history: History, tmp_path: Path) -> Path:
        """A backup of revision 4, after which the record went on to 6."""
        await embedded(history).backup(tmp_path / "backup.db")
        await history.put(cluster(9), claim=Claim("ann", "later", "d"))
        await history.put(FULL_CLUSTER)
        return tmp_path / "backup.db"

    async def test_the_record_becomes_the_backups(
        self, history: History, path: Path, backup: Path
    ) -> None:
        reader = await EmbeddedStore.open(path, write=False)
        later = history.cursor
        head = await embedded(history).restore(backup)
        assert head.cursor.revision == 4
        assert await reader.head() == await history.store.head() == head
        assert await reader.kept("ann", "later") is None
        again = await History.of(history.store)
        assert (await again.put(cluster(70))).revision == 5
        await again.put(cluster(71))
        with pytest.raises(ResyncRequired):
            await anext(aiter(reader.changesets(after=later)))
        await reader.close()
        await history.store.close()
        store = await EmbeddedStore.open(path)
        assert exact(by_ref((await store.load()).entities)) == exact(again.facts)
        await store.close()

    async def test_a_name_the_file_system_refuses_is_unavailable(
        self, history: History, tmp_path: Path
    ) -> None:
        store = embedded(history)
        for length in (300, 250):  # too long; too long with what a draft adds to it
            name = tmp_path / ("x" * length)
            with pytest.raises(Unavailable, match="xxx"):
                await store.backup(name)
        with pytest.raises(Unavailable, match="cannot be read or written"):
            await store.restore(tmp_path / ("x" * 300))
        await self.still_there(history)

    async def test_a_restore_leaves_nothing_beside_the_store(
        self, history: History, tmp_path: Path, backup: Path
    ) -> None:
        before = set(content(tmp_path))
        await embedded(history).restore(backup)
        assert set(content(tmp_path)) == before

    async def test_a_backup_of_an_older_version_is_migrated(
        self, history: History, backup: Path
    ) -> None:
        with closing(apsw.Connection(str(backup))) as file:
            file.execute(UNDONE)
            file.pragma("user_version", 1)
        before = read(backup)
        assert (await embedded(history).restore(backup)).cursor.revision == 4
        assert await history.store.revision_at(at(2)) == 2
        assert read(backup) == before

    async def still_there(self, history: History) -> None:
        assert (await history.store.head()).cursor == history.cursor
        assert exact(by_ref((await history.store.load()).entities)) == exact(history.facts)
        await history.put(cluster(80))

    @pytest.mark.parametrize("share", [0.0, 0.001, 0.2, 0.5, 0.9, 0.999])
    async def test_a_truncated_backup_is_refused(
        self, history: History, backup: Path, share: float
    ) -> None:
        data = read(backup)
        write(backup, data[: int(len(data) * share)])
        with pytest.raises(Invalid):
            await embedded(history).restore(backup)
        await self.still_there(history)

    async def test_a_backup_with_a_flipped_byte_in_its_history_is_refused(
        self, history: History, backup: Path
    ) -> None:
        data = read(backup)
        place = data.index(b'"reason":"because"')
        write(backup, data[:place] + b'"reason":"becauze"' + data[place + 18 :])
        with pytest.raises(Invalid, match="broken at revision"):
            await embedded(history).restore(backup)
        await self.still_there(history)

    @pytest.mark.parametrize(
        "edit",
        [
            "DELETE FROM changesets WHERE revision = 2",
            "DELETE FROM changesets WHERE revision = 4",
            "UPDATE changesets SET revision = 9 WHERE revision = 4",
            "UPDATE meta SET chain = horizon_chain",
            "UPDATE meta SET horizon = 1",
        ],
    )
    async def test_an_edited_backup_is_refused(
        self, history: History, backup: Path, edit: str
    ) -> None:
        with closing(apsw.Connection(str(backup))) as file:
            file.execute(edit)
        with pytest.raises(Invalid, match="broken at revision"):
            await embedded(history).restore(backup)
        await self.still_there(history)

    async def test_a_foreign_file_is_refused(self, history: History, tmp_path: Path) -> None:
        foreign = tmp_path / "foreign.db"
        with closing(sqlite3.connect(foreign)) as other:
            other.execute("CREATE TABLE meta (id)")
            other.commit()
        with pytest.raises(Invalid, match="another program"):
            await embedded(history).restore(foreign)
        (tmp_path / "text.db").write_text("text")
        with pytest.raises(Invalid, match="not a store"):
            await embedded(history).restore(tmp_path / "text.db")
        await self.still_there(history)

    async def test_a_file_with_our_mark_and_nothing_else_is_refused(
        self, history: History, tmp_path: Path
    ) -> None:
        with closing(apsw.Connection(str(tmp_path / "bare.db"))) as bare:
            bare.pragma("application_id", APPLICATION_ID)
            bare.pragma("user_version", SCHEMA_VERSION)
            bare.execute("CREATE TABLE t (x)")
        with pytest.raises((Invalid, Unavailable)):
            await embedded(history).restore(tmp_path / "bare.db")
        await self.still_there(history)

    async def test_a_newer_backup_is_refused(self, history: History, backup: Path) -> None:
        with closing(apsw.Connection(str(backup))) as file:
            file.pragma("user_version", SCHEMA_VERSION + 1)
        with pytest.raises(Conflict, match="upgrade trellis"):
            await embedded(history).restore(backup)
        await self.still_there(history)

    async def test_the_store_is_no_backup_of_itself(self, history: History, path: Path) -> None:
        with pytest.raises(Invalid, match="the store itself"):
            await embedded(history).restore(path)
        with pytest.raises(NotFound, match="not a file"):
            await embedded(history).restore(path.with_name("missing.db"))
        await self.still_there(history)

    async def test_a_reader_sees_the_old_record_or_the_new_one(
        self, history: History, path: Path, backup: Path
    ) -> None:
        reader = await EmbeddedStore.open(path, write=False)
        records = [exact(by_ref((await reader.load()).entities))]
        seen: list[dict[Ref, bytes]] = []
        done = False

        async def look() -> None:
            while not done:
                seen.append(exact(by_ref((await reader.load()).entities)))

        async def restore() -> None:
            nonlocal done
            try:
                await embedded(history).restore(backup)
            finally:
                done = True

        async with asyncio.timeout(60):
            await asyncio.gather(look(), restore())
        records.append(exact(by_ref((await reader.load()).entities)))
        assert records[0] != records[1]
        assert len(seen) > 1
        assert all(each in records for each in seen)
        await reader.close()


async def test_a_cancelled_commit_leaves_the_store_usable(history: History) -> None:
    commit = asyncio.ensure_future(
        history.store.commit(
            [Entry(history.changeset(cluster(9)))], expected=history.cursor, now=at(9)
        )
    )
    await asyncio.sleep(0)
    commit.cancel()
    with pytest.raises(asyncio.CancelledError):
        await commit
    # It may still be under way: whoever gave up on it decides again from the head, as ever.
    while True:
        again = await History.of(history.store)
        try:
            receipt = await again.put(cluster(10))
        except Conflict:
            continue
        break
    assert receipt.revision in (5, 6)


async def test_a_cursor_of_revision_zero_is_the_stores_own(history: History) -> None:
    head = await history.store.head()
    assert head.horizon == Cursor(Revision(0), head.horizon_chain[:16])
