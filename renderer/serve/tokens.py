"""Who may fetch what: tokens, known by their digests, and the clusters each is for.

A file of lines, ``SHA-256-OF-TOKEN SCOPE``, where the scope is a cluster's name, a pattern of names
as in a shell, or ``*``. A token comes as a bearer token, or as anybody's password, which is how a
cluster's secret carries it. It is looked up by the start of its digest, and compared in constant
time.

The file is looked at by the clock and not by requests: what is taken out of it opens nothing a
moment later, whatever its holder asks for and however often, and nobody's request pays for a look.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import time
from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import translate
from hashlib import sha256
from pathlib import Path

from graph.model.errors import Invalid

REMEMBERED_MAX = 100_000
LOOK_SECONDS = 1.0
"""Time between two looks at the file."""
SETTLED_SECONDS = 2.0
"""A file younger than this is read once more: it may be written again without looking any newer."""
START = 8
"""Digits of a digest that tokens are looked up by."""
_LINE = re.compile(r"([0-9a-fA-F]{64})[ \t]+([a-z0-9*?\[\]!-]{1,128})", re.ASCII)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scope:
    """The clusters a token is for."""

    names: frozenset[str] = frozenset()
    pattern: re.Pattern[str] | None = None
    everything: bool = False

    def takes(self, cluster: str) -> bool:
        """Whether ``cluster`` is one of them."""
        if self.everything or cluster in self.names:
            return True
        return self.pattern is not None and self.pattern.fullmatch(cluster) is not None


ANYBODY = Scope(everything=True)


class Tokens:
    """The tokens of a file, read again when it changes; see ``watch``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._scopes: Mapping[str, list[tuple[str, Scope]]] = {}
        self._remembered: dict[bytes, Scope | None] = {}
        self._stamp: tuple[int, int, int] | None = None
        self._read()

    def scope_of(self, authorization: bytes) -> Scope | None:
        """What the header of a request allows; None where it is nobody's."""
        remembered = self._remembered
        if authorization in remembered:
            return remembered[authorization]
        found = self._look_up(authorization)
        if found is not None and len(remembered) < REMEMBERED_MAX:
            remembered[authorization] = found
        return found

    async def watch(self) -> None:
        """Look at the file again and again, without end."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await asyncio.to_thread(self.refresh)

    def refresh(self) -> None:
        """Look at the file again; one that cannot be read changes nothing, and is told of."""
        try:
            if self._stamp_now() != self._stamp:
                self._read()
        except (OSError, UnicodeDecodeError, Invalid) as error:
            _log.error("tokens stay as they were: %s", error)

    def _look_up(self, authorization: bytes) -> Scope | None:
        token = _token_in(authorization)
        if not token:
            return None
        digest = sha256(token).hexdigest()
        found: Scope | None = None
        for each, scope in self._scopes.get(digest[:START], ()):
            if hmac.compare_digest(each, digest):
                found = scope
        return found

    def _read(self) -> None:
        stamp = self._stamp_now()
        scopes: dict[str, list[tuple[str, Scope]]] = {}
        for digest, scope in read_scopes(self._path.read_text("utf-8")).items():
            scopes.setdefault(digest[:START], []).append((digest, scope))
        settled = abs(time.time() - stamp[0] / 1e9) > SETTLED_SECONDS
        self._scopes, self._remembered = scopes, {}
        self._stamp = stamp if settled else None

    def _stamp_now(self) -> tuple[int, int, int]:
        found = self._path.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino


def read_scopes(text: str) -> dict[str, Scope]:
    """Scopes by the digest of their token, as a file of tokens has them."""
    found: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = _LINE.fullmatch(line.strip())
        if parts is None:
            raise Invalid(
                f"line {number:,} of the tokens is none",
                hint="write the SHA-256 of the token in hexadecimal, a space, and a cluster's name,"
                " a pattern or *",
            )
        found.setdefault(parts[1].lower(), []).append(parts[2])
    return {digest: _scope(scopes) for digest, scopes in found.items()}


def _scope(given: list[str]) -> Scope:
    if "*" in given:
        return ANYBODY
    patterns = [each for each in given if set(each) & set("*?[")]
    joined = "|".join(translate(each) for each in patterns)
    return Scope(frozenset(given) - frozenset(patterns), re.compile(joined) if joined else None)


def _token_in(authorization: bytes) -> bytes:
    kind, _, rest = authorization.partition(b" ")
    match kind.lower():
        case b"bearer":
            return rest.strip()
        case b"basic":
            try:
                return b64decode(rest.strip(), validate=True).partition(b":")[2]
            except Error:
                return b""
        case _:
            return b""
