"""Real ``trellis render`` processes, and what must hold of the repository they publish to.

    with rendering(server.url, output, directory) as worker:
        await caught_up(api, worker)
        worker.kill()
    record.check()

A ``Record`` reads the repository with nothing but git's own commands: every commit since it was
last looked at is whole, and together they are a line. What a process says goes to a file.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from api_process import WAIT_SECONDS, Api, eventually
from graph.model.command import Command
from planned import directories, led_to
from renderer.paths import is_owned
from renderer.plan.wave import WaveBounds
from renderer.publish.git import GitPublisher
from renderer.sandbox.parent import Sandbox
from renderer.settings import FormatSettings, SourceSettings
from renderer.source.socket import SocketSource
from renderer.work.errands import Errands, Verified
from renderer.work.measures import Measures
from renderer.work.planner import planner, stamp
from renderer.work.publishing import Publishing
from repositories import bare, files_of, foreign_commit, git, is_sound

ROOT = Path(__file__).parents[2]
STOP_SECONDS = 60
LOOK_SECONDS = 0.04
"""Between two questions, so that asking is not what keeps the machine busy."""
EAGER: Mapping[str, str] = {
    "TRELLIS_RENDER_BATCH_MILLISECONDS": "20",
    "TRELLIS_SOURCE_RETRY_SECONDS": "0.05",
    "TRELLIS_SOURCE_RETRY_SECONDS_MAX": "0.5",
}
"""Settings of a worker that loses no time."""
TRELLIS = (sys.executable, "-m", "cli.main")
DYING = ROOT / "tests" / "crash" / "dying_renderer.py"
PUBLICATIONS = """query ($revision: Revision!) {
  published(revision: $revision) {
    name revision commit behind held { application reason message clusters since }
  }
}"""
_FORMATS = FormatSettings.model_validate({})
_NUMBERS = count(1)


@dataclass(frozen=True)
class Rendering:
    """One worker."""

    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        """Everything it has written so far, both streams."""
        return self.log.read_text("utf-8", "replace")

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def wait(self) -> int:
        """How it ended by itself."""
        return self.process.wait(WAIT_SECONDS)

    def kill(self) -> None:
        """End it without a word."""
        self.process.kill()
        self.process.wait(STOP_SECONDS)

    def stop(self) -> int:
        """Ask it to end; its exit code."""
        if self.is_alive():
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_SECONDS)

    def children(self) -> set[int]:
        """Processes it has started and that still run."""
        found: set[int] = set()
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            found.update(map(int, (task / "children").read_text("ascii").split()))
        return found


def run(
    url: str, output: str, directory: Path, *arguments: str, expect: int = 0, **settings: str
) -> str:
    """``trellis render`` to its end; what it said, if the exit code is the expected one."""
    done = subprocess.run(
        _words(url, output, arguments),
        cwd=directory,
        env=_environment(settings),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=2 * WAIT_SECONDS,
        check=False,
    )
    said = done.stdout.decode("utf-8", "replace")
    assert done.returncode == expect, said
    assert "Traceback" not in said, said
    return said


@contextmanager
def rendering(
    url: str,
    output: str,
    directory: Path,
    settings: Mapping[str, str] | None = None,
    *,
    arguments: Sequence[str] = (),
    command: Sequence[str] = TRELLIS,
) -> Iterator[Rendering]:
    """A worker that follows; gone at the end. It never says that something broke inside."""
    log = directory / f"render-{time.monotonic_ns()}.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            _words(url, output, arguments, command),
            cwd=directory,
            env=_environment(settings or {}),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    worker = Rendering(process, log)
    try:
        yield worker
    finally:
        if worker.is_alive():
            worker.kill()
    assert "Traceback" not in worker.said(), worker.said()


def dying(step: str, armed: Path) -> tuple[str, ...]:
    """A command that is killed right after a step, once ``armed`` is there."""
    return (sys.executable, str(DYING), step, str(armed))


def _words(
    url: str, output: str, arguments: Sequence[str], command: Sequence[str] = TRELLIS
) -> list[str]:
    return [*command, "render", "--from", url, "--to", output, *arguments]


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("TRELLIS", "OTEL"))}
    return {**kept, **EAGER, "PYTHONWARNINGS": "error", "PYTHONPATH": str(ROOT), **settings}


async def applied(api: Api, *commands: Command) -> int:
    """Change the fleet, which has to take it; the revision from then on."""
    answer = await api.apply(*commands)
    assert answer["__typename"] == "Applied", answer
    return int(answer["revision"])


async def published(api: Api, revision: int, name: str = "main") -> dict[str, Any] | None:
    """Is my change in git? What the API says of one output."""
    found = (await api.data(PUBLICATIONS, revision=revision))["published"] or []
    return next((each for each in found if each["name"] == name), None)


async def caught_up(
    api: Api, worker: Rendering, revision: int | None = None, name: str = "main"
) -> dict[str, Any]:
    """Wait until everything up to a revision, or up to now, is published; what the API says."""
    goal = await api.revision() if revision is None else revision
    told: dict[str, Any] = {}

    async def arrived() -> bool:
        assert worker.is_alive(), f"the worker ended:\n{worker.said()}"
        found = await published(api, goal, name)
        told.update(found or {})
        if found is not None and found["behind"] == 0:
            return True
        await asyncio.sleep(LOOK_SECONDS)
        return False

    await eventually(arrived)
    return told


@dataclass
class Record:
    """A repository that workers publish to."""

    repository: Path
    owners: str
    """The commit that was there before any worker."""
    commits: list[str] = field(default_factory=list[str])
    """Those of workers, that were looked at; the oldest first."""
    revisions: list[int] = field(default_factory=list[int])

    @staticmethod
    def made(path: Path, files: Mapping[str, str]) -> Record:
        """A bare repository with what owners have pushed."""
        repository = bare(path)
        return Record(repository, foreign_commit(repository, files, message="Owners begin"))

    @property
    def path(self) -> str:
        """Where a worker on this machine publishes."""
        return f"git:{self.repository}#main"

    @property
    def url(self) -> str:
        """Where a worker with a mirror of its own publishes."""
        return f"git:{self.repository.as_uri()}#main"

    @property
    def tip(self) -> str:
        return git(self.repository, "rev-parse", "main")

    @property
    def tree(self) -> str:
        return tree_of(self.repository, "main")

    def files(self, commit: str = "main") -> dict[str, bytes]:
        return files_of(self.repository, commit)

    def check(self, *, most: int = 1_000) -> int:
        """Every commit since the last look is whole, and they go on in a line; how many."""
        since = self.commits[-1] if self.commits else self.owners
        found = _log(self.repository, f"{since}..main")
        before, revision = since, self.revisions[-1] if self.revisions else 0
        for number, (commit, parents, cursor, made_by) in enumerate(found):
            assert parents == [before], f"{commit} does not go on from {before}"
            if not cursor:
                assert not made_by
            else:
                assert made_by, f"{commit} does not say who made it"
                at = int(cursor.partition(".")[0])
                assert at >= revision, f"{commit} goes back from {revision} to {at}"
                if at == revision:
                    assert self._is_upkeep(commit), f"{revision} is published twice"
                assert tree_of(self.repository, commit) != tree_of(self.repository, before)
                if number < most:
                    check_whole(self.files(commit))
                revision = at
                self.commits.append(commit)
                self.revisions.append(at)
            before = commit
        return len(found)

    def check_sound(self) -> None:
        """Git finds nothing wrong with it."""
        assert is_sound(self.repository)

    def is_held(self) -> bool:
        """Whether anything is held back."""
        return any(path.startswith(".trellis/held/") for path in self.files())

    def _is_upkeep(self, commit: str) -> bool:
        """Whether it repairs or tries again: the one reason to publish a revision again."""
        subject = git(self.repository, "log", "-1", "--format=%s", commit)
        return subject.startswith(("Undo others' edits", "Render what could not"))


def tree_of(repository: Path, commit: str) -> str:
    return git(repository, "rev-parse", f"{commit}^{{tree}}")


def _log(repository: Path, span: str) -> list[tuple[str, list[str], str, str]]:
    """Commit, parents, cursor and maker, the oldest first; on every way there is."""
    trailers = (
        f"%(trailers:key={key},valueonly,separator=%x20)"
        for key in ("Trellis-Revision", "Trellis-Renderer")
    )
    form = "%x1f".join(("%H", "%P", *trailers))
    told = git(repository, "log", "--reverse", "--topo-order", f"--format={form}", span)
    rows = [line.split("\x1f") for line in told.splitlines()]
    return [(commit, parents.split(), cursor, maker) for commit, parents, cursor, maker in rows]


def check_whole(files: Mapping[str, bytes]) -> None:
    """Every line of every pointer leads to a directory in the same commit, and all are led to."""
    led, there = led_to(files), directories(files)
    assert set(led) <= there, f"lines lead nowhere: {sorted(set(led) - there)[:5]}"
    assert there <= set(led), f"no line leads to {sorted(there - set(led))[:5]}"
    assert ".trellis/held.json" in files


async def verified(url: str, record: Record) -> Verified:
    """Everything rendered anew on top of what is held, compared with what is there."""
    publisher = GitPublisher.open(str(record.repository), now=lambda: 1_700_000_000)
    with closing(publisher), Sandbox() as sandbox, closing(_told(url, publisher, sandbox)) as told:
        return await Errands(told, lambda _: None).verify()


async def from_scratch(url: str, record: Record) -> str:
    """The tree that a worker makes who finds nothing but what the owners have pushed."""
    branch = f"fresh-{next(_NUMBERS)}"
    git(record.repository, "update-ref", f"refs/heads/{branch}", _of_owners(record.repository))
    publisher = GitPublisher.open(str(record.repository), now=lambda: 1_700_000_000, branch=branch)
    with closing(publisher), Sandbox() as sandbox, closing(_told(url, publisher, sandbox)) as told:
        await Errands(told, lambda _: None).once()
    try:
        return tree_of(record.repository, branch)
    finally:
        git(record.repository, "update-ref", "-d", f"refs/heads/{branch}")


def _of_owners(repository: Path) -> str:
    """A commit of what is not the worker's, as it is now."""
    index = {"GIT_INDEX_FILE": str(repository / "owners.index")}
    git(repository, "read-tree", "main", **index)
    paths = filter(is_owned, git(repository, "ls-files", "-z", **index).split("\0"))
    rows = "".join(f"0 {'0' * 40}\t{path}\0" for path in paths)
    git(repository, "update-index", "-z", "--index-info", said=rows.encode(), **index)
    return git(repository, "commit-tree", git(repository, "write-tree", **index), "-m", "Owners")


async def check_from_scratch(url: str, record: Record) -> None:
    """What is published is what rendering everything gives."""
    found = await verified(url, record)
    assert found.whole, found
    if not record.is_held():  # what was held before is not known from scratch
        assert record.tree == await from_scratch(url, record)


def _told(url: str, publisher: GitPublisher, sandbox: Sandbox) -> Publishing:
    return Publishing(
        SocketSource(SourceSettings(url=url)),
        publisher,
        planner(_FORMATS, sandbox, WaveBounds()),
        stamp(_FORMATS),
        name="from-scratch",
        measures=Measures(),
    )
