"""Files as they will be: what the next commit writes, over what the last one left.

Whatever is written can be read again at once, so several steps can go into one commit. Content that
streams by in a snapshot is not kept for that; such a sheet takes one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from renderer.paths import KUSTOMIZATION
from renderer.tree import Draft, Tree


class Sheet:
    """Reads through, writes to the draft, and remembers why."""

    def __init__(self, tree: Tree, draft: Draft) -> None:
        self.tree = tree
        """What the last commit left."""
        self.why: dict[str, str] = {}
        """By path, of what was written or removed."""
        self._draft = draft
        self._written: dict[str, bytes] = {}
        self._below: dict[str, set[str]] = {}
        """Names right below a directory that were written."""
        self._gone: set[str] = set()

    def read(self, path: str) -> bytes | None:
        """The content of a file as it will be."""
        if path in self._written:
            return self._written[path]
        return None if self._is_gone(path) else self.tree.read(path)

    def read_many(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Content by path; what is not there is left out."""
        found: dict[str, bytes] = {}
        ask: list[str] = []
        for path in paths:
            if path in self._written:
                found[path] = self._written[path]
            elif not self._is_gone(path):
                ask.append(path)
        found.update(self.tree.read_many(ask))
        return found

    def names(self, directory: str) -> list[str]:
        """What lies right below a directory."""
        written = self._below.get(directory, set[str]())
        there = () if self._is_gone(directory) else self.tree.names(directory)
        left = (each for each in there if f"{directory}/{each}" not in self._gone)
        return sorted(written.union(left))

    def has(self, directory: str) -> bool:
        """Whether something builds there."""
        if f"{directory}/{KUSTOMIZATION}" in self._written:
            return True
        return not self._is_gone(directory) and self.tree.identity(directory) is not None

    def write(self, path: str, content: bytes, why: str) -> None:
        """A file, kept so that it can be read again."""
        self._written[path] = content
        below = path
        while below:
            directory, _, name = below.rpartition("/")
            named = self._below.setdefault(directory, set())
            if name in named:
                break
            named.add(name)
            below = directory
        self.stream(path, content, why)

    def stream(self, path: str, content: bytes, why: str) -> None:
        """A file that nobody asks for again before the commit."""
        self.why[path] = why
        self._draft.write(path, content)

    def replace(self, directory: str, files: Mapping[str, bytes], why: str) -> None:
        """Exactly these files, right below ``directory``."""
        for name in self.names(directory):
            if name not in files:
                self.remove(f"{directory}/{name}", why)
        for name, content in files.items():
            self.write(f"{directory}/{name}", content, why)

    def remove(self, path: str, why: str) -> None:
        """A file or a directory, if it is there."""
        written = self._forget(path)
        there = not self._is_gone(path) and self.tree.identity(path) is not None
        if written or there:
            self.why[path] = why
            self._draft.remove(path)
        if there:
            self._gone.add(path)
        self._empty(path.rpartition("/")[0])

    def _empty(self, directory: str) -> None:
        """A directory in which nothing is left is none."""
        while directory and not self._holds(directory):
            parent, _, name = directory.rpartition("/")
            self._below.get(parent, set()).discard(name)
            self._gone.add(directory)
            directory = parent

    def _holds(self, directory: str) -> bool:
        if self._below.get(directory):
            return True
        there = () if self._is_gone(directory) else self.tree.names(directory)
        return any(f"{directory}/{each}" not in self._gone for each in there)

    def _forget(self, path: str) -> bool:
        """What was written at or below ``path`` counts no more."""
        directory, _, name = path.rpartition("/")
        if name not in self._below.get(directory, ()):
            return False
        self._below[directory].discard(name)
        for each in tuple(self._below.pop(path, ())):
            self._forget_below(f"{path}/{each}")
        self._written.pop(path, None)
        return True

    def _forget_below(self, path: str) -> None:
        for each in self._below.pop(path, ()):
            self._forget_below(f"{path}/{each}")
        self._written.pop(path, None)

    def _is_gone(self, path: str) -> bool:
        if not self._gone:
            return False
        while path:
            if path in self._gone:
                return True
            path = path.rpartition("/")[0]
        return False
