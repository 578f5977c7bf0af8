"""A real API, a real worker that follows it, and a bare repository: what the worker uses and when.

CPU time of a worker is that of its process and of everything it has started: git that stays, git
that came and went, and the sandbox of templates.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.graphql_client import Client, post
from bench.graphql_process import Server, running
from bench.graphql_trellis import trellis
from bench.render_fleet import RenderedFleet
from bench.result import ROOT
from bench.stores import directory

WAIT_SECONDS = 300
LOSS = 2**31 - 1
APPLY = """mutation Apply($input: ApplyInput!) { apply(input: $input) {
  __typename ... on Applied { revision } ... on Failure { message hint } } }"""
PUBLISHED = "query ($revision: Revision!) { published(revision: $revision) { behind commit } }"


class Api:
    """A serving process and what is asked of it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._client = Client(server.url)

    @property
    def socket(self) -> str:
        """Where a worker follows it."""
        return f"ws{self.server.url.removeprefix('http')}/graphql"

    def close(self) -> None:
        """Let the connection go."""
        self._client.close()

    def apply(self, commands: Sequence[Mapping[str, Any]], reason: str) -> int:
        """The revision at which all of ``commands`` are in effect."""
        given = {"commands": commands, "reason": reason, "expectedLoss": LOSS}
        said = self._ask(APPLY, input=given)["apply"]
        assert said["__typename"] == "Applied", said
        return int(said["revision"])

    def is_published(self, revision: int) -> bool:
        """Whether a worker has told that everything up to ``revision`` is out."""
        found = self._ask(PUBLISHED, revision=revision)["published"]
        return bool(found) and all(each["behind"] == 0 for each in found)

    def _ask(self, query: str, **variables: Any) -> Any:
        body = json.dumps({"query": query, "variables": variables}).encode()
        said = json.loads(self._client.ask(post(f"{self.server.url}/graphql", body)))
        assert "errors" not in said, said
        return said["data"]


@contextmanager
def serving(fleet: RenderedFleet) -> Generator[Api]:
    """An API of its own over a copy of the fleet."""
    with trellis(fleet.store, {"TRELLIS_API_SEND_SECONDS": str(WAIT_SECONDS)}) as server:
        api = Api(server)
        try:
            yield api
        finally:
            api.close()


@dataclass(frozen=True, slots=True)
class Repository:
    """A bare repository."""

    path: Path

    @staticmethod
    def made(files: Mapping[str, bytes]) -> Repository:
        """A new one with what owners have pushed."""
        found = Repository(directory() / "gitops.git")
        subprocess.run(
            ["git", "init", "--quiet", "--bare", "--initial-branch=main", str(found.path)],
            check=True,
        )
        said = b"commit refs/heads/main\ncommitter Owners <owners@example> 1700000000 +0000\n"
        said += b"data 12\nOwners begin\n"
        for path, content in files.items():
            said += f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n"
        found.git("fast-import", "--quiet", said=said)
        return found

    @property
    def output(self) -> str:
        """As a worker is told."""
        return f"git:{self.path}#main"

    def git(self, *words: str, said: bytes = b"") -> bytes:
        """What git answers."""
        done = subprocess.run(
            ["git", "-C", str(self.path), *words], input=said, capture_output=True, check=True
        )
        return done.stdout

    def tip(self) -> str:
        """The newest commit, without a process."""
        with suppress(FileNotFoundError):
            return (self.path / "refs" / "heads" / "main").read_text("ascii").strip()
        return ""  # between two names for an instant


@dataclass(frozen=True, slots=True)
class Used:
    """What a process used from its start to its end, with everything it started."""

    cpu_seconds: float
    wall_seconds: float
    resident_bytes_max: int


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker that goes on."""

    server: Server

    def cpu_seconds(self) -> float:
        """Of the process and of what it started, up to now."""
        pid = self.server.pid
        stat = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        ended = (int(stat[13]) + int(stat[14])) / os.sysconf("SC_CLK_TCK")
        return ended + sum(map(_cpu_seconds, (pid, *_children(pid))))

    def memory_bytes(self, name: str = "VmHWM") -> int:
        """Of the process alone: ``VmHWM`` at its most, ``VmRSS`` now."""
        return memory_bytes(self.server.pid, name)


def memory_bytes(pid: int, name: str) -> int:
    """A line of what Linux tells about a process."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    found = next(line for line in status.splitlines() if line.startswith(f"{name}:"))
    return int(found.split()[1]) * 1024


def _children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text("ascii").split():
            yield int(child)
            yield from _children(int(child))


def _cpu_seconds(pid: int) -> float:
    clock = ctypes.c_int()
    if ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock)):
        return 0.0  # it has ended, and is counted with those that have
    return time.clock_gettime(clock.value)


def python(*words: str) -> list[str]:
    """A module with its arguments, as a process."""
    return [sys.executable, "-m", *words]


def worker_words(api: Api, repository: Repository, *more: str) -> list[str]:
    """``trellis render``."""
    given = ("--from", api.socket, "--to", repository.output)
    return python("cli.main", "render", *given, *more)


def rendered_once(api: Api, repository: Repository) -> Used:
    """A worker that publishes up to now and ends."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("TRELLIS", "OTEL"))}
    said = directory() / "said"
    started = time.perf_counter()
    with said.open("wb") as stream:
        process = subprocess.Popen(
            worker_words(api, repository, "--once"),
            cwd=ROOT,
            env=kept,
            stdout=stream,
            stderr=stream,
        )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said.read_text("utf-8", "replace")
    wall = time.perf_counter() - started
    return Used(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024)


@contextmanager
def following(api: Api, repository: Repository, settings: Mapping[str, str]) -> Generator[Worker]:
    """A worker that goes on, and serves artifacts besides."""
    given = {"TRELLIS_SERVE_PORT": "0", **settings}
    with running(worker_words(api, repository, "--serve"), given) as server:
        yield Worker(server)


def wait_for(api: Api, revision: int) -> None:
    """Until everything up to ``revision`` is published and told."""
    until = time.monotonic() + WAIT_SECONDS
    while not api.is_published(revision):
        assert time.monotonic() < until, f"revision {revision} was not published"
        time.sleep(0.01)
