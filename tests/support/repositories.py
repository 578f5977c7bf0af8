"""Places to publish to, for tests: real repositories, remotes and directories, and other people.

``Site`` is somewhere to publish to as the contract sees it: opened as often as wanted, read as
anybody reads it, and changed behind the worker's back.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Protocol

from renderer.git.access import Identity, Limits
from renderer.publish.directory import DirectoryPublisher
from renderer.publish.directory_tree import STATE
from renderer.publish.git import GitPublisher
from renderer.tree import Head, Publisher, Told

IMPATIENT = Limits(
    command_timeout_seconds=30, lock_timeout_seconds=0.3, attempts_max=2, backoff_seconds=0.01
)
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Somebody",
    "GIT_AUTHOR_EMAIL": "somebody@example.com",
    "GIT_COMMITTER_NAME": "Somebody",
    "GIT_COMMITTER_EMAIL": "somebody@example.com",
    "LC_ALL": "C",
}


def git(repository: Path, *arguments: str, said: bytes = b"", **more: str) -> str:
    """What git says to anybody at ``repository``."""
    out = _raw(repository, *arguments, said=said, **more)
    return out.decode("utf-8", "surrogateescape").rstrip("\n")


def _raw(repository: Path, *arguments: str, said: bytes = b"", **more: str) -> bytes:
    done = subprocess.run(
        ["git", *arguments],
        cwd=repository,
        input=said,
        capture_output=True,
        timeout=120,
        check=False,
        env={**_ENVIRONMENT, **more},
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def bare(path: Path) -> Path:
    """An empty bare repository."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--bare", "--initial-branch=main")
    return path


def files_of(repository: Path, commit: str = "main") -> dict[str, bytes]:
    """The files of a commit, as git lists them."""
    listed = git(repository, "ls-tree", "-r", "-z", commit)
    rows = [row.split("\t", 1) for row in listed.split("\0") if row]
    asked = "\n".join(meta.split()[2] for meta, _ in rows).encode()
    answered = _raw(repository, "cat-file", "--batch", said=asked)
    found: dict[str, bytes] = {}
    for _, path in rows:
        head, _, answered = answered.partition(b"\n")
        size = int(head.split()[2])
        found[path], answered = answered[:size], answered[size + 1 :]
    return found


def shows(repository: Path, path: str, commit: str = "main") -> str | None:
    """One file as anybody sees it; None where there is none."""
    if not git(repository, "ls-tree", commit, "--", path):
        return None
    return git(repository, "show", f"{commit}:{path}")


def is_sound(repository: Path) -> bool:
    """Whether git finds nothing wrong, being strict."""
    git(repository, "fsck", "--strict", "--full", "--no-dangling")
    return True


def foreign_commit(
    repository: Path,
    write: Mapping[str, str] | None = None,
    remove: tuple[str, ...] = (),
    *,
    message: str = "By hand",
    links: Mapping[str, str] | None = None,
    modules: tuple[str, ...] = (),
) -> str:
    """What somebody else commits on main, with an index of their own and no work tree."""
    index = {"GIT_INDEX_FILE": str(repository / "somebody.index")}
    tip = git(repository, "for-each-ref", "--format=%(objectname)", "refs/heads/main")
    git(repository, "read-tree", *((tip,) if tip else ("--empty",)), **index)
    rows: list[str] = []
    for path in remove:
        for each in git(repository, "ls-files", "-z", "--", path, **index).split("\0"):
            rows += [f"0 {'0' * 40}\t{each}"] if each else []
    blobs: dict[str, str] = {}
    for mode, entries in (("100644", write or {}), ("120000", links or {})):
        for path, text in entries.items():
            if text not in blobs:
                said = text.encode()
                blobs[text] = git(repository, "hash-object", "-w", "--stdin", said=said)
            rows.append(f"{mode} {blobs[text]}\t{path}")
    rows += [f"160000 {'1' * 40}\t{path}" for path in modules]
    git(repository, "update-index", "--index-info", said="\n".join(rows).encode(), **index)
    tree = git(repository, "write-tree", **index)
    parents = ("-p", tip) if tip else ()
    made = git(repository, "commit-tree", tree, *parents, "-m", message)
    git(repository, "update-ref", "refs/heads/main", made)
    return made


