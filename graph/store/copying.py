"""Backup and restore of the embedded store, while it runs.

A backup is one file that is itself a store. It is copied from one moment of the record while writes
go on, checked page by page and link by link, and only then given its name. A restore works on a
checked copy of its own, then replaces the record in a single transaction: a reader sees the old
record or the new one, and so does whoever opens the file after a crash in between.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from graph.model.errors import Conflict, Invalid, NotFound
from graph.store.files import discard, publish
from graph.store.schema import (
    check_content,
    check_length,
    check_mark,
    migrate,
    version_of,
)
from graph.store.sqlite import Connection, connect_copy, connect_reader, failures, reading

PageProgress = Callable[[int, int], None]
"""Told how many pages are done, and of how many."""

PAGES_A_STEP = 256


def back_up(path: Path, destination: Path, progress: PageProgress | None) -> None:
    """Copy the store at ``path`` to ``destination``, where no file is."""
    with failures(destination):
        _back_up(path, destination, progress)


def _back_up(path: Path, destination: Path, progress: PageProgress | None) -> None:
    if destination.exists():
        raise Conflict(f"{destination} exists already", hint="choose another name for the backup")
    if not destination.parent.is_dir():
        raise NotFound(f"{destination.parent} is not a directory", hint="create it first")
    draft = destination.with_name(f"{destination.name}.partial")
    discard(draft)
    try:
        _copy(path, draft, progress)
        with failures(draft), closing(connect_copy(draft)) as copy:
            copy.pragma("journal_mode", "delete")
            check_content(copy, draft)
        publish(draft, destination)
    finally:
        discard(draft)


def restore(
    connection: Connection, path: Path, source: Path, progress: PageProgress | None
) -> None:
    """Replace the record at ``path`` by the one in ``source``; ``connection`` is the writer's."""
    if not source.is_file():
        raise NotFound(f"{source} is not a file", hint="check the path of the backup")
    if source.resolve() == path:
        raise Invalid(f"{source} is the store itself", hint="name a backup of it")
    check_mark(source)
    if not source.with_name(f"{source.name}-wal").exists():  # which may have what the file has not
        check_length(source)
    draft = restore_draft(path)
    discard(draft)
    try:
        _copy(source, draft, None)
        with failures(source), closing(connect_copy(draft)) as copy:
            copy.pragma("journal_mode", "delete")
            version_of(copy, source)
            check_content(copy, source)
            migrate(copy)
            _pour(copy, connection, progress)
        # The whole record has just gone through the log; move it to the file now, not some day.
        connection.pragma("wal_checkpoint", "truncate")
    finally:
        discard(draft)


def restore_draft(path: Path) -> Path:
    """Where a restore keeps its own copy of the backup; worthless once the writer is gone."""
    return path.with_name(f"{path.name}.restoring")


def _copy(source: Path, draft: Path, progress: PageProgress | None) -> None:
    with (
        failures(source),
        closing(connect_reader(source)) as original,
        closing(connect_copy(draft)) as copy,
        reading(original),
    ):
        # The first read fixes the moment that is copied. Without it each step would see a newer
        # record and, under a steady stream of commits, begin again for ever.
        original.pragma("user_version")
        _pour(original, copy, progress)


def _pour(source: Connection, target: Connection, progress: PageProgress | None) -> None:
    with target.backup("main", source, "main") as copying:
        while not copying.step(PAGES_A_STEP):
            if progress is not None:
                progress(copying.page_count - copying.remaining, copying.page_count)
        if progress is not None:
            progress(copying.page_count, copying.page_count)
