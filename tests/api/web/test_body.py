"""The body of a request: whole, in time, and not too long."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from api.refusals import TooLarge, TooSlow
from api.web.body import Gone, read_body
from api.web.door import Receive


def sending(parts: Sequence[bytes | None], *, pause_seconds: float = 0.0) -> Receive:
    """A caller who sends the parts, each after a pause; None hangs up."""
    left = list(parts)

    async def receive() -> Any:
        await asyncio.sleep(pause_seconds)
        part = left.pop(0)
        if part is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    return receive


async def read(receive: Receive, *, length: int | None = None, seconds: float = 10.0) -> bytes:
    return await read_body(receive, length=length, bytes_max=10, within_seconds=seconds)


@pytest.mark.parametrize("parts", [[b""], [b"0123456789"], [b"01234", b"", b"56789"]])
async def test_a_body_is_whole_however_many_parts_it_comes_in(parts: list[bytes]) -> None:
    assert await read(sending(parts)) == b"".join(parts)


async def test_a_body_that_is_too_long_is_refused_by_its_length_or_as_it_comes() -> None:
    with pytest.raises(TooLarge):
        await read(sending([]), length=11)
    with pytest.raises(TooLarge):
        await read(sending([b"01234567890"]))
    with pytest.raises(TooLarge):
        await read(sending([b"012345", b"67890", b"x"]))


async def test_a_body_has_its_time_once_however_many_parts_it_comes_in() -> None:
    with pytest.raises(TooSlow):
        await read(sending([b"0", b"1"], pause_seconds=0.06), seconds=0.1)


def test_a_body_that_is_there_already_is_read_without_waiting_for_anything() -> None:
    """Outside of any event loop: there is nothing to set a timer in."""

    async def receive() -> Any:
        return {"type": "http.request", "body": b"here", "more_body": False}

    with pytest.raises(StopIteration) as read_at_once:
        read(receive).send(None)  # type: ignore[attr-defined]  # a coroutine, driven by hand
    assert read_at_once.value.value == b"here"


async def test_a_body_whose_beginning_is_there_already_has_its_time_for_the_rest() -> None:
    left = [b"0", b"1"]

    async def receive() -> Any:
        part = left.pop(0)
        if not left:
            await asyncio.sleep(wait_seconds)
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    wait_seconds = 0.01
    assert await read(receive) == b"01"
    left = [b"0", b"1"]
    wait_seconds = 60.0
    with pytest.raises(TooSlow):
        await read(receive, seconds=0.05)


async def test_whoever_hangs_up_is_gone() -> None:
    with pytest.raises(Gone):
        await read(sending([b"0", None]))
