"""A tree being changed: only directories on the way to a change are opened and made again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from sys import intern

from renderer.git.objects import (
    DIRECTORY,
    FILE,
    Entries,
    Entry,
    Id,
    encode_tree,
    is_directory,
    object_id,
)

Load = Callable[[Id], Entries]
Put = Callable[[bytes, bytes, Id], Id]
Keep = Callable[[Id, Entries, int], None]
"""Takes a directory that is new, and how deep it is: the root is at none."""


def _unkept(name: Id, entries: Entries, depth: int) -> None:
    """Whoever wants a directory again reads it."""


class Edit:
    """Files that differ from those below ``root``; ``load`` gives the entries of a directory."""

    def __init__(self, root: Id | None, load: Load) -> None:
        self._load = load
        self._root = self._open((DIRECTORY, root) if root is not None else None)

    def write(self, path: str, content: Id) -> bool:
        """Put a file at ``path``; False if exactly that is there already."""
        *parents, name = path.split("/")
        at = self._root
        for each in parents:
            at = self._opened(at, each)
        if at.now.get(name) == (FILE, content):
            return False
        at.now[intern(name)] = (FILE, content)
        return True

    def remove(self, path: str) -> None:
        """Take away a file, or a directory with all that is in it."""
        *parents, name = path.split("/")
        at = self._root
        for each in parents:
            below = at.now.get(each)
            if below is None or (isinstance(below, tuple) and not is_directory(below)):
                return
            at = self._opened(at, each)
        at.now.pop(name, None)

    def changes(self) -> Iterator[tuple[str, bool]]:
        """Paths that differ: True written, False gone."""
        yield from self._within("", self._root.was, self._root)

    def seal(self, put: Put, keep: Keep = _unkept) -> Id | None:
        """The id of the whole, each directory that is new given to both; None if it is empty."""
        found = _sealed(self._root, put, keep, 0)
        return found[1] if found else None

    def _opened(self, at: _Open, name: str) -> _Open:
        found = at.now.get(name)
        if not isinstance(found, _Open):
            is_gone = found is not None and not is_directory(found)  # a file was in the way
            found = at.now[name] = self._open(None if is_gone else found)
        return found

    def _open(self, was: Entry | None) -> _Open:
        return _Open(was, dict(self._below(was)))

    def _below(self, entry: Entry | None) -> Entries:
        return self._load(entry[1]) if entry is not None and is_directory(entry) else {}

    def _within(self, path: str, was: Entry | None, at: _Open) -> Iterator[tuple[str, bool]]:
        before, now = self._below(was), at.now
        names = [name for name, each in now.items() if before.get(name) is not each]
        names += [name for name in before if name not in now]
        for name in sorted(names):  # the others are the very entries that were there
            yield from self._differing(f"{path}{name}", before.get(name), now.get(name))

    def _differing(
        self, path: str, was: Entry | None, now: Entry | _Open | None
    ) -> Iterator[tuple[str, bool]]:
        if isinstance(now, _Open):
            if was is not None and not is_directory(was):
                yield path, False
            yield from self._within(f"{path}/", was, now)
        elif now != was:
            if was is not None and (now is None or is_directory(was)):
                yield from self._gone(path, was)
            if now is not None:
                yield path, True

    def _gone(self, path: str, was: Entry | None) -> Iterator[tuple[str, bool]]:
        if was is not None and not is_directory(was):
            yield path, False
        for name, entry in sorted(self._below(was).items()):
            yield from self._gone(f"{path}/{name}", entry)


class _Open:
    """A directory being changed: what it was, and what is in it now."""

    __slots__ = ("now", "was")

    def __init__(self, was: Entry | None, now: dict[str, Entry | _Open]) -> None:
        self.was = was
        self.now = now


def _sealed(at: _Open, put: Put, keep: Keep, depth: int) -> Entry | None:
    """What stands for a directory; None if nothing is left of it."""
    entries: dict[str, Entry] = {}
    for name, each in at.now.items():
        entry = _sealed(each, put, keep, depth + 1) if isinstance(each, _Open) else each
        if entry is not None:
            entries[name] = entry
    if not entries:
        return None
    content = encode_tree(entries)
    found = object_id(b"tree", content)
    if at.was is None or at.was[1] != found:
        put(b"tree", content, found)
        keep(found, entries, depth)
    return (DIRECTORY, found)
