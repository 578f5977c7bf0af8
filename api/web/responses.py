"""Answers of the newest revision, remembered as bytes.

The key is everything an answer depends on: the request as it was sent, the form of the answer, and
what its caller may see. A new revision forgets all of them at once, so none can be out of date.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from hashlib import blake2b

from api.telemetry.metrics import Tallies
from api.web.media import Media
from graph.index.snapshot import Snapshot

REQUEST_KEPT_MAX = 16_384
"""Bytes of a request whose answer is remembered."""
ENTRY_BYTES = 400
"""What an entry costs beside its own bytes."""


@dataclass(frozen=True, slots=True)
class Response:
    """An answer as it was sent."""

    body: bytes
    etag: bytes
    name: str
    """The operation's name, to be told when it is answered again."""


class Responses:
    """A bounded memory of answers, for the newest view alone."""

    def __init__(self, bytes_max: int, tallies: Tallies) -> None:
        self._bytes_max = bytes_max
        self._view: Snapshot | None = None
        self._kept: dict[Hashable, tuple[Response, int]] = {}
        self._bytes = 0
        self._tallies = tallies

    def get(self, view: Snapshot, key: Hashable) -> Response | None:
        """The answer given to the same request at this view."""
        found = self._kept.get(key) if view is self._view else None
        if found is None:
            self._tallies.responses_missed += 1
            return None
        self._tallies.responses_hit += 1
        return found[0]

    def keep(self, view: Snapshot, key: Hashable, response: Response, size: int) -> None:
        """Remember an answer to a request of ``size`` bytes."""
        if view is not self._view:
            self._view = view
            self._kept.clear()
            self._bytes = 0
        size += len(response.body) + ENTRY_BYTES
        if size > self._bytes_max // 8:
            return
        self._bytes -= self._kept.pop(key, (response, 0))[1]
        while self._bytes + size > self._bytes_max and self._kept:
            _, freed = self._kept.pop(next(iter(self._kept)))
            self._bytes -= freed
        self._kept[key] = (response, size)
        self._bytes += size


def etag_of(media: Media, body: bytes) -> bytes:
    """The entity tag of an answer: two answers with the same tag are the same, byte for byte."""
    digest = blake2b(body, digest_size=16, key=media.value[:64]).hexdigest()
    return f'W/"{digest}"'.encode()


def is_known(etag: bytes, if_none_match: bytes) -> bool:
    """Whether a caller has the answer with this tag already, by the header it sent."""
    return etag.removeprefix(b"W/") in if_none_match
