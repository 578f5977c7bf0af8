"""Objects on their way into a repository: few as loose files, many as one pack.

The first objects wait in memory; when they become many or big, all of them go into a pack, and so
does whatever follows, at once. Nothing can be found by its name before ``land``, and nothing points
at it before somebody moves a branch, so that whoever dies on the way leaves only litter.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zlib import compress

from graph.model.errors import Unavailable
from renderer.git.objects import Id, object_id
from renderer.git.pack import LEVEL, PackWriter, sync

LOOSE_MAX = 100
"""More objects than this travel as a pack."""
WAITING_BYTES_MAX = 4 * 1024 * 1024
_SYNCED_AT_ONCE = 4
TEMPORARY = "tmp_obj_trellis_"


class Landing:
    """Objects for the repository whose objects are in ``directory``."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._waiting: dict[Id, tuple[bytes, bytes]] = {}
        self._waiting_bytes = 0
        self._pack: PackWriter | None = None
        self._seen: set[Id] = set()

    def put(self, kind: bytes, content: bytes, name: Id | None = None) -> Id:
        """Take an object in; its name where the caller knows it already."""
        found = name or object_id(kind, content)
        if found in self._seen:
            return found
        self._seen.add(found)
        try:
            if self._pack is not None:
                self._pack.put(kind, found, content)
            else:
                self._wait(kind, found, content)
        except OSError as error:
            raise unwritten(self._directory, error) from error
        return found

    def land(self, last: tuple[bytes, bytes] | None = None) -> None:
        """Make everything part of the repository, durably.

        ``last`` goes as a loose object in any case: so a pack is made of files and directories
        alone, and making it again, after a commit was refused, makes the same pack.
        """
        few = dict(self._waiting)
        if last is not None:
            few[object_id(*last)] = last
        try:
            if self._pack is not None:
                self._pack.finish()
            write_loose(self._directory, few)
        except OSError as error:
            raise unwritten(self._directory, error) from error
        finally:
            self.drop()

    def drop(self) -> None:
        """Forget what has not landed."""
        if self._pack is not None:
            self._pack.drop()
        self._pack = None
        self._waiting = {}
        self._seen = set()

    def _wait(self, kind: bytes, name: Id, content: bytes) -> None:
        self._waiting[name] = (kind, content)
        self._waiting_bytes += len(content)
        if len(self._waiting) > LOOSE_MAX or self._waiting_bytes > WAITING_BYTES_MAX:
            self._pack = PackWriter(self._directory / "pack")
            for each, (of, waiting) in self._waiting.items():
                self._pack.put(of, each, waiting)
            self._waiting = {}


def write_loose(directory: Path, objects: Mapping[Id, tuple[bytes, bytes]]) -> None:
    """Objects as files of their own: on the disk first, then under their names.

    They are synced side by side: the disk then writes once, where one by one it writes for each.
    """
    written: list[tuple[Path, Path]] = []
    try:
        for name, (kind, content) in objects.items():
            digits = name.hex()
            final = directory / digits[:2] / digits[2:]
            if not final.exists():
                written.append((_temporary(final, kind, content), final))
        with ThreadPoolExecutor(_SYNCED_AT_ONCE) as pool:
            _all(pool.map(sync, [temporary for temporary, _ in written]))
            for temporary, final in written:
                temporary.replace(final)
            _all(pool.map(sync, {final.parent for _, final in written}))
    except OSError:
        for temporary, _ in written:
            temporary.unlink(missing_ok=True)
        raise


def _temporary(final: Path, kind: bytes, content: bytes) -> Path:
    packed = compress(b"%b %d\0%b" % (kind, len(content), content), LEVEL)
    final.parent.mkdir(exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=final.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(packed)
            os.fchmod(handle, 0o444)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)


def _all(done: Iterator[None]) -> None:
    for _ in done:  # raises what one of them raised
        pass


def unwritten(directory: Path, error: OSError) -> Unavailable:
    """What to raise where the disk refuses."""
    return Unavailable(
        f"{directory} could not be written to: {error.strerror or error}",
        hint="see that the disk has room and the worker may write there; "
        "the last commit is untouched",
    )
