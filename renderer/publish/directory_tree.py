"""Files of a directory as the worker reads them. Links are as if absent."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping

from renderer.git.editing import Edit
from renderer.git.objects import Id, object_id
from renderer.paths import is_owned
from renderer.publish.record import Record
from renderer.publish.rooted import Rooted

STATE = ".trellis-state"
"""The directory of the record and the lock, below the root; nobody sees it here."""


class DirectoryTree:
    """Owned files as the record has them, all others as they are; ``Tree`` of ``renderer.tree``."""

    def __init__(self, record: Record, files: Rooted) -> None:
        self._record = record
        self._files = files

    def read(self, path: str) -> bytes | None:
        """The content of a file; None where there is none."""
        if is_owned(path):
            return self._record.content(path)
        return None if _is_private(path) else self._files.read(path)

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Content by path; those that are not there are left out."""
        found = ((path, self.read(path)) for path in dict.fromkeys(paths))
        return {path: content for path, content in found if content is not None}

    def names(self, directory: str) -> tuple[str, ...]:
        """What lies right below a directory, sorted; empty where there is none."""
        names = set(self._record.names_below(directory))
        if not (directory and is_owned(directory)):
            names |= self._others(directory)
        return tuple(sorted(names))

    def identity(self, path: str) -> str | None:
        """What git would call it: equal files have equal identities, wherever they are kept."""
        found = self._name(path)
        if found is not None:
            return found.hex()
        edit = Edit(None, lambda _: {})
        for file, name in self._below(path):
            edit.write(file[len(path) + 1 :] if path else file, name)
        sealed = edit.seal(lambda _kind, _content, name: name)
        return sealed.hex() if sealed else None

    def _name(self, path: str) -> Id | None:
        if is_owned(path):
            return self._record.name(path)
        content = self.read(path) if path else None
        return None if content is None else object_id(b"blob", content)

    def _below(self, path: str) -> Iterator[tuple[str, Id]]:
        yield from self._record.files(path)
        if path and is_owned(path):
            return
        for file, status in self._files.walk(path):
            if not (is_owned(file) or _is_private(file)) and stat.S_ISREG(status.st_mode):
                content = self._files.read(file)
                if content is not None:
                    yield file, object_id(b"blob", content)

    def _others(self, directory: str) -> set[str]:
        prefix = f"{directory}/" if directory else ""
        return {
            name
            for name, kind in self._files.kinds(directory).items()
            if kind in (stat.S_IFREG, stat.S_IFDIR)
            and not is_owned(prefix + name)
            and not _is_private(prefix + name)
        }


def _is_private(path: str) -> bool:
    return path == STATE or path.startswith(f"{STATE}/")
