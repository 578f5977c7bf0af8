"""Who made what is published: the version of the format, and a fingerprint of its settings.

Two workers that would write the same state differently must not take turns at it (R5). So a worker
stops before the output of a newer format, and before that of other settings unless it is told to
adopt it; and where it goes on from an older format or from other settings, it writes everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import orjson

from graph.model.errors import Rejected
from graph.model.names import quoted

FORMAT_VERSION = 3
"""Grows whenever the same state is written in another way."""
FINGERPRINT_DIGITS = 12

_STAMP = re.compile(rf"([1-9][0-9]{{0,8}})\.([0-9a-f]{{{FINGERPRINT_DIGITS}}})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What ``Trellis-Renderer`` says."""

    version: int
    fingerprint: str

    def __str__(self) -> str:
        return f"{self.version}.{self.fingerprint}"

    @staticmethod
    def of(settings: Mapping[str, object]) -> Stamp:
        """The stamp of this format with ``settings``, which are all that shape the output."""
        text = orjson.dumps(settings, option=orjson.OPT_SORT_KEYS)
        return Stamp(FORMAT_VERSION, sha256(text).hexdigest()[:FINGERPRINT_DIGITS])

    def continues(self, there: str, *, adopt: bool = False) -> bool:
        """Whether what is there is of this very stamp; a refusal where it must not be touched."""
        if not there:
            return True
        found = _STAMP.fullmatch(there)
        if found is None:
            raise Rejected(
                f"what is published carries the stamp {quoted(there)}, which is none",
                hint="check who else writes to this output",
            )
        version, fingerprint = int(found[1]), found[2]
        if version > self.version:
            raise Rejected(
                f"what is published is of format {version}, and this worker writes {self.version}",
                hint="run the newer version of the worker",
            )
        if fingerprint != self.fingerprint and not adopt:
            raise Rejected(
                f"what is published was made with other settings ({there}, here {self})",
                hint="give both workers the same TRELLIS_FORMAT settings, or make this one's count"
                " with --adopt",
            )
        return version == self.version and fingerprint == self.fingerprint
