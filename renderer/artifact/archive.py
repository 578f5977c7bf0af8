"""Archives that depend on their files alone: no clock, no owner, no order but that of the names.

A file is packed once into a stretch of whole blocks; an archive is such stretches one after the
other, so a directory that many archives hold is packed once for all of them.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterable, Mapping

from graph.model.errors import Invalid
from graph.model.names import quoted

BLOCK = 512
LEVEL = 3
"""A third of the work of the usual 6 for a fifth more bytes: pointers are packed by thousands."""
MODE = 0o644
_END = bytes(2 * BLOCK)
_GZIP = 31
"""The window of zlib that writes gzip's frame: with no name and no time in it."""


def stretch(files: Mapping[str, bytes]) -> bytes:
    """Files by path, packed in the order of their paths."""
    return b"".join(part for path in sorted(files) for part in _member(path, files[path]))


def archive(stretches: Iterable[bytes]) -> bytes:
    """Stretches, in their order, as one archive."""
    return b"".join((*stretches, _END))


def compressed(content: bytes) -> bytes:
    """The same bytes for the same content, wherever zlib is the same."""
    return zlib.compress(content, LEVEL, _GZIP)


def _member(path: str, content: bytes) -> tuple[bytes, bytes, bytes]:
    head = tarfile.TarInfo(path)
    head.mode = MODE
    head.size = len(content)
    try:
        packed = head.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")
    except ValueError as error:
        raise Invalid(
            f"{quoted(path)} cannot be packed: {error}",
            hint="shorten the path: an archive takes 100 bytes of name after 155 of directories",
        ) from None
    return packed, content, bytes(-len(content) % BLOCK)
