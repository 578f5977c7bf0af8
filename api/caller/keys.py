"""The issuer's public keys: where they are read, how often, and which of them count.

They come from the issuer's own description of itself, over https, from the issuer's host alone:
no redirect is followed, no proxy of the environment is used, and an answer that is large or slow
is given up. Keys are read again when a token names one that is not known, or when they are old,
but never more often than once in a while, whoever asks: a flood of made-up keys is one read.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException, HTTPSConnection
from typing import Any, cast
from urllib.parse import urlsplit

from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key

from graph.model.errors import Unavailable

DOCUMENT_BYTES_MAX = 64 * 1024
"""Bytes of the issuer's description, or of its keys."""
DESCRIPTION = "/.well-known/openid-configuration"

KEY_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
"""The type of key an algorithm needs, by how the algorithm's name begins."""

_log = logging.getLogger(__name__)


class Keys:
    """The keys of one issuer, read when they are needed."""

    def __init__(
        self,
        issuer: str,
        *,
        trust: ssl.SSLContext,
        fetch_seconds: float,
        refresh_seconds: float,
        kept_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._trust = trust
        self._fetch_seconds = fetch_seconds
        self._refresh_seconds = refresh_seconds
        self._kept_seconds = kept_seconds
        self._clock = clock
        self._keys: tuple[Key, ...] = ()
        self._asked_seconds: float | None = None
        self._read_seconds = -kept_seconds
        self._failure: Unavailable | None = None
        self._reading: asyncio.Task[None] | None = None
        self.generation = 0
        """Grows when the keys are no longer the same."""

    async def find(self, kid: str | None, algorithm: str) -> Key | None:
        """The key a token is signed with, if the issuer has it; Unavailable if it cannot tell."""
        key = self._pick(kid, algorithm)
        now = self._clock()
        if key is not None and now - self._read_seconds < self._kept_seconds:
            return key
        if self._reading is None and self._may_read(now):
            self._asked_seconds = now
            self._reading = asyncio.create_task(self._read())
        if self._reading is not None:
            await asyncio.shield(self._reading)
            key = self._pick(kid, algorithm)
        if key is None and self._failure is not None:
            raise self._failure
        return key

    def _may_read(self, now: float) -> bool:
        return self._asked_seconds is None or now - self._asked_seconds >= self._refresh_seconds

    def _pick(self, kid: str | None, algorithm: str) -> Key | None:
        """The key named ``kid``; without a name, the only one that fits the algorithm."""
        fitting = [
            key
            for key in self._keys
            if key.key_type == KEY_TYPES[algorithm[:2]]
            and key.get("alg") in (None, algorithm)
            and (kid is None or key.kid == kid)
        ]
        return fitting[0] if fitting and (kid is not None or len(fitting) == 1) else None

    async def _read(self) -> None:
        """Read the keys; if that fails, the ones that were read before go on to count."""
        try:
            description = await self._fetch(self._issuer.rstrip("/") + DESCRIPTION)
            found = _usable(await self._fetch(_keys_url(description, self._issuer)))
        except Unavailable as error:
            self._failure = error
            _log.warning("%s", error.message)
        else:
            self._failure = None
            self._read_seconds = self._clock()
            if _prints(found) != _prints(self._keys):
                self._keys = found
                self.generation += 1
        finally:
            self._reading = None

    async def _fetch(self, url: str) -> dict[str, Any]:
        parts = urlsplit(url)
        connection = HTTPSConnection(
            parts.hostname or "", parts.port, timeout=self._fetch_seconds, context=self._trust
        )
        try:
            async with asyncio.timeout(self._fetch_seconds):
                body = await asyncio.to_thread(_get, connection, parts.path or "/")
        except TimeoutError:
            _hang_up(connection)
            raise _cannot(url, f"no answer in {self._fetch_seconds:g} s") from None
        except (OSError, HTTPException) as error:
            raise _cannot(url, str(error) or type(error).__name__) from None
        return _document(url, body)


def _get(connection: HTTPSConnection, path: str) -> bytes:
    """The body of the answer, if it is one; for a thread of its own."""
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        with connection.getresponse() as answer:
            if answer.status != 200:
                raise HTTPException(f"it answered {answer.status}")
            body = answer.read(DOCUMENT_BYTES_MAX + 1)
    finally:
        connection.close()
    if len(body) > DOCUMENT_BYTES_MAX:
        raise HTTPException(f"it sent more than {DOCUMENT_BYTES_MAX:,} bytes")
    return body


def _hang_up(connection: HTTPSConnection) -> None:
    """Let go of an answer that comes too slowly, so that the thread that waits for it ends."""
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def _document(url: str, body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise _cannot(url, "it sent no JSON object")
    return cast(dict[str, Any], document)


def _keys_url(description: dict[str, Any], issuer: str) -> str:
    """Where the description says the keys are; on the issuer's host, or nowhere."""
    if description.get("issuer") != issuer:
        raise _cannot(issuer, "it describes itself as another issuer")
    url = description.get("jwks_uri")
    if not isinstance(url, str) or _origin(url) is None or _origin(url) != _origin(issuer):
        raise _cannot(issuer, "its keys are not on its own host")
    return url


def _origin(url: str) -> tuple[str, int] | None:
    """Host and port of an https URL."""
    try:
        parts = urlsplit(url)
        port = parts.port or 443
    except ValueError:
        return None
    if parts.scheme != "https" or not parts.hostname or "@" in parts.netloc:
        return None
    return parts.hostname, port


def _usable(document: dict[str, Any]) -> tuple[Key, ...]:
    """The keys a signature can be checked with; others may be there, and are passed over."""
    given = document.get("keys")
    listed = cast(list[object], given) if isinstance(given, list) else []
    keys: list[Key] = []
    for each in listed:
        if not isinstance(each, dict):
            continue
        data = cast(dict[str, Any], each)
        if data.get("kty") in KEY_TYPES.values() and data.get("use") in (None, "sig"):
            with suppress(JoseError, ValueError, TypeError, KeyError):
                keys.append(JWKRegistry.import_key(data))
    if not keys:
        raise Unavailable(
            "the issuer lists no key a signature can be checked with",
            hint="the issuer's keys are to be RSA, EC or OKP keys for signatures",
        )
    return tuple(keys)


def _prints(keys: tuple[Key, ...]) -> set[tuple[str | None, str]]:
    return {(key.kid, key.thumbprint()) for key in keys}


def _cannot(url: str, reason: str) -> Unavailable:
    return Unavailable(
        f"the issuer's keys cannot be read from {url}: {reason}",
        hint="check TRELLIS_AUTH_ISSUER and that the issuer answers; this is tried again",
    )
