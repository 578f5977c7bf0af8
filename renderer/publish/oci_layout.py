"""Image layouts on a disk: a directory for each repository, as every tool for images reads it.

``<directory>/clusters/<name>/`` and ``<directory>/apps/<application>/`` hold ``oci-layout``, the
blobs, and ``index.json``, which is put in place whole and last. What a tag led to before stays in
the index without a name, with the time it was dropped, until it is collected.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from graph.model.errors import Invalid
from renderer.artifact.artifact import MANIFEST, Artifact, Blob
from renderer.publish.oci import Place

NAME = "org.opencontainers.image.ref.name"
DROPPED = "dev.trellis.dropped"
INDEX = "index.json"
KINDS = ("apps", "clusters")
_LAYOUT = b'{"imageLayoutVersion":"1.0.0"}'
_BLOBS = "blobs/sha256"

Entry = dict[str, Any]


class Layouts:
    """An outlet that is a directory. One process writes there at a time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._fading: set[str] = set()
        """Repositories with something to collect, as far as they were looked at."""
        self._last: tuple[str, list[Entry]] = ("", [])
        """The repository that was read last: its tags are asked for one after the other."""

    def digest(self, place: Place) -> str | None:
        """What a tag leads to."""
        for each in self._entries(place.repository):
            if each["annotations"].get(NAME) == place.tag:
                return str(each["digest"])
        return None

    def repositories(self) -> Iterable[str]:
        """The layouts that are there."""
        found = (
            each.parent for kind in KINDS for each in self._directory.glob(f"{kind}/*/{INDEX}")
        )
        return sorted(each.relative_to(self._directory).as_posix() for each in found)

    def tags(self, repository: str) -> Iterable[str]:
        """The tags of a repository."""
        named = (each["annotations"].get(NAME) for each in self._entries(repository))
        return [tag for tag in named if tag is not None]

    def bring(self, items: Iterable[tuple[Place, Artifact]], now: float) -> None:
        """Blobs and manifests of all of them, then the tags."""
        by_repository: dict[str, dict[str, Artifact]] = {}
        for place, artifact in items:
            self._write_blobs(place.repository, artifact)
            by_repository.setdefault(place.repository, {})[place.tag] = artifact
        if not by_repository:
            return
        os.sync()  # a tag must not outlive a power cut that its blobs did not
        for repository, tags in by_repository.items():
            entries = [_described(artifact, {NAME: tag}) for tag, artifact in tags.items()]
            before = self._entries(repository)
            kept = [_dropped(each, now) if _named(each, tags) else each for each in before]
            digests = {each["digest"] for each in entries}
            kept = [
                each
                for each in kept
                if each["digest"] not in digests or NAME in each["annotations"]
            ]
            self._write_index(repository, [*entries, *kept])

    def keep(self, places: Iterable[Place]) -> None:
        """A tag that is there is in use: one that was dropped has lost its name."""

    def drop(self, places: Iterable[Place], now: float) -> None:
        """The tags go at once, what they led to stays for its grace time."""
        by_repository: dict[str, set[str]] = {}
        for place in places:
            by_repository.setdefault(place.repository, set()).add(place.tag)
        for repository, tags in by_repository.items():
            before = self._entries(repository)
            after = [_dropped(each, now) if _named(each, tags) else each for each in before]
            if after != before:
                self._write_index(repository, after)

    def collect(self, before: float) -> tuple[Place, ...]:
        """The index goes first, then the blobs that nothing in it needs."""
        limit = _time(before)
        for repository in sorted(self._fading):
            entries = self._entries(repository)
            kept = [each for each in entries if each["annotations"].get(DROPPED, "~") >= limit]
            if len(kept) < len(entries):
                self._write_index(repository, kept)
            self._sweep(repository, kept)
            if not kept:
                self._remove(repository)
        return ()

    def _remove(self, repository: str) -> None:
        """A layout that holds nothing; its index goes last, so it is found until then."""
        here = self._directory / repository
        with suppress(OSError):  # somebody else's file may lie there
            for each in (here / _BLOBS, (here / _BLOBS).parent):
                each.rmdir()
            (here / "oci-layout").unlink(missing_ok=True)
            (here / INDEX).unlink()
            here.rmdir()
        self._last = "", []
        self._fading.discard(repository)

    def _sweep(self, repository: str, entries: Sequence[Entry]) -> None:
        blobs = self._directory / repository / _BLOBS
        needed: set[str] = set()
        for each in entries:
            digest = str(each["digest"])
            manifest = orjson.loads((blobs / _hex(digest)).read_bytes())
            parts = (manifest["config"], *manifest["layers"])
            needed |= {_hex(digest), *(_hex(part["digest"]) for part in parts)}
        for path in list(blobs.iterdir()):
            if path.name not in needed:
                path.unlink()

    def close(self) -> None:
        """Nothing is held."""

    def _entries(self, repository: str) -> list[Entry]:
        if self._last[0] != repository:
            self._last = repository, self._read(repository)
        return self._last[1]

    def _read(self, repository: str) -> list[Entry]:
        path = self._directory / repository / INDEX
        try:
            found: list[Entry] = orjson.loads(path.read_bytes())["manifests"]
        except FileNotFoundError:
            return []
        except (ValueError, KeyError, TypeError):
            raise Invalid(
                f"{path} is no index of an image layout",
                hint="remove that directory: it is written again from what is published",
            ) from None
        self._note(repository, found)
        return found

    def _write_index(self, repository: str, entries: list[Entry]) -> None:
        self._last = "", []
        self._note(repository, entries)
        index = {"schemaVersion": 2, "mediaType": _INDEX_TYPE, "manifests": _sorted(entries)}
        _replace(self._directory / repository / INDEX, orjson.dumps(index))

    def _note(self, repository: str, entries: Sequence[Entry]) -> None:
        if not entries or any(DROPPED in each["annotations"] for each in entries):
            self._fading.add(repository)
        else:
            self._fading.discard(repository)

    def _write_blobs(self, repository: str, artifact: Artifact) -> None:
        here = self._directory / repository
        (here / _BLOBS).mkdir(parents=True, exist_ok=True)
        if not (here / "oci-layout").exists():
            _replace(here / "oci-layout", _LAYOUT)
        for blob in (*artifact.blobs, artifact.manifest):
            _write_blob(here / _BLOBS, blob)


