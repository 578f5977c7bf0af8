"""Answers, ready to be sent: made once for an artifact, and sent as often as it is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from renderer.artifact.artifact import MANIFEST

Headers = tuple[tuple[bytes, bytes], ...]

BLOB = "application/octet-stream"
VERSION = (b"docker-distribution-api-version", b"registry/2.0")
FOREVER = (b"cache-control", b"public, max-age=31536000, immutable")
"""For what is asked for by digest: whoever knows the digest was led to it by somebody who may."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, headers and a body; a HEAD gets all but the body."""

    status: int
    headers: Headers
    body: bytes
    etag: bytes = b""

    @property
    def unchanged(self) -> Headers:
        """The headers of a 304."""
        return tuple(each for each in self.headers if each[0] not in _OF_A_BODY)


_OF_A_BODY = (b"content-length", b"content-type")


def of_manifest(digest: str, content: bytes) -> Answer:
    """A manifest asked for by its digest."""
    return _of(digest, content, MANIFEST, FOREVER)


def of_blob(digest: str, content: bytes) -> Answer:
    """A blob."""
    return _of(digest, content, BLOB, FOREVER)


def for_now(answer: Answer, seconds: int, *, private: bool) -> Answer:
    """The same, asked for by a tag, which may lead elsewhere the next time."""
    whose = "private" if private else "public"
    control = b"cache-control", f"{whose}, max-age={seconds}".encode()
    headers = tuple(control if each is FOREVER else each for each in answer.headers)
    return Answer(answer.status, headers, answer.body, answer.etag)


def refusal(status: int, code: str, message: str, *more: tuple[bytes, bytes]) -> Answer:
    """An error as the distribution API tells it."""
    body = orjson.dumps({"errors": [{"code": code, "message": message}]})
    return Answer(
        status, (*_typed(body, "application/json"), (b"cache-control", b"no-store"), *more), body
    )


def _of(digest: str, content: bytes, media_type: str, control: tuple[bytes, bytes]) -> Answer:
    etag = f'"{digest}"'.encode()
    headers = (
        *_typed(content, media_type),
        (b"docker-content-digest", digest.encode()),
        (b"etag", etag),
        control,
    )
    return Answer(200, headers, content, etag)


def _typed(content: bytes, media_type: str) -> Headers:
    return (
        (b"content-type", media_type.encode()),
        (b"content-length", str(len(content)).encode()),
        VERSION,
    )


HERE = Answer(200, _typed(b"{}", "application/json"), b"{}")
"""What ``/v2/`` says: this is such an API."""
