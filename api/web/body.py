"""The body of a request, taken in whole: never more than is allowed, and never slowly."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from dataclasses import dataclass
from typing import Any

from api.refusals import TooLarge, TooSlow
from api.web.door import Receive


class Gone(Exception):
    """The caller has hung up."""


async def read_body(
    receive: Receive, *, length: int | None, bytes_max: int, within_seconds: float
) -> bytes:
    """The whole body, or a refusal as soon as it is too long or too slow.

    Most bodies are there already, right behind their heads: those need no timer.
    """
    if length is not None and length > bytes_max:
        raise _too_large(bytes_max)
    reading = _whole(receive, bytes_max)
    try:
        waits_for = reading.send(None)
    except StopIteration as read:
        body: bytes = read.value
        return body
    try:
        async with asyncio.timeout(within_seconds):
            return await _Begun(reading, waits_for)
    except TimeoutError:
        raise TooSlow(
            f"the request did not arrive within {within_seconds:g} s", hint="send it faster"
        ) from None


@dataclass(frozen=True, slots=True)
class _Begun:
    """What has begun to wait, to be awaited from there on."""

    work: Coroutine[Any, Any, bytes]
    waits_for: Any

    def __await__(self) -> Generator[Any, Any, bytes]:
        try:
            yield self.waits_for
        except BaseException:
            self.work.close()
            raise
        return (yield from self.work.__await__())


async def _whole(receive: Receive, bytes_max: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > bytes_max:
            raise _too_large(bytes_max)
        if not message.get("more_body", False):
            return b"".join([*parts, part]) if parts else part
        parts.append(part)


def _too_large(bytes_max: int) -> TooLarge:
    return TooLarge(f"the request is longer than {bytes_max:,} bytes", hint="send less at a time")
