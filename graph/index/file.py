"""A snapshot on disk, so that a process is ready in a fraction of a second.

The file is a copy of what the store knows at one cursor and may be deleted at any time. It is
written beside itself and put in place whole; what cannot be read whole is refused, never guessed.

    16 bytes  magic
     4 bytes  version of the layout
     4 bytes  shape of the classes it holds
     8 bytes  length of the body
    32 bytes  SHA-256 of the body
              the body, see ``layout``
"""

from __future__ import annotations

import gc
import os
import stat
import struct
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from graph.index.layout import decode, encode
from graph.index.plain import SHAPE
from graph.index.snapshot import Snapshot
from graph.model.errors import Invalid, NotFound, Unavailable

MAGIC = b"trellis snapshot"
VERSION = 2
HEADER = struct.Struct("<16sIIQ32s")


def write_snapshot(snapshot: Snapshot, path: Path) -> None:
    """Put ``snapshot`` at ``path``, whole or not at all."""
    body = encode(snapshot)
    header = HEADER.pack(MAGIC, VERSION, SHAPE, len(body), sha256(body).digest())
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with beside.open("wb") as file:
            file.write(header)
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        _sync_directory(path.parent)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise Unavailable(
            f"the snapshot file {path} cannot be written: {error.strerror}",
            hint="make room or choose another directory; the store has everything in it",
        ) from error


def read_snapshot(path: Path) -> Snapshot:
    """The snapshot at ``path``, or a refusal of anything that is not one."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise _refusal(path, "is no regular file")
        data = path.read_bytes()
    except FileNotFoundError:
        raise NotFound(
            f"there is no snapshot file {path}", hint="start without one; it is written later"
        ) from None
    except OSError as error:
        raise Unavailable(
            f"the snapshot file {path} cannot be read: {error.strerror}",
            hint="check the file's owner and mode, or delete it: it is rebuilt from the store",
        ) from error
    body = _checked_body(data, path)
    try:
        with _no_collection():
            return decode(body)
    except (IndexError, KeyError, TypeError, ValueError, struct.error) as error:
        # whole by its checksum, so written whole by a program that lays it out otherwise
        raise _refusal(path, "was written by another version of this program") from error


def _checked_body(data: bytes, path: Path) -> memoryview:
    if data[: len(MAGIC)] != MAGIC[: len(data)] or not data:
        raise _refusal(path, "is not a snapshot file")
    if len(data) < HEADER.size:
        raise _refusal(path, f"is cut off after {len(data):,} bytes")
    _, version, shape, length, digest = HEADER.unpack_from(data)
    if version != VERSION:
        raise _refusal(path, f"has layout version {version:,}; this program reads {VERSION}")
    if shape != SHAPE:
        raise _refusal(path, "was written by another version of this program")
    body = memoryview(data)[HEADER.size :]
    if len(body) != length:
        raise _refusal(path, f"holds {len(body):,} of {length:,} bytes")
    if sha256(body).digest() != digest:
        raise _refusal(path, "is damaged: its checksum does not match")
    return body


def _refusal(path: Path, what: str) -> Invalid:
    return Invalid(
        f"the snapshot file {path} {what}", hint="delete the file; it is rebuilt from the store"
    )


@contextmanager
def _no_collection() -> Generator[None]:
    """No garbage collection: half a million objects are made here and none is garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
