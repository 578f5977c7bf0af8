"""One worker at a time: a lock the operating system lets go of when its holders are dead."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from graph.model.errors import Conflict, Unavailable

_PAUSE_SECONDS = 0.05


def hold(path: Path, noun: str, timeout_seconds: float) -> int:
    """A handle that holds ``path`` until it is closed; ``Conflict`` if somebody keeps it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be opened: {error.strerror}",
            hint="see that the disk has room and the worker may write there",
        ) from error
    until = time.monotonic() + timeout_seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < until:
                time.sleep(_PAUSE_SECONDS)
                continue
            holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
            os.close(handle)
            raise Conflict(
                f"{noun} is used by process {holder or 'unknown'}",
                hint="stop that worker, or give this one a directory of its own",
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        return handle
