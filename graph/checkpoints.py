"""Earlier snapshots on disk, so that no revision of the log is far from one that can be read.

Reading a snapshot file takes as long as undoing or replaying a change for every twentieth object of
the fleet. So a checkpoint is written a little more seldom than that while the log grows, and any
revision is at most half as far from one. The files are copies:

C1  A file is used only if its cursor is a place in the store's history, and it is read whole or
    not at all. One that is damaged, missing or of another history costs time, never a wrong
    answer.
C2  There are never more files, nor more bytes in them, than the settings allow. Where there would
    be, the one goes whose neighbours are nearest to each other.
C3  Writing them never holds up a commit, and a failure to write is a warning.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path

from graph.index.file import read_snapshot, write_snapshot
from graph.index.snapshot import Snapshot
from graph.model.change import Cursor
from graph.model.errors import Invalid, NotFound, TrellisError, Unavailable
from graph.model.names import Revision
from graph.settings import GraphSettings
from graph.store.backwards import headers_back
from graph.store.port import Store

DISTANCE_SHARE = 16
"""A checkpoint is due when one change for so many objects of the fleet was made. From the nearest
one half as many are to be undone or replayed, which takes less time than reading the file does."""

WAITING_MAX = 4
"""Snapshots that wait to be written; the oldest goes without a file if there are more."""

LEFT_OVER_SECONDS = 3_600.0
"""A half-written file this old was left by a process that is gone."""

_NAME = re.compile(r"([0-9]{12})-([0-9a-f]{16})\.snapshot")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One file."""

    cursor: Cursor
    path: Path
    size_bytes: int


