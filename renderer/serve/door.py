"""The door of the distribution API: who asks for what, and how it is told.

Only GET and HEAD are answered. Whoever may not see a repository is told what somebody is told who
asks for one that is not there. A token for some clusters opens their pointers, and by digest the
applications those pin; tags of applications are for those who may see everything. Whoever may not
has few digests looked for at a time, and is told to wait with the others.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import Any

from starlette.types import Receive, Scope, Send

from graph.model.errors import NotFound, Rejected, TrellisError, Unavailable
from renderer.serve.answer import HERE, Answer, refusal
from renderer.serve.library import APPS, CLUSTERS, Library
from renderer.serve.tokens import ANYBODY, Tokens
from renderer.serve.tokens import Scope as Allowed

_ASKED = re.compile(
    r"(clusters|apps)/([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)/(manifests|blobs)/"
    r"(?:(sha256:[0-9a-f]{64})|([A-Za-z0-9_][A-Za-z0-9._-]{0,127}))",
    re.ASCII,
)
_LOOPBACK = re.compile(rb"(?:localhost|127\.[0-9.]+|\[::1\])(?::[0-9]+)?", re.I)
_WHO = refusal(
    401, "UNAUTHORIZED", "a token is needed", (b"www-authenticate", b'Basic realm="trellis"')
)
_METHOD = refusal(405, "UNSUPPORTED", "this registry is only read", (b"allow", b"GET, HEAD"))
_ELSEWHERE = refusal(404, "NAME_UNKNOWN", "there is no such repository")
_NO_MANIFEST = refusal(404, "MANIFEST_UNKNOWN", "there is no such manifest")
_NO_BLOB = refusal(404, "BLOB_UNKNOWN", "there is no such blob")
_FOREIGN = refusal(403, "DENIED", "without tokens, only this machine is answered")

_log = logging.getLogger(__name__)


class Door:
    """An ASGI application below ``/v2``."""

    def __init__(self, library: Library, tokens: Tokens | None, *, prefix: str = "") -> None:
        self._library = library
        self._tokens = tokens
        self._start = f"/v2/{prefix}/" if prefix else "/v2/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = _headers(scope["headers"])
        method: str = scope["method"]
        answer = await self._answer(method, scope["path"], headers)
        await _send(answer, headers.get(b"if-none-match"), send, body=method != "HEAD")

    async def _answer(self, method: str, path: str, headers: dict[bytes, bytes]) -> Answer:
        if method not in ("GET", "HEAD"):
            return _METHOD
        allowed = self._allowed(headers)
        if isinstance(allowed, Answer):
            return allowed
        if path in ("/v2/", "/v2"):
            return HERE
        asked = _ASKED.fullmatch(path, len(self._start)) if path.startswith(self._start) else None
        if asked is None:
            return _ELSEWHERE
        kind, name, what, digest, tag = asked.groups()
        if not _may(allowed, kind, name, by_digest=digest is not None):
            return _ELSEWHERE
        asker = None if allowed.everything else allowed
        return await self._looked_up((kind, name), what == "manifests", digest, tag, asker)

    async def _looked_up(
        self,
        name: tuple[str, str],
        manifest: bool,
        digest: str | None,
        tag: str | None,
        asker: Allowed | None,
    ) -> Answer:
        missing, by_digest = _NO_MANIFEST if manifest else _NO_BLOB, self._library.by_digest
        try:
            if digest is not None:
                return await by_digest(name, digest, manifest=manifest, asker=asker) or missing
            if tag is None or not manifest:
                return missing
            return await self._library.tagged(name, tag) or missing
        except NotFound:
            return missing
        except TrellisError as error:
            return _not_now(name, error)

    def _allowed(self, headers: dict[bytes, bytes]) -> Allowed | Answer:
        if self._tokens is None:
            host = headers.get(b"host", b"localhost")
            return ANYBODY if _LOOPBACK.fullmatch(host) else _FOREIGN
        return self._tokens.scope_of(headers.get(b"authorization", b"")) or _WHO


def _not_now(name: tuple[str, str], error: TrellisError) -> Answer:
    match error:
        case Rejected():
            return refusal(429, "TOOMANYREQUESTS", error.message, (b"retry-after", b"1"))
        case Unavailable():
            return refusal(503, "UNAVAILABLE", error.message, (b"retry-after", b"1"))
        case _:
            _log.error("%s/%s cannot be packed: %s", *name, error)
            return refusal(503, "UNAVAILABLE", error.message, (b"retry-after", b"60"))


def _may(allowed: Allowed, kind: str, name: str, *, by_digest: bool) -> bool:
    if allowed.everything:
        return True
    return (kind == APPS and by_digest) or (kind == CLUSTERS and allowed.takes(name))


def _headers(given: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    return dict(given)


async def _send(answer: Answer, known: bytes | None, send: Send, *, body: bool) -> None:
    status, headers = answer.status, answer.headers
    if known is not None and answer.etag and _names(known, answer.etag):
        status, headers, body = 304, answer.unchanged, False
    start: dict[str, Any] = {"type": "http.response.start", "status": status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": answer.body if body else b""})


def _names(known: bytes, etag: bytes) -> bool:
    return known == etag or etag in known or known.strip() == b"*"
