"""One published tree, asked many times: what is the same at one commit is looked up once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from renderer.artifact.artifact import Artifact, Flavour
from renderer.paths import LAST_GOOD, is_owned
from renderer.tree import Tree

Inputs = tuple[tuple[str, str | None], ...]
"""Paths, and what stood for each when it was read."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """An overlay as an artifact."""

    application: str
    key: str
    flavour: Flavour

    @property
    def tag(self) -> str:
        """What it is called in its repository."""
        return self.key if self.flavour is Flavour.FLUX else f"{self.key}-{self.flavour}"


Pins = tuple[tuple[Recipe, str], ...]
"""Overlays that are led to, with their digests."""


@dataclass(frozen=True, slots=True)
class Part:
    """Files of one directory of a pointer, packed."""

    below: str
    """All of them lie there, and nothing of another part does."""
    stretch: bytes
    inputs: Inputs
    pins: Pins = ()


@dataclass(slots=True)
class Edition:
    """A tree, and what was found out about it. One thread asks it."""

    tree: Tree
    commit: str = ""
    overlays: dict[Recipe, Artifact | None] = field(default_factory=dict[Recipe, Artifact | None])
    """Overlays packed, or found to be what they were; None where one cannot be packed."""
    refusals: dict[Recipe, str] = field(default_factory=dict[Recipe, str])
    """Why not."""
    parts: dict[str, Part] = field(default_factory=dict[str, Part])
    """By the directory a pointer names."""
    _broken: frozenset[str] | None = None
    """Applications whose owners pushed what does not build: made of what they had before."""
    _identities: dict[str, str | None] = field(default_factory=dict[str, str | None])

    def read(self, path: str) -> bytes | None:
        """The content of a file."""
        return self.tree.read(self._place(path))

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Content by path."""
        places = {path: self._place(path) for path in paths}
        found = self.tree.read_many(places.values())
        return {path: found[place] for path, place in places.items() if place in found}

    def names(self, directory: str) -> tuple[str, ...]:
        """What lies right below a directory."""
        return self.tree.names(self._place(directory))

    def identity(self, path: str) -> str | None:
        """What stands for everything at or below ``path``."""
        known = self._identities
        if path not in known:
            known[path] = self.tree.identity(self._place(path))
        return known[path]

    def still(self, inputs: Inputs) -> bool:
        """Whether each path is what it was."""
        return all(self.identity(path) == before for path, before in inputs)

    def _place(self, path: str) -> str:
        """Where a path is found: owners' files of what is broken are kept as they were."""
        if self._broken is None:
            self._broken = frozenset(self.tree.names(LAST_GOOD))
        if not self._broken or is_owned(path):
            return path
        top, _, below = path.partition("/")
        name, _, rest = below.partition("/")
        return (
            f"{LAST_GOOD}/{name}/{rest}"
            if top == "apps" and rest and name in self._broken
            else path
        )
