"""Resuming a rendering: broken anywhere, it ends with what a fresh snapshot gives."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from engines import give
from followers import revision_of
from graph.engine import Engine
from graph.model.errors import TrellisError
from graph.settings import GraphSettings
from small_door import SmallDoor, small_door, small_engine
from sse_client import listen
from wire_renderers import WORKLOAD, WireRenderer, WorkloadWriter, should_hold
from ws_client import connect

KILLS = {"test": 50, "campaign": 1_000}
TINY = {"rendering_items": 3, "rendering_bytes": 400, "progress_seconds": 0.000_001}
"""Small messages; and also of what changes nothing that runs, it is said that it was reached."""
FORGETFUL = GraphSettings(
    states_kept_max=2, snapshots_kept_max=2, snapshots_kept_seconds=0, changesets_kept_max=4
)
"""An engine that keeps little, so that most of what is resumed has to be worked out anew."""

EVERYTHING = (
    "RenderingRemovals", "RenderingDefinitions", "RenderingSettings", "RenderingOverlays",
    "RenderingPointers", "RenderingBlocked", "RenderingComplete",
    "UNASSIGNED", "PROHIBITED", "LACKING", "RETIRED", "CONFLICT", "LATE_BOUND", "CAPACITY",
    "DEPENDENCY",
)  # fmt: skip
"""What has to happen in a run: all but what a command may not do."""

Session = Callable[[SmallDoor, WireRenderer, int | None], Awaitable[None]]


async def by_socket(door: SmallDoor, renderer: WireRenderer, count: int | None) -> None:
    async with connect(door.ws_url) as socket:
        renderer.begin()
        operation = await socket.subscribe(renderer.query, renderer.variables)
        while count is None or count > 0:
            if count is None and _is_current(door.engine, renderer):
                return
            renderer.take(await operation.value())
            count = None if count is None else count - 1
        socket.kill()


async def by_events(door: SmallDoor, renderer: WireRenderer, count: int | None) -> None:
    headers = {} if renderer.cursor is None else {"last-event-id": renderer.cursor}
    renderer.begin()
    async with listen(door.graphql, renderer.query, {"after": None}, headers=headers) as events:
        while count is None or count > 0:
            if count is None and _is_current(door.engine, renderer):
                return
            event = await anext(events)
            renderer.take(event.value)
            assert event.id == (event.value["cursor"] or "")
            count = None if count is None else count - 1


def _is_current(engine: Engine, renderer: WireRenderer) -> bool:
    return renderer.current and revision_of(renderer.cursor) == engine.view.cursor.revision


@asynccontextmanager
async def written(engine: Engine, seed: int) -> AsyncIterator[None]:
    """Somebody writes all the while."""
    writer, stopping = WorkloadWriter(seed), asyncio.Event()

    async def write() -> None:
        while not stopping.is_set():
            with suppress(TrellisError):
                await give(engine, *writer.commands(engine), loss=1_000)
            await asyncio.sleep(0)

    writing = asyncio.create_task(write())
    try:
        yield
    finally:
        stopping.set()
        await writing


@pytest.mark.volume
@pytest.mark.parametrize("session", [by_socket, by_events])
@pytest.mark.parametrize("settings", [None, FORGETFUL])
async def test_a_rendering_followed_over_broken_connections_is_what_a_fresh_snapshot_gives(
    session: Session, settings: GraphSettings | None, tmp_path: Path, scale: str
) -> None:
    chance = random.Random(5)
    async with small_engine(tmp_path, settings) as engine, small_door(engine, **TINY) as door:
        await give(engine, *WORKLOAD)
        renderer = WireRenderer()
        async with written(engine, 5):
            for _ in range(KILLS[scale]):
                await session(door, renderer, chance.randrange(chance.choice((4, 12, 60))))
        await session(door, renderer, None)
        fresh = WireRenderer()
        await session(door, fresh, None)
        assert renderer.held == fresh.held == should_hold(engine)
        assert len(renderer.completed) > 10
        assert engine.view.cursor.revision > KILLS[scale]


@pytest.mark.volume
async def test_a_renderer_that_stays_is_told_every_change_and_every_accepted_loss(
    tmp_path: Path, scale: str
) -> None:
    async with small_engine(tmp_path) as engine, small_door(engine, **TINY) as door:
        await give(engine, *WORKLOAD)
        renderer, writer = WireRenderer(), WorkloadWriter(11)
        accepted = 0
        async with connect(door.ws_url) as socket:
            renderer.begin()
            operation = await socket.subscribe(renderer.query)
            for _ in range(KILLS[scale] * 6):
                with suppress(TrellisError):
                    done = await give(engine, *writer.commands(engine), loss=1_000)
                    if done.changed:
                        accepted += (await engine.changeset(done.revision)).accepted_loss
                while not _is_current(engine, renderer):
                    renderer.take(await operation.value())
                assert renderer.held == should_hold(engine)
        assert renderer.loss == accepted > 0
        assert set(EVERYTHING) <= renderer.heard.keys()
