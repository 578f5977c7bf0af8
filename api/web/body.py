"""The body of a request, taken in whole: never more than is allowed, and never slowly."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from api.refusals import TooLarge, TooSlow
from api.web.door import Receive


class Gone(Exception):
    """The caller has hung up."""


async def read_body(
    receive: Receive, *, length: int | None, bytes_max: int, within_seconds: float
) -> bytes:
    """The whole body, or a refusal as soon as it is too long or too slow."""
    if length is not None and length > bytes_max:
        raise _too_large(bytes_max)
    message = await _next(receive, within_seconds)
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        return _checked(body, bytes_max)
    try:
        async with asyncio.timeout(within_seconds):
            return await _rest(receive, body, bytes_max)
    except TimeoutError:
        raise _too_slow(within_seconds) from None


async def _rest(receive: Receive, body: bytes, bytes_max: int) -> bytes:
    parts = [body]
    size = len(body)
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > bytes_max:
            raise _too_large(bytes_max)
        more = message.get("more_body", False)
    return b"".join(parts)


async def _next(receive: Receive, within_seconds: float) -> Mapping[str, Any]:
    try:
        async with asyncio.timeout(within_seconds):
            message = await receive()
    except TimeoutError:
        raise _too_slow(within_seconds) from None
    if message["type"] == "http.disconnect":
        raise Gone
    return message


def _checked(body: bytes, bytes_max: int) -> bytes:
    if len(body) > bytes_max:
        raise _too_large(bytes_max)
    return body


def _too_large(bytes_max: int) -> TooLarge:
    return TooLarge(f"the request is longer than {bytes_max:,} bytes", hint="send less at a time")


def _too_slow(seconds: float) -> TooSlow:
    return TooSlow(f"the request did not arrive within {seconds:g} s", hint="send it faster")