def told(cursor: str = "c1", *, subject: str = "Publish", body: str = "", stamp: str = "1") -> Told:
    """What a commit says of itself."""
    return Told(subject, body, cursor, stamp)


def publish(publisher: Publisher, files: Mapping[str, str | None], cursor: str) -> Head | None:
    """Commit on top of the head: text is written, None goes."""
    draft = publisher.begin(publisher.head())
    for path, text in files.items():
        if text is None:
            draft.remove(path)
        else:
            draft.write(path, text.encode())
    return draft.commit(told(cursor))


class Site(Protocol):
    """Somewhere to publish to."""

    def open(self, step: Callable[[str], None] = ...) -> Publisher: ...

    def close(self) -> None: ...

    def seen(self) -> dict[str, bytes]:
        """What anybody finds there, without what is the publisher's own business."""
        ...

    def meddle(self, write: Mapping[str, str], remove: tuple[str, ...] = ()) -> None:
        """Somebody else changes files."""
        ...


def _unobserved(step: str) -> None:
    pass


@dataclass
class BareSite:
    """A bare repository on this machine."""

    root: Path
    opened: list[Publisher] = field(default_factory=list[Publisher])

    def __post_init__(self) -> None:
        self.repository = self.root / "fleet.git"
        self.clock = count(1_700_000_000)

    def open(self, step: Callable[[str], None] = _unobserved) -> GitPublisher:
        publisher = GitPublisher.open(
            str(self.repository), now=lambda: next(self.clock), limits=IMPATIENT, step=step
        )
        self.opened.append(publisher)
        return publisher

    def close(self) -> None:
        while self.opened:
            self.opened.pop().close()

    def seen(self) -> dict[str, bytes]:
        tip = git(self.repository, "for-each-ref", "refs/heads/main")
        return files_of(self.repository) if tip else {}

    def meddle(self, write: Mapping[str, str], remove: tuple[str, ...] = ()) -> None:
        foreign_commit(self.repository, write, remove)


@dataclass
class RemoteSite(BareSite):
    """A repository reached by URL; every opening has a mirror of its own."""

    def __post_init__(self) -> None:
        super().__post_init__()
        bare(self.repository)
        self.mirrors = count(1)

    def open(
        self,
        step: Callable[[str], None] = _unobserved,
        *,
        mirror: Path | None = None,
        limits: Limits = IMPATIENT,
        identity: Identity | None = None,
    ) -> GitPublisher:
        publisher = GitPublisher.open(
            self.repository.as_uri(),
            now=lambda: next(self.clock),
            mirror=mirror or self.root / f"mirror-{next(self.mirrors)}.git",
            limits=limits,
            identity=identity,
            step=step,
        )
        self.opened.append(publisher)
        return publisher


@dataclass
class DirectorySite:
    """A plain directory."""

    root: Path
    opened: list[Publisher] = field(default_factory=list[Publisher])

    def __post_init__(self) -> None:
        self.directory = self.root / "out"

    def open(self, step: Callable[[str], None] = _unobserved) -> DirectoryPublisher:
        publisher = DirectoryPublisher.open(self.directory, lock_timeout_seconds=0.1, step=step)
        self.opened.append(publisher)
        return publisher

    def close(self) -> None:
        while self.opened:
            self.opened.pop().close()

    def seen(self) -> dict[str, bytes]:
        private = (f"{STATE}/", ".trellis/cursor.json")
        names = {
            path.relative_to(self.directory).as_posix(): path
            for path in self.directory.rglob("*")
            if path.is_file() or path.is_symlink()
        }
        return {
            name: path.read_bytes() for name, path in names.items() if not name.startswith(private)
        }

    def meddle(self, write: Mapping[str, str], remove: tuple[str, ...] = ()) -> None:
        for name in remove:
            path = self.directory / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        for name, text in write.items():
            (self.directory / name).parent.mkdir(parents=True, exist_ok=True)
            (self.directory / name).write_text(text)


SITES: dict[str, Callable[[Path], Site]] = {
    "git": BareSite,
    "git-remote": RemoteSite,
    "directory": DirectorySite,
}
