"""Automatic persisted queries: a client sends the SHA-256 of a document instead of its text.

The protocol is Apollo's. A hash that is not known is answered so that the client sends the text
beside it once; from then on the hash is enough, for every client and through every door. A hash is
only ever kept for the text it is the hash of, so no caller can make another's mean something else,
and only for a document that could be executed. What is kept is bounded; the one used longest ago
goes first, and whoever needs it again sends it again.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, cast

from api.refusals import PersistedQueryNotFound, PersistedQueryNotSupported
from graph.model.errors import Invalid

EXTENSION = "persistedQuery"
VERSION = 1
ENTRY_BYTES = 200
"""What an entry costs beside its text."""

_HASH = re.compile("[0-9a-f]{64}")


def hash_in(extensions: Mapping[str, Any]) -> str | None:
    """The hash that a request names, in lower case; None if it names none."""
    given: Any = extensions.get(EXTENSION)
    if given is None:
        return None
    named = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    found: Any = named.get("sha256Hash")
    digest = found.lower() if isinstance(found, str) else ""
    if named.get("version") != VERSION or not _HASH.fullmatch(digest):
        raise Invalid(
            '"extensions.persistedQuery" is not the hash of a document',
            hint='send {"version": 1, "sha256Hash": "<64 hexadecimal digits>"}',
        )
    return digest


class PersistedQueries:
    """Texts of documents by their hash."""

    def __init__(self, count_max: int, bytes_max: int) -> None:
        self._count_max = count_max
        self._bytes_max = bytes_max
        self._texts: OrderedDict[str, str] = OrderedDict()
        self.bytes_kept = 0

    def text(self, digest: str, sent: str) -> str:
        """The document that a request with this hash is for, ``sent`` beside it or not."""
        known = self._texts.get(digest)
        if known is not None and sent in ("", known):
            self._texts.move_to_end(digest)
            return known
        if sent:
            if sha256(sent.encode()).hexdigest() != digest:
                raise Invalid(
                    "the hash is not that of the query",
                    hint="send the SHA-256 of the query's text in UTF-8, in hexadecimal digits",
                )
            return sent
        if not self._count_max or not self._bytes_max:
            raise PersistedQueryNotSupported
        raise PersistedQueryNotFound

    def keep(self, digest: str, text: str) -> None:
        """Remember a text by its hash, which was checked."""
        size = _size(text)
        if digest in self._texts or not self._count_max or size > self._bytes_max:
            return
        self._texts[digest] = text
        self.bytes_kept += size
        while len(self._texts) > self._count_max or self.bytes_kept > self._bytes_max:
            _, oldest = self._texts.popitem(last=False)
            self.bytes_kept -= _size(oldest)


def _size(text: str) -> int:
    return len(text.encode()) + ENTRY_BYTES