class Checkpoints:
    """The checkpoint files of one store, in a directory of their own; none without one."""

    def __init__(self, directory: Path | None, store: Store, settings: GraphSettings) -> None:
        self._directory = directory if settings.checkpoints_kept_max else None
        self._store = store
        self._settings = settings
        self._since: int | None = None
        """Changes since the newest checkpoint; None until somebody has counted them."""
        self._uncounted: list[tuple[Snapshot, int]] = []
        """What was committed while they are being counted."""
        self._waiting: deque[Snapshot] = deque(maxlen=WAITING_MAX)
        self._task: asyncio.Task[None] | None = None

    def distance(self, snapshot: Snapshot) -> int:
        """How many changes may lie between two checkpoints of a fleet of this size."""
        objects = snapshot.numbers.cluster + snapshot.numbers.group
        return max(self._settings.checkpoint_changes_min, objects // DISTANCE_SHARE)

    # reading

    async def listed(self) -> list[Checkpoint]:
        """The files there are, oldest revision first, whatever is in them."""
        return await asyncio.to_thread(self._list)

    async def read(self, checkpoint: Checkpoint) -> Snapshot | None:
        """The snapshot in a file; None, and the file is gone, if it cannot be used."""
        try:
            found = await asyncio.to_thread(read_snapshot, checkpoint.path)
        except NotFound:
            return None
        except (Invalid, Unavailable) as error:
            _log.warning("%s; the revision is read from the log instead", error.message)
            await self.discard(checkpoint)
            return None
        if found.cursor != checkpoint.cursor:
            _log.warning("%s holds %s; it is deleted", checkpoint.path, found.cursor)
            await self.discard(checkpoint)
            return None
        return found

    async def discard(self, checkpoint: Checkpoint) -> None:
        """Delete a file that is of no use."""
        with suppress(OSError):
            await asyncio.to_thread(checkpoint.path.unlink, missing_ok=True)

    # writing

    def grew(self, before: Snapshot, changes: int, *, own: bool) -> None:
        """Count ``changes`` that were committed on ``before``, and see to a checkpoint in time.

        Whoever commits writes the file: others would write the same one.
        """
        if self._directory is None:
            return
        if self._since is not None:
            self._count(before, changes, own=own)
        elif own:
            self._uncounted.append((before, changes))
            self._begin()

    def _count(self, before: Snapshot, changes: int, *, own: bool) -> None:
        assert self._since is not None, "it is known where the newest checkpoint is"
        if own and self._since > 0 and self._since + changes > self.distance(before):
            self._waiting.append(before)
            self._since = 0
            self._begin()
        self._since += changes

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def _work(self) -> None:
        """Write what waits, one file after the other, beside the event loop."""
        try:
            if self._since is None:
                await self._find_since()
            while self._waiting:
                await self.write(self._waiting.popleft())
        except TrellisError as error:  # the store is away; the next commit tries again
            self._uncounted.clear()
            _log.warning("no checkpoint was written: %s", error.message)

    async def _find_since(self) -> None:
        files = await self.listed()
        newest = files[-1].cursor.revision if files else Revision(0)
        first = self._uncounted[0][0]
        since = 0
        async with aclosing(headers_back(self._store, first.cursor.revision)) as headers:
            async for header in headers:
                if header.revision <= newest or since >= self.distance(first):
                    break
                since += header.change_count
        uncounted, self._uncounted = self._uncounted, []
        self._since = since
        for before, changes in uncounted:
            self._count(before, changes, own=True)

    async def write(self, snapshot: Snapshot) -> None:
        """Have a file of ``snapshot``, and no more files than allowed."""
        if self._directory is None:
            return
        cursor = snapshot.cursor
        path = self._directory / f"{cursor.revision:012d}-{cursor.chain}.snapshot"
        try:
            await asyncio.to_thread(_write, snapshot, path)
        except Unavailable as error:
            _log.warning("%s; earlier revisions take longer to read", error.message)
        await self.tidy()

    async def tidy(self) -> None:
        """Delete what is older than the log, of another history, or more than allowed (C2)."""
        if self._directory is None:
            return
        horizon = (await self._store.head()).horizon
        files = await self.listed()
        expired = [each for each in files if each.cursor.revision < horizon.revision]
        files = files[len(expired) :]
        if not self._fits(files):
            places = await self._places(files, horizon)
            foreign = [each for each in files if each.cursor not in places]
            files = [each for each in files if each.cursor in places]
            expired += [*foreign, *surplus(files, places, self._settings)]
        for each in expired:
            await self.discard(each)

    def _fits(self, files: Sequence[Checkpoint]) -> bool:
        size = sum(each.size_bytes for each in files)
        count_max = self._settings.checkpoints_kept_max
        return len(files) <= count_max and size <= self._settings.checkpoints_kept_bytes

    async def _places(self, files: Sequence[Checkpoint], horizon: Cursor) -> dict[Cursor, int]:
        """How many changes before the newest file each cursor of the log is."""
        head = (await self._store.head()).cursor.revision
        newest = min(files[-1].cursor.revision, head)
        places: dict[Cursor, int] = {}
        behind = 0
        async with aclosing(headers_back(self._store, newest)) as headers:
            async for header in headers:
                places[header.cursor] = behind
                behind += header.change_count
                if header.revision < files[0].cursor.revision:
                    return places
        places[horizon] = behind
        return places

    def restart(self) -> None:
        """Begin again: what was counted belongs to another history."""
        self._since = None
        self._uncounted.clear()
        self._waiting.clear()

    async def close(self) -> None:
        """Finish writing: what a short process has loaded is then near a file, too."""
        if self._task is not None:
            await asyncio.wait([self._task])

    def _list(self) -> list[Checkpoint]:
        found: list[Checkpoint] = []
        if self._directory is None:
            return found
        with suppress(OSError), os.scandir(self._directory) as entries:  # perhaps there is none
            for entry in entries:
                with suppress(OSError):  # another process may delete it meanwhile
                    _see(Path(entry.path), entry.stat(), found)
        return sorted(found, key=lambda each: each.cursor.revision)


def surplus(
    files: Sequence[Checkpoint], places: Mapping[Cursor, int], settings: GraphSettings
) -> list[Checkpoint]:
    """Which files go so that the others are within bounds: those whose neighbours are nearest.

    ``files`` are in the order of their revisions; ``places`` tells how many changes each is before
    the newest, which stays: the log goes on from there.
    """
    kept, gone = list(files), list[Checkpoint]()
    size = sum(each.size_bytes for each in kept)
    oldest = max(places.values(), default=0)
    while len(kept) > settings.checkpoints_kept_max or size > settings.checkpoints_kept_bytes:
        if len(kept) == 1:
            return [*gone, *kept]
        at = [oldest, *(places[each.cursor] for each in kept)]
        least = min(range(len(kept) - 1), key=lambda index: at[index] - at[index + 2])
        size -= kept[least].size_bytes
        gone.append(kept.pop(least))
    return gone


def _write(snapshot: Snapshot, path: Path) -> None:
    if path.exists():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"the checkpoint directory {path.parent} cannot be made: {error.strerror}",
            hint="check the permissions, or set TRELLIS_STORE_CHECKPOINT_DIRECTORY",
        ) from error
    write_snapshot(snapshot, path)


def _see(path: Path, seen: os.stat_result, found: list[Checkpoint]) -> None:
    if (named := _NAME.fullmatch(path.name)) is not None:
        cursor = Cursor(Revision(int(named.group(1))), named.group(2))
        found.append(Checkpoint(cursor, path, seen.st_size))
    elif path.suffix == ".new" and time.time() - seen.st_mtime > LEFT_OVER_SECONDS:
        path.unlink()
