"""The real ``trellis`` process, in a directory of its own with a scrubbed environment."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Trellis:
    """The command, run in one directory."""

    directory: Path
    started: list[subprocess.Popen[bytes]]
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names in its environment."""

    def __call__(self, *arguments: str, expect: int = 0, stdin: bytes | None = None) -> str:
        """Run to the end; the output if the exit code is the expected one, errors included."""
        done = subprocess.run(
            self.words(arguments),
            cwd=self.directory,
            env=self._environment(),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        output = done.stdout.decode()
        assert done.returncode == expect, output
        assert "Traceback" not in output
        return output

    def start(
        self, *arguments: str, stdin: int = subprocess.DEVNULL, stdout: int = subprocess.PIPE
    ) -> subprocess.Popen[bytes]:
        """Begin, and leave the rest to the test."""
        process = subprocess.Popen(
            self.words(arguments),
            cwd=self.directory,
            env=self._environment(),
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
        )
        self.started.append(process)
        return process

    def words(self, arguments: tuple[str, ...]) -> list[str]:
        """The command line."""
        return [sys.executable, "-m", "cli.main", *arguments]

    def _environment(self) -> dict[str, str]:
        kept = {
            n: value for n, value in os.environ.items() if not n.startswith(("TRELLIS", "OTEL"))
        }
        return kept | {"PYTHONWARNINGS": "error", **self.settings}

    def on_a_terminal(self, *arguments: str, **settings: str) -> str:
        """Run to the end on a terminal of its own; what a person would have seen."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        process = subprocess.Popen(
            self.words(arguments),
            cwd=self.directory,
            env=self._environment() | {"TERM": "xterm-256color", **settings},
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        self.started.append(process)
        os.close(slave)
        said = bytearray()
        try:
            while chunk := os.read(master, 65_536):
                said += chunk
        except OSError:  # how Linux says that nobody holds the other end any more
            pass
        finally:
            os.close(master)
        process.wait(TIMEOUT_SECONDS)
        return said.decode()

    def wait_until(self, holds: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
        """Until ``holds`` does, which it must before ``process`` ends."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not holds():
            assert process.poll() is None, "the process ended too early"
            assert time.monotonic() < deadline, "the process takes too long"
            time.sleep(0.005)

    def is_writer(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether ``process`` holds the store for writing."""
        lock = self.directory / "trellis.db.lock"
        return lock.exists() and lock.read_text().strip() == str(process.pid)
