"""One writer a file: a lock the operating system lets go of when its holder dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from graph.model.errors import Conflict


class WriterLock:
    """Held from ``take`` to ``release``, across processes and within one."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @staticmethod
    def take(path: Path) -> WriterLock:
        """The right to write the store at ``path``; ``Conflict`` names who has it."""
        lock = path.with_name(f"{path.name}.lock")
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 32).decode("ascii", "replace").strip()
            os.close(handle)
            raise Conflict(
                f"{path} is open for writing in process {holder or 'unknown'}",
                hint="stop that process, or open the store for reading; a store has one writer",
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        return WriterLock(handle)

    def release(self) -> None:
        """Let the next writer in. The file stays: removing it would let two in."""
        os.close(self._handle)
