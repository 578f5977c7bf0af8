"""A pack of objects, written from front to back, and the index git finds them by.

Each object is compressed and gone at once; 32 bytes about it are kept. The number of objects stands
in front of a pack and its checksum behind, so both are put right at the end, as git itself does.
Differences between objects are left to ``git repack``: here nothing is compared.
"""

from __future__ import annotations

import os
import struct
import tempfile
from contextlib import suppress
from hashlib import sha1
from itertools import accumulate
from pathlib import Path
from zlib import compress, crc32

from renderer.git.objects import Id

TEMPORARY = "tmp_pack_trellis_"
LEVEL = 1
"""Most of the gain for a fraction of the time; ``git repack`` does the rest."""

_KINDS = {b"commit": 1, b"tree": 2, b"blob": 3}
_BUFFER_BYTES = 1 << 20
_FAR = 1 << 31


class PackWriter:
    """One pack on its way into ``directory``."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=directory)
        self._path = Path(name)
        self._file = os.fdopen(handle, "w+b", buffering=_BUFFER_BYTES)
        self._file.write(b"PACK" + struct.pack(">II", 2, 0))
        self._offset = 12
        self._rows: list[bytes] = []

    def put(self, kind: bytes, name: Id, content: bytes) -> None:
        """An object, which is not looked at again."""
        packed = _head(_KINDS[kind], len(content)) + compress(content, LEVEL)
        self._file.write(packed)
        self._rows.append(name + struct.pack(">IQ", crc32(packed), self._offset))
        self._offset += len(packed)

    def finish(self) -> None:
        """Make the pack part of the repository, durably: the pack first, then its index."""
        checksum = self._seal()
        self._file.close()
        final = self._directory / f"pack-{checksum.hex()}"
        index = self._path.with_name(f"{self._path.name}.idx")
        try:
            _write(index, _index(sorted(self._rows), checksum))
            for path, suffix in ((self._path, ".pack"), (index, ".idx")):
                path.chmod(0o444)
                path.replace(final.with_suffix(suffix))
        finally:
            index.unlink(missing_ok=True)
        sync(self._directory)

    def drop(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):  # what is buffered has nowhere to go
            self._file.close()
        self._path.unlink(missing_ok=True)

    def _seal(self) -> bytes:
        file = self._file
        file.seek(8)
        file.write(struct.pack(">I", len(self._rows)))
        file.seek(0)
        digest = sha1(usedforsecurity=False)
        while part := file.read(_BUFFER_BYTES):
            digest.update(part)
        file.write(digest.digest())
        file.flush()
        os.fsync(file.fileno())
        return digest.digest()


def sync(path: Path) -> None:
    """See that a file, or the names in a directory, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _head(kind: int, size: int) -> bytes:
    head = bytearray()
    byte = kind << 4 | size & 15
    size >>= 4
    while size:
        head.append(byte | 128)
        byte = size & 127
        size >>= 7
    head.append(byte)
    return bytes(head)


def _index(rows: list[bytes], checksum: bytes) -> bytes:
    """Version 2: how many up to each first byte, ids, checksums, offsets; far ones apart."""
    counts = [0] * 256
    for row in rows:
        counts[row[0]] += 1
    near, far = bytearray(), bytearray()
    for row in rows:
        (offset,) = struct.unpack_from(">Q", row, 24)
        if offset >= _FAR:
            near += struct.pack(">I", _FAR | len(far) // 8)
            far += row[24:32]
        else:
            near += row[28:32]
    index = bytearray(b"\xfftOc\x00\x00\x00\x02")
    index += struct.pack(">256I", *accumulate(counts))
    index += b"".join([row[:20] for row in rows])
    index += b"".join([row[20:24] for row in rows])
    index += near + far + checksum
    return bytes(index) + sha1(index, usedforsecurity=False).digest()


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
