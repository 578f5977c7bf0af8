"""Artifacts brought out after a commit: to image layouts, or to a registry.

O1  Everything a tag leads to is there before the tag is: the blobs, then the manifest, then the
    tag; and the overlays a pointer pins before the pointer. Whoever stops in between leaves old
    tags with whole content, and whoever goes on finds what is there and brings the rest.
O2  A tag moves only when its files or pins differ. Bringing out the same commit again moves none.
O3  What nothing leads to any more stays for a grace time: a store may still be on its way there.
O4  An application that cannot be packed keeps its old tags; its name is told.
O5  What was retired while nobody delivered, or while a delivery failed, is dropped by the next one.

The first time, and after a failure, everything is compared with what is there; the outlet knows
what was brought before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, Protocol

from graph.model.errors import TrellisError
from renderer.artifact.affected import Affected, affected, everything
from renderer.artifact.artifact import Artifact
from renderer.artifact.edition import Edition
from renderer.artifact.packer import Packer, recipes

CURRENT = "current"
ROUND = 500
"""Artifacts held in memory on their way out."""


class Place(NamedTuple):
    """A tag of a repository."""

    repository: str
    tag: str


class Outlet(Protocol):
    """Where artifacts are brought."""

    def digest(self, place: Place) -> str | None:
        """What a tag leads to; None where there is no such tag."""
        ...

    def repositories(self) -> Iterable[str]:
        """What was brought something before, by this process or an earlier one."""
        ...

    def tags(self, repository: str) -> Iterable[str]:
        """The tags of a repository, as far as they can be told; not those that were dropped."""
        ...

    def bring(self, items: Iterable[tuple[Place, Artifact]], now: float) -> None:
        """Put each there, its tag last."""
        ...

    def keep(self, places: Iterable[Place]) -> None:
        """These tags lead where they should already, and are in use."""
        ...

    def drop(self, places: Iterable[Place], now: float) -> None:
        """Nothing leads to these tags from now on."""
        ...

    def collect(self, before: float) -> tuple[Place, ...]:
        """Let go of what was dropped before that time; those that cannot be are told."""
        ...

    def close(self) -> None:
        """Give back what is held."""
        ...


@dataclass(slots=True)
class Delivered:
    """What came of a delivery."""

    moved: int = 0
    """Tags that lead elsewhere now."""
    unchanged: int = 0
    dropped: int = 0
    refused: tuple[str, ...] = ()
    """What could not be packed, and why; the first hundred."""
    left: tuple[Place, ...] = ()
    """Dropped tags that could not be taken away."""


class Delivery:
    """Brings out what differs from what it brought before."""

    def __init__(self, packer: Packer, outlet: Outlet, *, grace_seconds: float) -> None:
        self._packer = packer
        self._outlet = outlet
        self._grace_seconds = grace_seconds
        self._brought: dict[Place, str] = {}
        self._since: Edition | None = None

    def deliver(self, edition: Edition, now: float) -> Delivered:
        """Bring out a commit; ``now`` is the time in seconds."""
        since, self._since = self._since, None  # whatever happens now, the next time starts anew
        moves = everything(edition) if since is None else affected(edition, since)
        if since is None:
            self._brought.clear()
            self._add_retired(moves)
        done = Delivered()
        refused: list[str] = []
        overlays = self._overlays(edition, sorted(moves.applications), refused)
        self._bring(overlays, done, now)
        self._bring(self._pointers(edition, sorted(moves.clusters), refused), done, now)
        self._drop(edition, moves, done, now)
        done.left = self._outlet.collect(now - self._grace_seconds)
        done.refused = tuple(refused[:100])
        self._since = edition
        return done

    def _add_retired(self, moves: Affected) -> None:
        """What was brought out before and is published no more."""
        for repository in self._outlet.repositories():
            kind, _, name = repository.partition("/")
            if kind == "apps":
                moves.applications.add(name)
            elif name not in moves.clusters and CURRENT in self._outlet.tags(repository):
                moves.gone.add(name)

    def _bring(self, items: Iterable[tuple[Place, Artifact]], done: Delivered, now: float) -> None:
        waiting = iter(items)
        while part := list(islice(waiting, ROUND)):
            fresh = [each for each in part if self._known(each[0]) != each[1].digest]
            self._outlet.bring(fresh, now)
            moved = {place for place, _ in fresh}
            self._outlet.keep(place for place, _ in part if place not in moved)
            self._brought.update((place, artifact.digest) for place, artifact in part)
            done.moved += len(fresh)
            done.unchanged += len(part) - len(fresh)

    def _known(self, place: Place) -> str | None:
        found = self._brought.get(place)
        return found if found is not None else self._outlet.digest(place)

    def _overlays(
        self, edition: Edition, applications: Iterable[str], refused: list[str]
    ) -> Iterator[tuple[Place, Artifact]]:
        for name in applications:
            for recipe in recipes(edition, name):
                try:
                    artifact = self._packer.overlay(edition, recipe)
                except TrellisError as error:
                    refused.append(f"{name} {recipe.key}: {error.message}")
                    continue
                yield Place(f"apps/{name}", recipe.tag), artifact

    def _pointers(
        self, edition: Edition, clusters: Iterable[str], refused: list[str]
    ) -> Iterator[tuple[Place, Artifact]]:
        for name in clusters:
            try:
                packed = self._packer.cluster(edition, name)
            except TrellisError as error:
                refused.append(f"{name}: {error.message}")
                continue
            yield Place(f"clusters/{name}", CURRENT), packed.artifact

    def _drop(self, edition: Edition, moves: Affected, done: Delivered, now: float) -> None:
        gone = [Place(f"clusters/{name}", CURRENT) for name in sorted(moves.gone)]
        for name in sorted(moves.applications):
            wanted = {recipe.tag for recipe in recipes(edition, name)}
            there = set(self._outlet.tags(f"apps/{name}"))
            gone += (Place(f"apps/{name}", tag) for tag in sorted(there - wanted))
        for place in gone:
            self._brought.pop(place, None)
        self._outlet.drop(gone, now)
        done.dropped = len(gone)
