"""Files of a commit, read without a work tree. Links and submodules are as if absent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from renderer.git.objects import DIRECTORY, EMPTY, Entries, Entry, Id, is_directory, is_file
from renderer.git.reading import Objects


class GitTree:
    """The files below one tree; ``Tree`` of ``renderer.tree``.

    ``made`` holds directories that are in no repository yet: those in which owned paths of one
    commit meet the other paths of a later one.
    """

    def __init__(
        self, objects: Objects, root: Id | None, made: Mapping[Id, Entries] | None = None
    ) -> None:
        self._objects = objects
        self.root = root
        self.made: Mapping[Id, Entries] = made or {}

    def read(self, path: str) -> bytes | None:
        """The content of a file; None where there is none."""
        return self.read_many((path,)).get(path)

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Content by path; those that are not there are left out."""
        files = {
            path: entry[1] for path, entry in self._entries(list(paths)).items() if is_file(entry)
        }
        contents = dict(self._objects.blobs(files.values()))
        return {path: contents[found] for path, found in files.items()}

    def names(self, directory: str) -> tuple[str, ...]:
        """What lies right below a directory, sorted; empty where there is none."""
        entry = self.entry(directory)
        if entry is None or not is_directory(entry):
            return ()
        found = self.entries(entry[1])
        return tuple(sorted(name for name, each in found.items() if _is_seen(each)))

    def identity(self, path: str) -> str | None:
        """The git id of what is at ``path``."""
        entry = self.entry(path)
        if entry is None or not _is_seen(entry) or entry[1] == EMPTY:
            return None
        return entry[1].hex()

    def entry(self, path: str) -> Entry | None:
        """What git has at ``path``, whatever it is."""
        if self.root is None:
            return None
        at: Entry | None = (DIRECTORY, self.root)
        for part in path.split("/"):
            if at is None or not is_directory(at):
                return None
            at = self.entries(at[1]).get(part) if part else at
        return at

    def entries(self, directory: Id) -> Entries:
        """What is right below a directory."""
        made = self.made.get(directory)
        return self._objects.tree(directory) if made is None else made

    def _entries(self, paths: list[str]) -> dict[str, Entry]:
        """Level by level, so that a thousand paths take as many questions as the deepest one."""
        if self.root is None:
            return {}
        found: dict[str, Entry] = {}
        at = dict.fromkeys(paths, self.root)
        left = {path: [part for part in path.split("/") if part][::-1] for path in at}
        while at:
            trees = self.trees(at.values())
            deeper: dict[str, Id] = {}
            for path, directory in at.items():
                parts = left[path]
                if not parts:
                    found[path] = (DIRECTORY, directory)
                    continue
                entry = trees[directory].get(parts.pop())
                if entry is not None and not parts:
                    found[path] = entry
                elif entry is not None and is_directory(entry):
                    deeper[path] = entry[1]
            at = deeper
        return found

    def trees(self, wanted: Iterable[Id]) -> Mapping[Id, Entries]:
        """What is right below many directories."""
        if not self.made:
            return self._objects.trees(wanted)
        asked = set(wanted)
        here = {each: self.made[each] for each in asked if each in self.made}
        return {**here, **self._objects.trees(asked - here.keys())}


def _is_seen(entry: Entry) -> bool:
    return is_file(entry) or is_directory(entry)
