"""What an owner's base holds, as far as that can be told without building it.

A base is used as it is. It is looked into so that a binding to something that is not there is told
to its owner, instead of breaking a build on every cluster. Whatever cannot be told for certain (a
base from elsewhere, a patch, a prefix, YAML that is not read strictly) is taken to be right. So is
what is too much to read: whoever pushes a base must not be able to keep all others waiting.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from graph.model.errors import Invalid, Rejected
from renderer import canonical, paths
from renderer.failure import Failure, Unrenderable
from renderer.tree import Tree

KUSTOMIZATIONS = (paths.KUSTOMIZATION, "kustomization.yml", "Kustomization")
"""What kustomize looks for in a directory, in this order."""

READ_MAX = 2_000
"""Bases remembered from one commit to the next."""
FILE_BYTES_MAX = 256 * 1024
BASE_BYTES_MAX = 1024 * 1024
"""Of all files of a base together. Parsing takes up to a second for a quarter of it."""
PATHS_MAX = 2_000
"""Files and directories of a base: each is compared with what it was at every commit."""
_DEPTH_MAX = 16
_UNDERSTOOD = frozenset(
    (
        *("apiVersion", "buildMetadata", "commonAnnotations", "commonLabels", "configMapGenerator"),
        *("generatorOptions", "images", "kind", "labels", "metadata", "namespace", "replicas"),
        *("resources", "secretGenerator", "sortOptions"),
    )
)
"""Fields of a kustomization that leave objects their names and their shape."""

Address = tuple[str, str]
"""Kind and name."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """The objects of a base."""

    objects: Mapping[Address, Mapping[str, object] | None]
    """As they are written; None where they are generated."""
    places: Mapping[Address, str]
    """The file each is in."""
    versions: Mapping[Address, frozenset[str]]
    """Every ``apiVersion`` under which each is written."""
    is_complete: bool
    """Whether there can be no others, and these are what they become."""


Read = dict[str, tuple[Mapping[str, str | None], Holdings]]
"""Bases by directory, each with what stood for every path that was looked at."""


class Owners:
    """Bases and components in one tree. What was ``read`` before holds while its paths do."""

    def __init__(self, tree: Tree, read: Read | None = None) -> None:
        self._tree = tree
        self._read: Read = {} if read is None else read
        self._sure: set[str] = set()

    def holdings(self, directory: str) -> Holdings:
        """What the base in ``directory`` holds; ``Unrenderable`` where it cannot build."""
        if directory not in self._sure:
            held = self._read.get(directory)
            if held is None or not self._is_same(held[0]):
                if len(self._read) >= READ_MAX:
                    self._read.clear()
                reading = _Reading(self._tree)
                found = reading.of(directory)
                seen = {path: self._tree.identity(path) for path in sorted(reading.seen)}
                self._read[directory] = (seen, found)
            self._sure.add(directory)
        return self._read[directory][1]

    def _is_same(self, seen: Mapping[str, str | None]) -> bool:
        return all(self._tree.identity(path) == before for path, before in seen.items())

    def expect(self, directory: str) -> None:
        """Refuse a directory that kustomize cannot take."""
        kustomization_of(directory, self._tree)


def kustomization_of(directory: str, tree: Tree) -> str:
    """The file that makes ``directory`` one of kustomize's."""
    names = tree.names(directory)
    for name in KUSTOMIZATIONS:
        if name in names:
            return f"{directory}/{name}"
    missing = f"{directory} holds no {paths.KUSTOMIZATION}" if names else f"there is no {directory}"
    raise Unrenderable(
        Failure(missing, "push it to the repository, or correct the path in the definition")
    )


