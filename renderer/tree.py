"""Files, as the worker reads and writes them, wherever they are kept.

A publisher keeps these promises, and tests/contracts/publish checks them for each:

W1  A commit is all or nothing: output, held list and cursor move together.
W2  A commit that changes no file but the cursor is none: the head stays where it was.
W3  Whoever was overtaken by another commit is told so (``Conflict``) and nothing is changed.
W4  Paths the worker does not own are what they were; owned paths that somebody else changed are
    what the worker made them, and ``Head.restored`` says which.
W5  Same files, same identity of the tree, in any process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol


class Tree(Protocol):
    """Files at one moment. Paths are relative, with slashes. A link is never followed."""

    def read(self, path: str) -> bytes | None:
        """The content of a file; None where there is none."""
        ...

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Content by path; those that are not there are left out."""
        ...

    def names(self, directory: str) -> tuple[str, ...]:
        """What lies right below a directory, sorted; empty where there is none."""
        ...

    def identity(self, path: str) -> str | None:
        """What stands for everything at or below ``path``; None where nothing is."""
        ...


@dataclass(frozen=True, slots=True)
class Head:
    """The newest of what was published."""

    commit: str
    """Empty before the first one."""
    cursor: str | None
    """How far it goes; None where no worker has published yet."""
    stamp: str
    """The ``Trellis-Renderer`` of whoever made it; empty where nobody did."""
    tree: Tree
    """Owned paths as the last worker made them, all others as they are now."""
    restored: tuple[str, ...] = ()
    """Owned paths that somebody else had changed since; the first hundred."""
    pushed: tuple[str, ...] | None = ()
    """Paths of owners that differ from what the newest commit of a worker had; None where that
    is not known, or they are too many to list."""
    before: Tree | None = None
    """All paths as that commit had them; None where they are not kept."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a commit says about itself."""

    subject: str
    body: str
    cursor: str
    stamp: str


class Draft(Protocol):
    """Files on their way: what is written here is the next commit, or nothing."""

    def write(self, path: str, content: bytes) -> None:
        """A file, new or instead of what was there."""
        ...

    def remove(self, path: str) -> None:
        """A file or a whole directory goes, if it is there."""
        ...

    def changes(self) -> Mapping[str, bool]:
        """Files that would differ from the head: True written, False gone."""
        ...

    def commit(self, told: Told) -> Head | None:
        """Make it the head, or None where no file differs; ``Conflict`` if another came first."""
        ...

    def abandon(self) -> None:
        """Leave everything as it was."""
        ...


class Publisher(Protocol):
    """Somewhere to publish."""

    def head(self) -> Head:
        """The newest, fetched from where it is kept."""
        ...

    def begin(self, head: Head) -> Draft:
        """The next commit, on top of ``head``."""
        ...

    def close(self) -> None:
        """Give back what is held."""
        ...
