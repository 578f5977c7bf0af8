"""The real ``trellis serve``, on a free port of 127.0.0.1, over a store of its own.

    with serve(directory / "trellis.db") as server:
        httpx.post(server.graphql, json={"query": "{ fleet { revision } }"})

Without other settings the caller is anonymous, which on a loopback address is an admin. What the
process says goes to a file beside its store (``said``), so that a full pipe never stops it.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from trellis_process import Trellis

START_SECONDS = 120
STOP_SECONDS = 60
CLUSTERS = 500
"""Clusters in the sample fleet: large enough for pages and facets, loaded in a second."""

_ADDRESS = re.compile(r"^serving at (http://\S+:[1-9][0-9]*)\s", re.MULTILINE)


@dataclass(frozen=True)
class Serving:
    """One serving process and where it answers."""

    url: str
    """Scheme, host and port: ``http://127.0.0.1:8000``."""
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def graphql(self) -> str:
        """Where operations are posted."""
        return f"{self.url}/graphql"

    @property
    def ws_url(self) -> str:
        """Where sockets are opened."""
        return f"ws{self.graphql.removeprefix('http')}"

    @property
    def port(self) -> int:
        """The port it listens on."""
        port = urlsplit(self.url).port
        assert port is not None
        return port

    def said(self) -> str:
        """Everything it has written so far, both streams."""
        return self.log.read_text("utf-8", "replace")

    def cpu_seconds(self) -> float:
        """Processor time it has used, in user and system together."""
        ticks = Path(f"/proc/{self.process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> int:
        """Ask it to end, as an orchestrator does; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"it did not stop:\n{self.said()}") from None

    def kill(self) -> None:
        """End it without a word, as a power cut does."""
        self.process.kill()
        self.process.wait(STOP_SECONDS)


@contextmanager
def serve(
    store: Path | str,
    environment: Mapping[str, str] | None = None,
    *,
    arguments: Sequence[str] = (),
    directory: Path | None = None,
) -> Iterator[Serving]:
    """A serving process over ``store``, a file or a URL, ready to answer; gone at the end.

    ``environment`` holds settings, as ``{"TRELLIS_API_TOKENS_MAX": "100"}``. A process over a
    store that is no file is given a ``directory`` to work in.
    """
    place = directory or Path(store).parent
    url = store if isinstance(store, str) else f"sqlite:///{store}"
    process, log = _begin(url, place, environment or {}, arguments)
    try:
        server = Serving(_address(process, log), process, log)
        yield server
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(STOP_SECONDS)


def sample_store(directory: Path, *, clusters: int = CLUSTERS) -> Path:
    """A store file with the sample fleet in it; closed, so that it may be copied."""
    trellis = Trellis(directory, [])
    trellis("generate", "--clusters", str(clusters), "-o", "fleet.jsonl")
    trellis("load", "fleet.jsonl")
    return directory / "trellis.db"


def copy_store(store: Path, directory: Path) -> Path:
    """A store of its own for a test that writes."""
    copy = directory / "trellis.db"
    copy.write_bytes(store.read_bytes())
    return copy


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample fleet's store, to be copied and not to be served."""
    return sample_store(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="session")
def server(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One process over the sample fleet, shared by tests that do not mind each other's writes."""
    with serve(copy_store(sample, tmp_path_factory.mktemp("server"))) as serving:
        yield serving


def _begin(
    url: str, place: Path, settings: Mapping[str, str], arguments: Sequence[str]
) -> tuple[subprocess.Popen[bytes], Path]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("TRELLIS", "OTEL"))}
    given = {
        "TRELLIS_STORE_URL": url,
        "TRELLIS_API_PORT": "0",
        "TRELLIS_API_NOTICE_SECONDS": "0",  # nobody here looks at /readyz before it goes
        "PYTHONWARNINGS": "error",
    }
    log = place / f"serve-{time.monotonic_ns()}.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "serve", *arguments],
            cwd=place,
            env={**kept, **given, **settings},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    return process, log


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """The address it says it listens on, which it says once it is ready."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        said = log.read_text("utf-8", "replace")
        ended = process.poll() is not None
        found = _ADDRESS.search(said)
        if found and not ended:
            return found[1]
        assert not ended, f"it ended with {process.returncode}:\n{said}"
        assert time.monotonic() < deadline, f"it does not say where it listens:\n{said}"
        time.sleep(0.01)