class _Reading:
    """One base being read. It ends where that is too much."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._objects: dict[Address, Mapping[str, object] | None] = {}
        self._places: dict[Address, str] = {}
        self._versions: dict[Address, frozenset[str]] = {}
        self._is_complete = True
        self._entered: set[str] = set()
        self._bytes_left = BASE_BYTES_MAX
        self.seen: set[str] = set()
        """Directories and files that decide what is found."""

    def of(self, directory: str) -> Holdings:
        self._directory(directory, 0)
        return Holdings(self._objects, self._places, self._versions, self._is_complete)

    def _directory(self, directory: str, depth: int) -> None:
        if directory in self._entered or depth > _DEPTH_MAX:
            self._is_complete = False  # kustomize may refuse it, and here it need not be told
            return
        self._entered.add(directory)
        self.seen.add(directory)
        file = kustomization_of(directory, self._tree)
        written = self._documents(self._read(file) or b"")
        if len(written) != 1 or not isinstance(written[0], dict):
            self._is_complete = False
            return
        fields = cast("dict[str, object]", written[0])
        if not _UNDERSTOOD.issuperset(fields):
            self._is_complete = False
        self._generated(file, "ConfigMap", fields.get("configMapGenerator"))
        self._generated(file, "Secret", fields.get("secretGenerator"))
        self._resources(file, directory, fields.get("resources"), depth)

    def _generated(self, file: str, kind: str, generators: object) -> None:
        for each in _items(generators):
            name = cast("dict[str, object]", each).get("name") if isinstance(each, dict) else None
            if isinstance(name, str):
                self._objects.setdefault((kind, name), None)
                self._places[kind, name] = file

    def _resources(self, file: str, directory: str, resources: object, depth: int) -> None:
        here = [each for each in _items(resources) if isinstance(each, str) and _is_here(each)]
        self._is_complete &= len(here) == len(_items(resources))
        found = {posixpath.normpath(f"{directory}/{each}"): each for each in here}
        for path, written in found.items():
            if self._is_too_much():
                self._is_complete = False
                return
            self.seen.add(path)
            content = self._read(path)
            if content is not None:
                self._file(path, content)
            elif self._tree.names(path):
                self._directory(path, depth + 1)
            elif self._bytes_left > 0:
                raise Unrenderable(
                    Failure(f"{written} is not there", "push it, as a file and no link", file)
                )

    def _is_too_much(self) -> bool:
        return self._bytes_left <= 0 or len(self.seen) >= PATHS_MAX

    def _read(self, path: str) -> bytes | None:
        """A file; None where there is none, and from the one on that is too much."""
        try:
            content = self._tree.read(path)
        except Rejected:  # more than anybody reads: as if too long here
            pass
        else:
            size = len(content or b"")
            if size <= min(FILE_BYTES_MAX, self._bytes_left):
                self._bytes_left -= size
                return content
        self._bytes_left, self._is_complete = 0, False
        return None

    def _file(self, path: str, content: bytes) -> None:
        for found in _flat(self._documents(content)):
            metadata, kind, api = found.get("metadata"), found.get("kind"), found.get("apiVersion")
            about = cast("dict[str, object]", metadata) if isinstance(metadata, dict) else {}
            name = about.get("name")
            if isinstance(kind, str) and isinstance(name, str):
                self._objects[kind, name] = found
                self._places[kind, name] = path
                if isinstance(api, str):
                    before = self._versions.get((kind, name), frozenset())
                    self._versions[kind, name] = before | {api}

    def _documents(self, content: bytes) -> list[object]:
        try:
            return list(canonical.read_all(content.decode()))
        except (Invalid, UnicodeDecodeError):
            self._is_complete = False
            return []


def _items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _is_here(resource: str) -> bool:
    """Whether it is a path of the same tree and not an address."""
    return "://" not in resource and "?" not in resource and not resource.startswith(("git@", "/"))


def _flat(documents: list[object]) -> Iterator[dict[str, object]]:
    for each in documents:
        if isinstance(each, dict):
            found = cast("dict[str, object]", each)
            items = found.get("items")
            if isinstance(items, list):
                yield from _flat(cast("list[object]", items))
            else:
                yield found
