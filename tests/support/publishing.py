"""A worker in a process of its own, that can be killed, and what it must leave behind.

What is published is a function of the cursor: ``state(n)``. Each step goes from one cursor to the
next; whoever is overtaken begins again from the head, as the real worker does.

    python publishing.py git PLACE TARGET [STEP NTH]

publishes up to ``TARGET`` and, if told so, kills itself when step ``STEP`` of a commit is done for
the NTH time. Each commit made is told as a line.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from graph.model.errors import Conflict, Unavailable
from renderer.git.access import Limits
from renderer.publish.directory import DirectoryPublisher
from renderer.publish.git import GitPublisher
from renderer.tree import Publisher, Told

ROOT = Path(__file__).parents[2]
LIMITS = Limits(lock_timeout_seconds=30, backoff_seconds=0.02, attempts_max=8)
BIG = 3
"""Every third step is one of many files."""


def state(number: int) -> dict[str, bytes]:
    """What is published at cursor ``number``."""
    if not number:
        return {}
    files = {"fleet/count": str(number).encode()}
    for each in range(max(1, number - 3), number + 1):
        files[f"clusters/{each % 256:02x}/store-{each}/kustomization.yaml"] = b"# %d\n" % each
    wave = number - number % BIG
    if wave:
        files |= {f"ansible/{n:02x}/inventory.json": b"%d of %d" % (n, wave) for n in range(120)}
    return files


def step_once(publisher: Publisher, target: int) -> int:
    """One commit further, or none at the target; the cursor from then on."""
    head = publisher.head()
    number = int(head.cursor or 0)
    if number >= target:
        return number
    before, after = state(number), state(number + 1)
    draft = publisher.begin(head)
    for path in before.keys() - after.keys():
        draft.remove(path)
    for path, content in after.items():
        draft.write(path, content)
    draft.commit(Told(f"Step {number + 1}", "", str(number + 1), "1"))
    return number + 1


def opened(kind: str, place: str, step: Callable[[str], None]) -> Publisher:
    """What is published to."""
    if kind == "directory":
        return DirectoryPublisher.open(Path(place), lock_timeout_seconds=60, step=step)
    mirror = Path(f"{place}.mirror-of-{os.environ.get('WORKER', 'one')}")
    where = Path(place).as_uri() if kind == "git-remote" else place
    return GitPublisher.open(
        where, now=lambda: 1_700_000_000, mirror=mirror, limits=LIMITS, step=step
    )


def work(kind: str, place: str, target: int, step: Callable[[str], None]) -> None:
    """Publish up to ``target``, sharing the place with whoever else does."""
    number = 0
    while number < target:
        publisher = opened(kind, place, step)
        try:
            while number < target:
                number = step_once(publisher, target)
                print(number, flush=True)
                if kind == "directory":
                    break  # let somebody else have it
        except Conflict:
            print("overtaken", flush=True)
        finally:
            publisher.close()


def start(kind: str, place: Path, target: int, *kill: str, **more: str) -> subprocess.Popen[str]:
    """A worker as a process."""
    return subprocess.Popen(
        [sys.executable, __file__, kind, str(place), str(target), *kill],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], **more},
    )


def finished(child: subprocess.Popen[str]) -> tuple[int, str, str]:
    """How it ended, and what it said."""
    out, error = child.communicate(timeout=300)
    return child.returncode, out, error


def main(kind: str, place: str, target: str, *kill: str) -> int:
    """The process."""
    seen: list[str] = []

    def step(name: str) -> None:
        seen.append(name)
        if kill and name == kill[0] and seen.count(name) == int(kill[1]):
            os.kill(os.getpid(), signal.SIGKILL)

    if limit := os.environ.get("FILE_BYTES_MAX"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    try:
        work(kind, place, int(target), step)
    except Unavailable as refused:
        print(refused, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
