"""A tip that somebody else made, and what the worker had made before: who wins where.

Owned paths are what the worker's newest commit says, all others what the tip says. Only directories
that differ are looked into, so the cost follows what somebody else changed.

A commit is the worker's if it says so and its owned paths are those it says it has: whoever amends
one, or takes its message for another, has made a commit of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice

from renderer.git.objects import (
    DIRECTORY,
    EMPTY,
    Entries,
    Entry,
    Id,
    encode_tree,
    is_directory,
    object_id,
)
from renderer.git.reading import Objects
from renderer.git.tree import GitTree
from renderer.paths import is_owned

RESTORED_MAX = 100
PUSHED_MAX = 5_000
"""Paths of owners that are told one by one; beyond, any may have changed."""
OWNED_DEPTH = 2
"""How deep directories are that ``owned_digest`` looks into; the root is at none."""
_APPLICATIONS = "apps"


def merged(objects: Objects, ours: Id, tip: Id) -> tuple[GitTree, tuple[str, ...]]:
    """Files as they should be, and the owned paths somebody else had changed."""
    if ours == tip:
        return GitTree(objects, tip), ()
    made: dict[Id, Entries] = {}
    meeting = _Meeting(objects, made)
    root = meeting.entry("", (DIRECTORY, ours), (DIRECTORY, tip))
    restored = tuple(islice(meeting.changed("", (DIRECTORY, ours), (DIRECTORY, tip)), RESTORED_MAX))
    return GitTree(objects, root[1] if root else None, made), restored


def pushed(objects: Objects, ours: Id, tip: Id) -> tuple[str, ...] | None:
    """Paths of owners that differ, whatever is there; None where they are too many."""
    meeting = _Meeting(objects, {})
    found = tuple(islice(meeting.pushed("", (DIRECTORY, ours), (DIRECTORY, tip)), PUSHED_MAX + 1))
    return found if len(found) <= PUSHED_MAX else None


def owned_digest(tree: GitTree) -> str:
    """What stands for all owned paths of a tree, whatever the others are."""
    found = sha256()
    for path, (mode, name) in sorted(_owned(tree)):
        found.update(b"%b\0%b %b\n" % (path.encode("utf-8", "surrogateescape"), mode, name))
    return found.hexdigest()


def _owned(tree: GitTree) -> Iterator[tuple[str, Entry]]:
    """Owned paths, each as far up as all below it is owned."""
    if tree.root is None or tree.root == EMPTY:
        return
    top = tree.entries(tree.root)
    yield from ((name, entry) for name, entry in top.items() if is_owned(name))
    applications = top.get(_APPLICATIONS)
    if applications is None or not is_directory(applications):
        return
    inside = {
        name: entry[1]
        for name, entry in tree.entries(applications[1]).items()
        if is_directory(entry)
    }
    below = tree.trees(inside.values())
    for application, directory in inside.items():
        for name, entry in below[directory].items():
            path = f"{_APPLICATIONS}/{application}/{name}"
            if is_owned(path):
                yield path, entry


class _Meeting:
    def __init__(self, objects: Objects, made: dict[Id, Entries]) -> None:
        self._objects = objects
        self._made = made

    def entry(self, path: str, ours: Entry | None, tip: Entry | None) -> Entry | None:
        """What should be at ``path``."""
        if ours == tip or not (_is_tree(ours) or _is_tree(tip)):
            return ours if path and is_owned(path) else tip
        if path and is_owned(path):
            return ours
        entries: dict[str, Entry] = {}
        for name, mine, theirs in self._pairs(ours, tip):
            found = self.entry(_below(path, name), mine, theirs)
            if found is not None:
                entries[name] = found
        if not entries:
            return None if tip is None or is_directory(tip) else tip
        content = encode_tree(entries)
        found_id = object_id(b"tree", content)
        if (DIRECTORY, found_id) != tip:
            self._made[found_id] = entries
        return (DIRECTORY, found_id)

    def changed(self, path: str, ours: Entry | None, tip: Entry | None) -> Iterator[str]:
        """Owned files that differ, sorted."""
        if ours == tip:
            return
        for side in (ours, tip):
            if side is not None and not is_directory(side) and is_owned(path):
                yield path
                break
        if _is_tree(ours) or _is_tree(tip):
            for name, mine, theirs in self._pairs(ours, tip):
                yield from self.changed(_below(path, name), mine, theirs)

    def pushed(self, path: str, ours: Entry | None, tip: Entry | None) -> Iterator[str]:
        """Paths that are not owned and differ; a directory that came or went as one."""
        if ours == tip or is_owned(path):
            return
        if _is_tree(ours) and _is_tree(tip):
            for name, mine, theirs in self._pairs(ours, tip):
                yield from self.pushed(_below(path, name), mine, theirs)
        else:
            yield path

    def _pairs(
        self, ours: Entry | None, tip: Entry | None
    ) -> Iterator[tuple[str, Entry | None, Entry | None]]:
        mine, theirs = self._entries(ours), self._entries(tip)
        for name in sorted(mine.keys() | theirs.keys()):
            yield name, mine.get(name), theirs.get(name)

    def _entries(self, entry: Entry | None) -> Entries:
        return self._objects.tree(entry[1]) if entry is not None and is_directory(entry) else {}


def _is_tree(entry: Entry | None) -> bool:
    return entry is not None and is_directory(entry)


def _below(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name
