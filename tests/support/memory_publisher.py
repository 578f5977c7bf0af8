"""A publisher that keeps everything in memory: the promises of ``renderer.tree``, as plain dicts.

output = MemoryPublisher()
draft = output.begin(output.head())
draft.write("fleet/0123456789abcdef/kustomization.yaml", b"...")
draft.commit(Told("why", "", "3.abc", "1.abc"))
output.log[-1].files
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from graph.model.errors import Conflict
from renderer.paths import is_owned
from renderer.tree import Head, Told

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Commit:
    """One of the log; ``told`` is None for somebody who is no worker."""

    files: Files
    told: Told | None


@dataclass(frozen=True)
class MemoryTree:
    """Files at one moment."""

    files: Files

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        return {path: self.files[path] for path in paths if path in self.files}

    def names(self, directory: str) -> tuple[str, ...]:
        inside = f"{directory}/" if directory else ""
        below = {path[len(inside) :] for path in self.files if path.startswith(inside)}
        return tuple(sorted({path.partition("/")[0] for path in below}))

    def identity(self, path: str) -> str | None:
        found = {
            each: content
            for each, content in self.files.items()
            if each == path or each.startswith(f"{path}/") or not path
        }
        return sha256(repr(sorted(found.items())).encode()).hexdigest() if found else None


@dataclass
class MemoryPublisher:
    """A log of commits, and the promises W1 to W5."""

    log: list[Commit] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    """What the next commits fail with, one each."""
    open_drafts: int = 0

    def head(self) -> Head:
        if not self.log:
            return Head("", None, "", MemoryTree({}))
        newest = self.log[-1].files
        ours = next((each for each in reversed(self.log) if each.told is not None), None)
        if ours is None or ours.told is None:
            return Head(str(len(self.log)), None, "", MemoryTree(newest))
        made = {path: content for path, content in ours.files.items() if is_owned(path)}
        others = {path: content for path, content in newest.items() if not is_owned(path)}
        there = {path: content for path, content in newest.items() if is_owned(path)}
        restored = sorted(
            path for path in made.keys() | there.keys() if made.get(path) != there.get(path)
        )
        told = ours.told
        tree = MemoryTree(made | others)
        owners = {path: content for path, content in ours.files.items() if not is_owned(path)}
        pushed = sorted(
            path for path in owners.keys() | others.keys() if owners.get(path) != others.get(path)
        )
        return Head(
            str(len(self.log)),
            told.cursor,
            told.stamp,
            tree,
            tuple(restored[:100]),
            tuple(pushed),
            MemoryTree(ours.files),
        )

    def begin(self, head: Head) -> MemoryDraft:
        assert isinstance(head.tree, MemoryTree)
        self.open_drafts += 1
        return MemoryDraft(self, head, dict(head.tree.files))

    def close(self) -> None:
        assert not self.open_drafts, "every draft was committed or abandoned"

    def edit(self, files: Files) -> None:
        """Somebody who is no worker commits."""
        newest = dict(self.log[-1].files) if self.log else {}
        self.log.append(Commit(newest | files, None))

    @property
    def files(self) -> Files:
        """The newest of everything."""
        return self.log[-1].files if self.log else {}


@dataclass
class MemoryDraft:
    """Files on their way."""

    publisher: MemoryPublisher
    head: Head
    files: dict[str, bytes]
    over: bool = False

    def write(self, path: str, content: bytes) -> None:
        assert not self.over
        self.files[path] = content

    def remove(self, path: str) -> None:
        for each in [each for each in self.files if each == path or each.startswith(f"{path}/")]:
            del self.files[each]

    def changes(self) -> Mapping[str, bool]:
        assert isinstance(self.head.tree, MemoryTree)
        before = self.head.tree.files
        paths = self.files.keys() | before.keys()
        differing = (path for path in sorted(paths) if self.files.get(path) != before.get(path))
        return {path: path in self.files for path in differing}

    def commit(self, told: Told) -> Head | None:
        assert not self.over
        if self.publisher.failures:
            raise self.publisher.failures.pop(0)
        if str(len(self.publisher.log) or "") != self.head.commit:
            raise Conflict("another commit came first", hint="plan again")
        self.abandon()
        if self.files == self.publisher.files:
            return None
        self.publisher.log.append(Commit(dict(self.files), told))
        return self.publisher.head()

    def abandon(self) -> None:
        if not self.over:
            self.over = True
            self.publisher.open_drafts -= 1
