"""What was pushed to a registry, and what of it waits to be taken away.

A registry does not tell everybody what it holds, and never when something was let go of. So a file
of the worker's own says both, and whoever starts again knows which tags nothing leads to any more.

G1  A tag is noted before it is pushed, so none is there that nobody knows of.
G2  A tag that was dropped keeps its first time, over any number of starts.
G3  The file is derived: without it nothing is pushed wrongly, and only what was retired before it
    was lost stays at the registry.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from renderer.publish.oci import Place

_log = logging.getLogger(__name__)

Tags = dict[str, float | None]
"""When each was dropped; None where it is in use."""


class Ledger:
    """The tags of one registry; without a path they last as long as the process."""

    def __init__(self, path: Path | None, registry: str) -> None:
        self._path = path
        self._registry = registry
        self._tags: dict[str, Tags] = self._read()
        self._saved = True

    def repositories(self) -> list[str]:
        """Those that hold something."""
        return sorted(self._tags)

    def in_use(self, repository: str) -> set[str]:
        """The tags of a repository that were not dropped."""
        return {tag for tag, since in self._tags.get(repository, {}).items() if since is None}

    def dropped(self, repository: str) -> set[str]:
        """The tags of a repository that wait to be taken away."""
        return {tag for tag, since in self._tags.get(repository, {}).items() if since is not None}

    def due(self, before: float) -> list[Place]:
        """What was dropped before that time."""
        return sorted(
            Place(repository, tag)
            for repository, tags in self._tags.items()
            for tag, since in tags.items()
            if since is not None and since < before
        )

    def note(self, place: Place) -> None:
        """Something leads to it."""
        self._put(place, None)

    def drop(self, place: Place, now: float) -> None:
        """Nothing leads to it from now on, or for longer."""
        if self._tags.get(place.repository, {}).get(place.tag) is None:
            self._put(place, now)

    def forget(self, place: Place) -> None:
        """It is not there any more."""
        tags = self._tags.get(place.repository, {})
        if place.tag in tags:
            del tags[place.tag]
            self._saved = False
        if not tags:
            self._tags.pop(place.repository, None)

    def save(self) -> None:
        """Write down what was not; a disk that takes nothing holds no delivery up."""
        if self._saved or self._path is None:
            return
        beside = self._path.with_name(f".{self._path.name}.new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with beside.open("wb") as file:
                file.write(orjson.dumps({"registry": self._registry, "tags": self._tags}))
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
        except OSError as error:
            _log.warning("what was pushed is not written down: %s", error)
            return
        self._saved = True

    def _put(self, place: Place, since: float | None) -> None:
        tags = self._tags.setdefault(place.repository, {})
        if place.tag not in tags or tags[place.tag] != since:
            tags[place.tag] = since
            self._saved = False

    def _read(self) -> dict[str, Tags]:
        """What the file says about this registry; nothing where it is another one's."""
        if self._path is None:
            return {}
        try:
            found: Any = orjson.loads(self._path.read_bytes())
            if found["registry"] != self._registry:
                return {}
            return {str(name): _tags(tags.items()) for name, tags in found["tags"].items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.warning("%s does not say what was pushed: %s", self._path, error)
            return {}


def _tags(given: Iterable[tuple[Any, Any]]) -> Tags:
    return {str(tag): None if since is None else float(since) for tag, since in given}
