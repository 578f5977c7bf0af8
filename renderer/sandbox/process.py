"""The child as the parent holds it: started, fed, listened to, ended.

Both pipes are served in one loop, so neither side can wait for the other for ever.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from graph.model.errors import Unavailable
from renderer.limits import Limits
from renderer.sandbox.frames import HEADER, frame

START_SECONDS_MAX = 60.0
"""A machine with much to do starts nothing quickly."""
END_SECONDS_MAX = 5.0

_CHUNK = 262_144
_ENTRY = Path(__file__).with_name("__main__.py")


def command() -> tuple[str, ...]:
    """What starts a child. It needs nothing but itself, so a stricter jail may stand before it."""
    return (sys.executable, "-I", "-S", "-B", str(_ENTRY), *map(os.path.abspath, sys.path))


class Ended(Exception):
    """The child is gone, or had to go. ``code`` is what it left, negative for a signal."""

    def __init__(self, code: int | None, why: str = "") -> None:
        super().__init__(why)
        self.code = code
        self.why = why


class Child:
    """One process. Frames go in and come out; after ``Ended`` it is of no more use."""

    def __init__(self, limits: Limits, command: Sequence[str]) -> None:
        self._limits = limits
        self._outgoing = bytearray()
        self._incoming = bytearray()
        self._process = subprocess.Popen(  # noqa: S603  # given by whoever starts us
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        os.set_blocking(self._input.fileno(), False)
        os.set_blocking(self._output.fileno(), False)
        self._greet()

    def send(self, message: bytes) -> None:
        """A frame, on its way as far as there is room for it."""
        self._outgoing += message
        if len(self._outgoing) == len(message):
            self._push()

    def receive(self, seconds_max: float) -> bytes:
        """The next frame's content; ``Ended`` if there is none in that time, or never."""
        deadline = time.monotonic() + seconds_max
        while (body := self._taken()) is None:
            left = deadline - time.monotonic()
            if left <= 0:
                self.kill()
                raise Ended(None, f"gave no answer in {seconds_max:g} s")
            self._serve(left)
        return body

    def kill(self) -> None:
        """End it now."""
        self._process.kill()
        self._reap()

    def close(self) -> None:
        """Let it go; it ends when its pipe does."""
        self._input.close()
        try:
            self._process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reap()

    def _greet(self) -> None:
        self.send(frame(asdict(self._limits)))
        try:
            self.receive(START_SECONDS_MAX)
        except Ended as error:
            raise Unavailable(
                f"templates cannot be rendered: the process for them does not start"
                f" ({error.why or told(error.code)})",
                hint="look at the memory and the processes this machine has left",
            ) from None

    def _serve(self, seconds: float) -> None:
        """Wait until something can be read or written, and do it."""
        waiting = select.poll()
        waiting.register(self._output, select.POLLIN)
        if self._outgoing:
            waiting.register(self._input, select.POLLOUT)
        for number, event in waiting.poll(seconds * 1_000):
            if number == self._output.fileno():
                self._pull()
            elif event & select.POLLOUT:
                self._push()
            else:
                self._outgoing.clear()  # it reads no more; what it has said is still to be read

    def _push(self) -> None:
        try:
            written = os.write(self._input.fileno(), self._outgoing[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._outgoing.clear()
            return
        del self._outgoing[:written]

    def _pull(self) -> None:
        chunk = os.read(self._output.fileno(), _CHUNK)
        if not chunk:
            raise Ended(self._reap())
        self._incoming += chunk

    def _taken(self) -> bytes | None:
        if len(self._incoming) < HEADER.size:
            return None
        (length,) = HEADER.unpack_from(self._incoming)
        if length > self._limits.answer_bytes_max:
            self.kill()
            raise Ended(None, "gave an answer that cannot be read")
        end = HEADER.size + length
        if len(self._incoming) < end:
            return None
        body = bytes(self._incoming[HEADER.size : end])
        del self._incoming[:end]
        return body

    def _reap(self) -> int:
        """What it left; its pipes are closed."""
        for pipe in (self._input, self._output):
            pipe.close()
        try:
            return self._process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:  # it closed its pipe and goes on
            self._process.kill()
            return self._process.wait()


def told(code: int | None) -> str:
    """How a process ended, for people."""
    if code is None or code >= 0:
        return f"it ended with code {code}"
    return f"it was ended by {signal.Signals(-code).name}"
