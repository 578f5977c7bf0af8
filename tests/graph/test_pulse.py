"""Keeping up with a store that others write to, and that may be away for a while."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from engines import give, names
from graph.engine import Engine
from graph.model.change import Changeset, Cursor
from graph.model.command import RegisterCluster, RetireCluster
from graph.model.errors import Unavailable
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore
from small import SMALL

POLL_SECONDS = 0.02
SETTINGS = GraphSettings(poll_seconds=POLL_SECONDS)


class Line:
    """A store at the end of a line that can be cut; everything else is the store's own."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store
        self.cut = False
        self.looks = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def changesets(self, *, after: Cursor) -> AsyncIterator[Changeset]:
        self.looks += 1
        if self.cut:
            raise Unavailable("the line is cut", hint="wait")
        async for changeset in self._store.changesets(after=after):
            yield changeset


@pytest.fixture
async def writer(tmp_path):
    engine = await Engine.open(await EmbeddedStore.open(tmp_path / "fleet.db"), settings=SETTINGS)
    await give(engine, *SMALL)
    yield engine
    await engine.close()


@pytest.fixture
async def line(writer, tmp_path):
    return Line(await EmbeddedStore.open(tmp_path / "fleet.db", write=False))


@pytest.fixture
async def reader(line):
    engine = await Engine.open(line, settings=SETTINGS)
    task = asyncio.create_task(engine.keep_up())
    yield engine
    await engine.close()
    await asyncio.wait_for(task, 20)  # a closed engine lets it end by itself


async def until(condition) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what it waits for has no event of its own
            await asyncio.sleep(POLL_SECONDS / 4)


async def test_a_process_without_followers_follows_the_log(writer, reader):
    receipt = await give(writer, RegisterCluster("new-1", groups=("/geo/ca",)))
    await until(lambda: reader.view.cursor == receipt.cursor)
    assert names(reader, "/geo/ca") == {"new-1"}


async def test_an_outage_is_said_once_and_reads_go_on_meanwhile(writer, reader, line, caplog):
    caplog.set_level(logging.WARNING, logger="graph.pulse")
    line.cut = True
    await until(lambda: caplog.records)
    looked = line.looks
    receipt = await give(writer, RetireCluster("york-1"))
    started = time.monotonic()
    await until(lambda: line.looks >= looked + 5)
    assert len(reader.resolve("all")) == 3, "what was there before the line was cut"
    assert reader.age_seconds >= time.monotonic() - started, "nothing was heard since"
    line.cut = False
    await until(lambda: reader.view.cursor == receipt.cursor)
    assert len(reader.resolve("all")) == 2
    await until(lambda: len(caplog.records) > 1)
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert said[0] == "following goes on when the store is back: the line is cut"
    assert said[1].startswith("the store is back after ")


async def test_the_age_of_a_view_is_the_time_since_the_store_was_last_heard(writer, reader, line):
    before = line.looks
    started = time.monotonic()
    await until(lambda: line.looks >= before + 2)
    assert reader.age_seconds <= time.monotonic() - started


async def test_however_many_follow_the_store_is_asked_no_more_often(writer, reader, line):
    async def wait(after: Cursor) -> Changeset:
        async with aclosing(reader.follow(after)) as changesets:
            return await anext(changesets)

    cursor = reader.view.cursor
    followers = [asyncio.create_task(wait(cursor)) for _ in range(50)]
    before, started = line.looks, time.monotonic()
    await until(lambda: line.looks >= before + 10)
    assert (line.looks - before - 1) * POLL_SECONDS <= time.monotonic() - started
    receipt = await give(writer, RetireCluster("york-1"))
    seen = await asyncio.wait_for(asyncio.gather(*followers), 20)
    assert {changeset.cursor for changeset in seen} == {receipt.cursor}


async def test_followers_look_for_themselves_where_nobody_keeps_up(writer, line):
    reader = await Engine.open(line, settings=SETTINGS)
    task = asyncio.create_task(anext(aiter(reader.follow(reader.view.cursor))))
    receipt = await give(writer, RetireCluster("york-1"))
    assert (await asyncio.wait_for(task, 20)).cursor == receipt.cursor
    await reader.close()
