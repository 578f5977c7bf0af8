from __future__ import annotations

import asyncio
import logging

import pytest

from api.finishing import finished
from graph.model.errors import Unavailable


@pytest.mark.parametrize(
    ("error", "level", "said"),
    [
        (Unavailable("away"), logging.DEBUG, "refused after its caller had gone: away"),
        (RuntimeError("ours"), logging.ERROR, "failed after its caller had gone"),
    ],
)
async def test_what_fails_after_its_caller_has_gone_is_taken_and_logged(
    error: Exception, level: int, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    unhandled: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: unhandled.append(context))
    gate = asyncio.Event()

    async def work() -> None:
        await gate.wait()
        raise error

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.001):
            await finished(work())
    gate.set()
    for _ in range(3):  # the work goes on, ends, and its end is looked at
        await asyncio.sleep(0)
    told = [each for each in caplog.records if each.name == "api.finishing"]
    assert [(each.levelno, each.getMessage()) for each in told] == [(level, said)]
    assert not unhandled


async def test_what_goes_on_gives_its_caller_the_outcome() -> None:
    async def right() -> int:
        return 1

    async def wrong() -> int:
        raise Unavailable("away")

    assert await finished(right()) == 1
    with pytest.raises(Unavailable, match="away"):
        await finished(wrong())