_INDEX_TYPE = "application/vnd.oci.image.index.v1+json"


def _write_blob(directory: Path, blob: Blob) -> None:
    path = directory / _hex(blob.digest)
    if not path.exists() or path.stat().st_size != len(blob.content):
        _replace(path, blob.content)


def _replace(path: Path, content: bytes) -> None:
    """A file, whole or not at all; never through a link somebody put there."""
    beside = path.with_name(f".{path.name}.new")
    beside.unlink(missing_ok=True)
    with beside.open("xb") as file:
        file.write(content)
    beside.replace(path)


def _described(artifact: Artifact, annotations: dict[str, str]) -> Entry:
    return {
        "mediaType": MANIFEST,
        "digest": artifact.digest,
        "size": len(artifact.manifest.content),
        "annotations": annotations,
    }


def _named(entry: Entry, tags: Container[str]) -> bool:
    return entry["annotations"].get(NAME) in tags


def _dropped(entry: Entry, now: float) -> Entry:
    return {**entry, "annotations": {DROPPED: _time(now)}}


def _sorted(entries: list[Entry]) -> list[Entry]:
    def order(entry: Entry) -> tuple[str, str, str]:
        marks = entry["annotations"]
        return marks.get(NAME, "~"), marks.get(DROPPED, ""), str(entry["digest"])

    unique = {(each["digest"], each["annotations"].get(NAME)): each for each in entries}
    return sorted(unique.values(), key=order)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")
