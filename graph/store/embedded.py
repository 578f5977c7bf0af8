"""The embedded store: one SQLite file, no server.

A write-ahead log synced at every commit keeps S5; one transaction for a whole group of entries
keeps S1 and makes the sync cheap; a lock beside the file keeps it to one writer. Any number of
readers, in this process or others, see its commits as they happen and never wait for them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from graph.model.change import Change, Changeset, ChangesetHeader, Cursor, Receipt, Relation
from graph.model.errors import Conflict, Denied, NotFound, OutcomeUnknown, Unavailable
from graph.model.names import Revision
from graph.model.publication import Publication
from graph.store.copying import PageProgress, back_up, restore, restore_draft
from graph.store.files import discard
from graph.store.lock import WriterLock
from graph.store.port import RECEIPTS_KEPT_DAYS, Entry, Facts, Head, Kept
from graph.store.publications import (
    forget_publication,
    keep_publication,
    read_publications,
)
from graph.store.record import (
    commit_entries,
    drop_changesets,
    find_change,
    find_kept,
    find_relation,
    find_revision,
    load_facts,
    read_after,
    read_changeset,
    read_headers,
    read_meta,
)
from graph.store.schema import SCHEMA_VERSION, check_mark, create_file, migrate, version_of
from graph.store.sqlite import (
    CHECKPOINT_PAGES,
    SQLITE_VERSION,
    Lane,
    connect_reader,
    connect_writer,
)


class EmbeddedStore:
    """A record in one file. Made by ``open``."""

    sqlite_version = SQLITE_VERSION

    def __init__(self, path: Path, lock: WriterLock | None, receipts_kept_days: int) -> None:
        self.path = path
        self._reader = Lane(path, "store-reader")
        self._writer = Lane(path, "store-writer")
        self._lock = lock
        self._writes = lock is not None
        self._receipts_kept_days = receipts_kept_days

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        write: bool = True,
        create: bool = True,
        checkpoint_pages: int = CHECKPOINT_PAGES,
        receipts_kept_days: int = RECEIPTS_KEPT_DAYS,
    ) -> EmbeddedStore:
        """Open the store at ``path``: for writing if nobody else does, or for reading.

        A writer makes a missing file, unless ``create`` is false, and migrates an older one.
        """
        path, lock = await asyncio.to_thread(_prepare, path, write=write, create=create)
        store = cls(path, lock, receipts_kept_days)
        try:
            await store._connect(write=write, checkpoint_pages=checkpoint_pages)
        except BaseException:
            await store.close()
            raise
        return store

    async def _connect(self, *, write: bool, checkpoint_pages: int) -> None:
        await self._reader.open(partial(connect_reader, self.path))
        version = await self._reader.run(lambda connection: version_of(connection, self.path))
        if write:
            await self._writer.open(
                partial(connect_writer, self.path, checkpoint_pages=checkpoint_pages)
            )
            await self._writer.run(migrate)
        elif version < SCHEMA_VERSION:
            raise Conflict(
                f"{self.path} has the older schema version {version:,}",
                hint="open it for writing once, which brings it up to date",
            )

    def check_available(self) -> None:
        """A file is never known to be out of reach: each use of it tells."""

    async def head(self) -> Head:
        """Where the record stands now."""
        return (await self._reader.run(read_meta)).head

    async def load(self) -> Facts:
        """Every fact, read at one revision."""
        return await self._reader.run(load_facts)

    async def commit(
        self, entries: Sequence[Entry], *, expected: Cursor, now: datetime
    ) -> tuple[Receipt, ...]:
        """Write ``entries`` in one transaction, synced once."""
        work = partial(
            commit_entries,
            entries=entries,
            expected=expected,
            now=now,
            receipts_kept_days=self._receipts_kept_days,
        )
        try:
            return await self._writing().run(work)
        except Unavailable as error:  # a sync that failed does not tell what is on the disk
            raise OutcomeUnknown(error.message, hint=error.hint) from error

    async def kept(self, actor: str, key: str) -> Kept | None:
        """The receipt first given for an actor's idempotency key."""
        return await self._reader.run(partial(find_kept, actor=actor, key=key))

    async def changeset(self, revision: Revision) -> Changeset:
        """One changeset; ``RevisionExpired`` up to the horizon, ``NotFound`` past the head."""
        return await self._reader.run(partial(read_changeset, revision=revision))

    async def headers(self, last: Revision, count: int) -> list[ChangesetHeader]:
        """The ``count`` headers that end with ``last``, oldest first; fewer at the horizon."""
        return await self._reader.run(partial(read_headers, last=last, count=count))

    async def has_change(self, revision: Revision, wanted: Callable[[Change], bool]) -> bool:
        """Whether a changeset holds a change that is ``wanted``."""
        return await self._reader.run(partial(find_change, revision=revision, wanted=wanted))

    async def changesets(self, *, after: Cursor) -> AsyncIterator[Changeset]:
        """Changesets after ``after``, a bounded read at a time, each checked against the last."""
        while found := await self._reader.run(partial(read_after, cursor=after)):
            for changeset in found:
                yield changeset
            after = found[-1].cursor

    async def identity(self) -> str:
        """What stands for this store in cursors."""
        return (await self._reader.run(read_meta)).store

    async def relation(self, cursor: Cursor) -> Relation:
        """How ``cursor`` relates to this history."""
        return await self._reader.run(partial(find_relation, cursor=cursor))

    async def revision_at(self, moment: datetime) -> Revision:
        """The last revision made at or before ``moment``; ``RevisionExpired`` below the horizon."""
        return await self._reader.run(partial(find_revision, moment=moment))

    async def drop(self, until: Cursor) -> None:
        """Forget changesets up to and including ``until``, which becomes the horizon."""
        await self._writing().run(partial(drop_changesets, until=until))

    async def keep_publication(self, publication: Publication) -> Publication:
        """Keep what a worker reports; what is then kept under its name."""
        return await self._writing().run(partial(keep_publication, publication=publication))

    async def forget_publication(self, name: str) -> bool:
        """Forget the report of a name; whether there was one."""
        return await self._writing().run(partial(forget_publication, name=name))

    async def publications(self) -> tuple[Publication, ...]:
        """The last report of every name, by name."""
        return await self._reader.run(read_publications)

    async def backup(self, destination: Path, *, progress: PageProgress | None = None) -> None:
        """Write a checked copy of the record to ``destination`` while commits go on."""
        await asyncio.to_thread(back_up, self.path, destination, progress)

    async def restore(self, source: Path, *, progress: PageProgress | None = None) -> Head:
        """Become the record in the backup ``source``, or refuse it and stay as it is."""
        work = partial(restore, path=self.path, source=source, progress=progress)
        await self._writing().run(work)
        return await self.head()

    async def close(self) -> None:
        """Let go of the file; everything committed stays."""
        lock, self._lock = self._lock, None
        try:
            await self._reader.close()
            await self._writer.close()
        finally:
            _release(lock)

    def _writing(self) -> Lane:
        if not self._writes:
            raise Denied(f"{self.path} is open for reading only", hint="open the store for writing")
        return self._writer


def _prepare(path: Path, *, write: bool, create: bool) -> tuple[Path, WriterLock | None]:
    """Make sure there is a store at ``path``, whatever links lead there; lock it to write it."""
    path = Path(os.path.realpath(path))  # where resolve() raises on links that lead in a circle
    lock = None
    try:
        if not path.parent.is_dir():
            raise NotFound(f"{path.parent} is not a directory", hint="create it first")
        if path.exists():
            check_mark(path)
        elif not (write and create):
            raise NotFound(f"no store at {path}", hint="check the path, or load one first")
        if write:
            lock = WriterLock.take(path)
            discard(restore_draft(path))
            if not path.exists():
                create_file(path)
    except OSError as error:
        _release(lock)
        raise Unavailable(
            f"{path} cannot be opened: {error.strerror}",
            hint="check the permissions of file and directory",
        ) from error
    except BaseException:
        _release(lock)
        raise
    return path, lock


def _release(lock: WriterLock | None) -> None:
    if lock is not None:
        lock.release()
