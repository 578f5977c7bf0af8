"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from graph.model.errors import Conflict, Unavailable


def publish(draft: Path, destination: Path) -> None:
    """Move a finished draft to its place, durably, never over another file."""
    try:
        _sync(draft)
        os.link(draft, destination)
        draft.unlink()
        _sync(destination.parent)
    except FileExistsError:
        raise Conflict(
            f"{destination} exists already", hint="choose another name; nothing was overwritten"
        ) from None
    except OSError as error:
        raise Unavailable(
            f"{destination} could not be written: {error.strerror}",
            hint="check the disk and the permissions of the directory",
        ) from error


def discard(draft: Path) -> None:
    """Remove a draft, with what SQLite may have kept beside it; also one a killed process left."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
