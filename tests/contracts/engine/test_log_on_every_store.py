"""The log read backwards, and sets followed, on whichever store the engine stands."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from engines import give, ticking
from graph.engine import Engine
from graph.model.command import RegisterCluster, RetireCluster, UpdateGroup
from graph.model.names import Revision
from graph.model.ref import Kind, Ref
from graph.settings import GraphSettings
from small import SMALL
from stores import ADAPTERS


@pytest.fixture(params=[pytest.param(each, id=each.name, marks=each.marks) for each in ADAPTERS])
async def store(request, tmp_path):
    opener = await request.param.empty(tmp_path)
    store = await opener()
    yield store
    await store.close()


@pytest.fixture
async def two(store, tmp_path):
    """Two engines on one record, as two processes are; neither remembers much."""
    settings = GraphSettings(changesets_kept_max=2, snapshots_kept_max=2, snapshots_kept_seconds=0)
    archive = tmp_path / "archive"
    return [
        await Engine.open(store, now=ticking(), settings=settings, archive=archive)
        for _ in range(2)
    ]


async def test_the_log_is_read_backwards_past_its_horizon(two):
    await give(two[0], *SMALL)
    for number in range(2, 60):
        await give(two[0], UpdateGroup("/geo/us", title=str(number)))
    await two[0].compact(Revision(20))
    found, after = [], None
    while True:
        page = await two[1].changesets(first=7, after=after)
        found += [entry.header.revision for entry in page.entries]
        if not page.more:
            break
        after = page.end
    assert found == list(range(two[1].view.cursor.revision, 0, -1))
    await two[1].catch_up()
    cluster = Ref(Kind.CLUSTER, two[1].view.cluster_number("york-1"))
    page = await two[1].changesets(first=7, touching=cluster)
    assert [entry.header.revision for entry in page.entries] == [1]


async def test_a_set_is_followed_by_one_process_while_another_writes(two):
    writer, reader = two
    await give(writer, *SMALL)
    await reader.catch_up()
    keeping = asyncio.create_task(reader.keep_up())
    async with aclosing(reader.follow_set("/geo/us")) as steps:
        held = (await asyncio.wait_for(anext(steps), 20)).gained
        await give(writer, RegisterCluster("new-1", groups=("/geo/us/ny",)))
        step = await asyncio.wait_for(anext(steps), 20)
        held = (held | step.gained) - step.lost
    for number in range(5):
        await give(writer, UpdateGroup("/geo", title=str(number)))
    await give(writer, RetireCluster("austin-1"))
    await reader.at_least(writer.view.cursor.revision, timeout_seconds=20)
    async with aclosing(reader.follow_set("/geo/us", step.cursor)) as steps:
        step = await asyncio.wait_for(anext(steps), 20)
        held = (held | step.gained) - step.lost
    assert held == writer.resolve("/geo/us")
    found = await writer.diff("/geo/us", await writer.as_of(Revision(1)))
    assert [each.header.revision for each in found.entries] == [8, 2]
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
