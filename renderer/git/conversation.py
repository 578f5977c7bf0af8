"""Talking to a git process that stays: lines and bytes, each waited for no longer than allowed."""

from __future__ import annotations

import os
import select
import subprocess
import time

from graph.model.errors import Unavailable
from renderer.git.process import Git, end

_READ_BYTES = 1 << 18


class Conversation:
    """One resident process. An ``OSError`` says that it has ended."""

    def __init__(self, git: Git, *arguments: str) -> None:
        self._allowed_seconds = git.limits.command_timeout_seconds
        self._child: subprocess.Popen[bytes] = git.start(*arguments)
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._into = self._child.stdin
        self._from = self._child.stdout
        self._ready = select.poll()
        self._ready.register(self._from, select.POLLIN)
        self._until = time.monotonic() + self._allowed_seconds
        self._buffer = b""
        self._at = 0

    def say(self, text: str) -> None:
        """Ask; at most as much as a pipe holds, or nobody would read the answers."""
        self._until = time.monotonic() + self._allowed_seconds
        os.write(self._into.fileno(), text.encode())

    def line(self) -> bytes:
        """The next line of the answer, without its end."""
        while (found := self._buffer.find(b"\n", self._at)) < 0:
            self._buffer, self._at = self._buffer[self._at :] + self._received(), 0
        line = self._buffer[self._at : found]
        self._at = found + 1
        return line

    def exactly(self, size: int) -> bytes:
        """The next ``size`` bytes of the answer."""
        have = len(self._buffer) - self._at
        if have < size:
            parts = [self._buffer[self._at :]]
            while have < size:
                parts.append(self._received())
                have += len(parts[-1])
            self._buffer, self._at = b"".join(parts), 0
        content = self._buffer[self._at : self._at + size]
        self._at += size
        return content

    def close(self) -> None:
        """End it."""
        end(self._child)
        self._into.close()
        self._from.close()

    def _received(self) -> bytes:
        if not self._ready.poll(max(0.0, self._until - time.monotonic()) * 1_000):
            raise Unavailable(
                f"git did not answer for {self._allowed_seconds:,.0f} s and was stopped",
                hint="see whether the disk of the repository answers, or allow more time",
            )
        received = os.read(self._from.fileno(), _READ_BYTES)
        if not received:
            raise BrokenPipeError
        return received
