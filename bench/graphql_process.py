"""A server in a process of its own, and what CPU time it has used."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bench.result import ROOT
from bench.stores import directory

START_SECONDS = 120
ADDRESS = re.compile(r"http://127\.0\.0\.1:[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class Server:
    """A process that answers at ``url``."""

    url: str
    pid: int

    def cpu_seconds(self) -> float:
        """Everything it has used, in user and kernel mode, of all its threads; in nanoseconds."""
        clock = ctypes.c_int()
        failed = ctypes.CDLL(None).clock_getcpuclockid(self.pid, ctypes.byref(clock))
        assert not failed, f"process {self.pid} has ended"
        return time.clock_gettime(clock.value)


@contextmanager
def running(words: Sequence[str], environment: Mapping[str, str]) -> Iterator[Server]:
    """``words`` as a process that says where it is listening; ended at the end."""
    said = directory() / "said"
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("TRELLIS", "OTEL"))}
    with said.open("wb") as stream:
        process = _started(words, {**kept, **environment}, stream)
    try:
        yield Server(_address(process, said), process.pid)
    finally:
        process.kill()  # it has nothing to finish: its files are copies of this run
        process.wait()


def _started(
    words: Sequence[str], environment: Mapping[str, str], stream: IO[bytes]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=stream,
        stderr=subprocess.STDOUT,
    )


def _address(process: subprocess.Popen[bytes], said: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while True:
        ended = process.poll() is not None
        text = said.read_text("utf-8", "replace")
        if found := ADDRESS.search(text):
            return found[0]
        if ended or time.monotonic() > deadline:
            raise RuntimeError(f"a server did not start: {text[-2000:]}")
        time.sleep(0.01)
