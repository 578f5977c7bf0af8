"""The body of a request, taken in whole: never more than is allowed, and never slowly."""

from __future__ import annotations

import asyncio

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
    try:
        async with asyncio.timeout(within_seconds):
            return await _parts(receive, bytes_max)
    except TimeoutError:
        raise TooSlow(
            f"the request did not arrive within {within_seconds:g} s", hint="send it faster"
        ) from None


async def _parts(receive: Receive, bytes_max: int) -> bytes:
    parts: list[bytes] = []
    size = 0
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
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_large(bytes_max: int) -> TooLarge:
    return TooLarge(f"the request is longer than {bytes_max:,} bytes", hint="send less at a time")
