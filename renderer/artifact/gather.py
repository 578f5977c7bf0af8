"""The files a kustomize directory builds from: its own, and those of every directory it names.

A directory is taken whole and as it is. Names are followed where kustomize follows them, never out
of the directory that bounds them and never through a link; what cannot be had is refused here, and
not by a store that has already fetched the artifact.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from graph.model.errors import Invalid, TrellisError
from graph.model.names import quoted
from renderer.canonical import read
from renderer.paths import KUSTOMIZATIONS
from renderer.tree import Tree

NAMED = ("resources", "components", "bases", "generators", "transformers", "validators")
"""Fields of a kustomization whose items may be directories."""
REMEMBERED_BYTES_MAX = 16_384
"""Kustomizations up to this length are remembered parsed: a base has many overlays."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one artifact may hold."""

    files_max: int = 5_000
    bytes_max: int = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Gathered:
    """Files, and what they depend on."""

    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    inputs: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Paths taken as they are, with their identity."""
    read: dict[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])
    """The kustomizations that were followed, by directory."""


def gather(tree: Tree, directory: str, *, within: str, bounds: Bounds) -> Gathered:
    """What ``directory`` builds from; everything of it lies below ``within``."""
    found = Gathered()
    check_within(directory, directory, within)
    waiting = [directory]
    while waiting:
        each = waiting.pop()
        if each not in found.read:
            take(tree, each, found, bounds)
            found.read[each] = _kustomization(found.files, each)
            waiting.extend(_followed(tree, each, found, within=within, bounds=bounds))
    return found


def _followed(
    tree: Tree, directory: str, found: Gathered, *, within: str, bounds: Bounds
) -> Iterator[str]:
    """The directories that ``directory`` names; a file elsewhere is taken on the way."""
    for name in names_in(found.read[directory]):
        path = resolve(directory, name)
        check_within(directory, path, within)
        if path in found.files:
            continue
        if tree.names(path):
            yield path
        elif tree.read(path) is not None:
            take(tree, path, found, bounds)
        else:
            raise Invalid(
                f"{directory} names {quoted(name)}, and there is no such file or directory",
                hint="names of other hosts and links are not followed: keep a copy in place",
            )


def check_within(directory: str, path: str, within: str) -> None:
    """Refuse a path that is not below ``within``."""
    if not path.startswith(f"{within}/") or posixpath.normpath(path) != path:
        raise Invalid(
            f"{directory} leads to {quoted(path)}, which is not below {within}",
            hint="keep a copy of it there, so that the artifact holds all it builds from",
        )


def resolve(directory: str, name: str) -> str:
    """Where a name leads that a kustomization in ``directory`` gives."""
    return posixpath.normpath(posixpath.join(directory, name))


def names_in(kustomization: dict[str, object]) -> Iterator[str]:
    """What a kustomization names; text of several lines is an object, not a name."""
    for key in NAMED:
        items = kustomization.get(key)
        for item in items if isinstance(items, list) else ():  # pyright: ignore[reportUnknownVariableType] # of any YAML
            if isinstance(item, str) and "\n" not in item:
                yield item


def _kustomization(files: dict[str, bytes], directory: str) -> dict[str, object]:
    for name in KUSTOMIZATIONS:
        content = files.get(f"{directory}/{name}")
        if content is not None:
            parsed = _parsed if len(content) <= REMEMBERED_BYTES_MAX else _parsed.__wrapped__
            try:
                return parsed(content)
            except (TrellisError, UnicodeDecodeError) as error:
                raise _unreadable(f"{directory}/{name}", error) from None
    raise Invalid(
        f"{directory} has no kustomization.yaml",
        hint="a directory that is named by a kustomization must be one",
    )


@lru_cache(maxsize=2_048)
def _parsed(content: bytes) -> dict[str, object]:
    """A kustomization; nobody changes what is given out here, because many get the same."""
    value = read(content.decode())
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] # of any YAML


def take(tree: Tree, path: str, found: Gathered, bounds: Bounds) -> None:
    """Everything at or below ``path``, unless it is there already."""
    if any(path == each or path.startswith(f"{each}/") for each in found.inputs):
        return
    paths = list(_files(tree, path, bounds.files_max))
    content = tree.read_many(paths)
    for each in paths:
        if each not in content:
            raise Invalid(f"{each} is a link or no file", hint="put a copy of the file there")
    found.files.update(content)
    found.inputs[path] = tree.identity(path)
    if len(found.files) > bounds.files_max or _bytes(found) > bounds.bytes_max:
        raise Invalid(
            f"{path} brings it to {len(found.files):,} files of {_bytes(found):,} bytes",
            hint=f"an artifact takes {bounds.files_max:,} files of {bounds.bytes_max:,} bytes",
        )


def _files(tree: Tree, path: str, files_max: int) -> Iterator[str]:
    names = tree.names(path)
    if not names:
        yield path
        return
    waiting = [f"{path}/{name}" for name in reversed(names)]
    count = 0
    while waiting:
        each = waiting.pop()
        below = tree.names(each)
        if below:
            waiting.extend(f"{each}/{name}" for name in reversed(below))
            continue
        count += 1
        if count > files_max:
            raise Invalid(
                f"{path} has more than {files_max:,} files",
                hint="name a smaller directory",
            )
        yield each


def _bytes(found: Gathered) -> int:
    return sum(map(len, found.files.values()))


def _unreadable(path: str, error: Exception) -> Invalid:
    if isinstance(error, TrellisError):
        return Invalid(f"{path}: {error.message}", hint=error.hint)
    return Invalid(f"{path} is not UTF-8", hint="save the file as UTF-8")
