"""A source that is listened to."""

from __future__ import annotations

import asyncio

import pytest

from graph.model.errors import Unavailable
from renderer.message import Complete
from renderer.work.stream import AHEAD_MAX, listening


async def test_a_source_is_asked_for_a_few_messages_ahead_and_no_more():
    said = []

    async def messages():
        for revision in range(100):
            said.append(revision)
            yield Complete(str(revision), revision, 0)

    async with listening(messages()) as stream:
        await asyncio.sleep(0.05)
        assert len(said) == AHEAD_MAX + 1
        for revision in range(50):
            assert (await stream.next()).revision == revision
        await asyncio.sleep(0.05)
        assert len(said) == 50 + AHEAD_MAX + 1


async def test_waiting_in_vain_disturbs_nobody():
    news = asyncio.Event()

    async def messages():
        await news.wait()
        yield Complete("1", 1, 0)

    async with listening(messages()) as stream:
        assert await stream.next(0.01) is None
        assert await stream.next(0.01) is None
        news.set()
        assert (await stream.next(5)).revision == 1


async def test_what_ended_the_source_comes_after_all_it_said():
    async def messages():
        yield Complete("1", 1, 0)
        raise Unavailable("gone")

    async with listening(messages()) as stream:
        assert (await stream.next()).revision == 1
        with pytest.raises(Unavailable):
            await stream.next()


async def test_the_source_is_let_go_at_the_end():
    ended = []

    async def messages():
        try:
            for revision in range(100):
                yield Complete(str(revision), revision, 0)
        finally:
            ended.append(True)

    async with listening(messages()) as stream:
        await stream.next()
    assert ended == [True]
