"""What owners keep in the repository: bases, components and roles, and whether they can be used.

They are used as they are. They are looked into so that what does not build, or a binding to
something that is not there, is told to its owner, instead of breaking a build on every cluster.
What was read is kept while nothing that was looked at differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graph.model.errors import Rejected
from renderer import canonical, paths
from renderer.failure import Failure, Unrenderable
from renderer.overlay.base_reading import BASE_BYTES_MAX, FILE_BYTES_MAX, BaseReading, Holdings
from renderer.tree import Tree

READ_MAX = 2_000
"""Bases remembered from one commit to the next."""
ROLE_DIRECTORIES = ("tasks", "handlers", "defaults", "vars", "meta")
ROLE_FILES_MAX = 200
"""Files of a role that are looked at."""
FILES_MAX = 5_000
BYTES_MAX = 32 * 1024 * 1024
"""Of all files of one application: as much as an artifact holds."""
_MAIN = ("main.yml", "main.yaml", "main")


@dataclass(frozen=True, slots=True)
class Kept:
    """A directory as it was read."""

    seen: Mapping[str, str | None]
    """What stood for every path that was looked at."""
    found: Holdings | Failure


Read = dict[tuple[str, str], Kept]
"""What was read, by what it was read as and the directory."""


class Owners:
    """What owners keep in one tree. What was ``read`` before holds while its paths do."""

    def __init__(self, tree: Tree, read: Read | None = None) -> None:
        self._tree = tree
        self._read: Read = {} if read is None else read
        self._sure: set[tuple[str, str]] = set()

    def holdings(self, directory: str) -> Holdings:
        """What the base in ``directory`` holds; ``Unrenderable`` where it cannot build."""
        return self._built("base", directory)

    def expect(self, directory: str) -> None:
        """Refuse a component that cannot build."""
        self._built("component", directory)

    def expect_role(self, directory: str) -> None:
        """Refuse a role without tasks, or with a file that is no YAML."""
        self._built("role", directory)

    def is_role(self, directory: str) -> bool:
        """Whether there are tasks for hosts."""
        return self._tree.identity(f"{directory}/tasks") is not None

    def looked_at(self, directories: Iterable[str]) -> set[str]:
        """Every path that decided what was found in these directories."""
        wanted = set(directories)
        kept = (each for (_, path), each in self._read.items() if path in wanted)
        return {path for each in kept for path in each.seen}

    def _built(self, what: str, directory: str) -> Holdings:
        asked = (what, directory)
        if asked not in self._sure:
            held = self._read.get(asked)
            if held is None or not self._is_same(held.seen):
                if len(self._read) >= READ_MAX:
                    self._read.clear()
                self._read[asked] = self._look(what, directory)
            self._sure.add(asked)
        found = self._read[asked].found
        if isinstance(found, Failure):
            raise Unrenderable(found)
        return found

    def _look(self, what: str, directory: str) -> Kept:
        if what == "role":
            failure = _role_failure(directory, self._tree)
            found = failure or Holdings({}, {}, {}, is_complete=False)
            return Kept({directory: self._tree.identity(directory)}, found)
        reading = BaseReading(self._tree)
        try:
            found = reading.of(directory, component=what == "component")
        except Unrenderable as error:
            found = error.failure
        seen = {path: self._tree.identity(path) for path in sorted(reading.seen)}
        return Kept(seen, found)

    def _is_same(self, seen: Mapping[str, str | None]) -> bool:
        return all(self._tree.identity(path) == before for path, before in seen.items())


def files_below(path: str, tree: Tree) -> dict[str, bytes]:
    """Owners' files at or below ``path``, sorted; none where they are too many to take along."""
    found: dict[str, bytes] = {}
    waiting, size = [path], 0
    while waiting:
        each = waiting.pop()
        if paths.is_owned(each):
            continue
        if names := tree.names(each):
            waiting.extend(f"{each}/{name}" for name in names)
        elif (content := tree.read(each)) is not None:
            found[each] = content
            size += len(content)
            if len(found) > FILES_MAX or size > BYTES_MAX:
                return {}
    return dict(sorted(found.items()))


def _role_failure(role: str, tree: Tree) -> Failure | None:
    hint = "push the role to the repository, or correct the path in the definition"
    tasks = tree.names(f"{role}/tasks")
    if not tasks:
        return Failure(f"there is no {role}/tasks", hint)
    if not any(name in tasks for name in _MAIN):
        return Failure(f"{role}/tasks holds no main.yaml", hint)
    left = BASE_BYTES_MAX
    for path in _role_files(role, tree):
        try:
            content = tree.read(path) or b""
        except Rejected:  # more than anybody reads
            continue
        left -= len(content)
        if left < 0:
            return None
        if len(content) <= FILE_BYTES_MAX and (failure := _yaml_failure(path, content)):
            return failure
    return None


def _role_files(role: str, tree: Tree) -> list[str]:
    found = [
        f"{role}/{directory}/{name}"
        for directory in ROLE_DIRECTORIES
        for name in tree.names(f"{role}/{directory}")
        if name.endswith((".yml", ".yaml"))
    ]
    return found[:ROLE_FILES_MAX]


def _yaml_failure(path: str, content: bytes) -> Failure | None:
    try:
        canonical.check_syntax(content.decode())
    except canonical.Malformed as error:
        return Failure(error.problem, error.hint, path, error.line)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return Failure("this is no UTF-8", "save the file as UTF-8", path, line)
    return None
