"""Resuming: a subscriber whose connection breaks anywhere ends with what a fresh query gives."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from engines import give, names
from followers import LogFollower, SetFollower, revision_of
from graph.engine import Engine
from graph.model.command import (
    Command,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RetireCluster,
    UpdateCluster,
)
from graph.model.errors import TrellisError
from small_door import SmallDoor, small_door, small_engine
from sse_client import listen
from ws_client import connect

KILLS = {"test": 50, "campaign": 1_000}
SELECTOR = "/geo/us and (size = large or /devices/grill)"

Follower = SetFollower | LogFollower
Session = Callable[[SmallDoor, Follower, int | None], Awaitable[None]]
"""Resumes, takes some messages (or all there are), and breaks the connection."""


class Writer:
    """Changes the fleet at random, for as long as it is let."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self._engine = engine
        self._random = random.Random(seed)
        self._count = 0
        self.stopping = False

    async def run(self) -> None:
        """One change after the other; those the fleet refuses are passed over."""
        while not self.stopping:
            with suppress(TrellisError):
                await give(self._engine, *self._commands())
            await asyncio.sleep(0)

    def _commands(self) -> list[Command]:
        pick = self._random.choice
        clusters = sorted(names(self._engine, "all"))
        cluster = pick(clusters)
        self._count += 1
        match self._random.randrange(7):
            case 0 | 1:
                groups = (pick(["/geo/us/tx/austin", "/geo/us/ny", "/geo/ca"]),)
                labels = {"size": pick(["small", "large"])}
                return [RegisterCluster(f"new-{self._count}", labels=labels, groups=groups)]
            case 2:
                return [RetireCluster(cluster)] if len(clusters) > 3 else []
            case 3:
                return [UpdateCluster(cluster, labels={"size": pick(["small", "large"])})]
            case 4:
                return [Join(cluster, "/devices/grill")]
            case 5:
                return [Leave(cluster, "/devices/grill")]
            case _:
                path = pick(["/geo/us/tx", "/geo/ca/tx"])
                return [MoveGroup(path, "/geo/ca" if path.startswith("/geo/us") else "/geo/us")]


async def by_socket(door: SmallDoor, follower: Follower, count: int | None) -> None:
    async with connect(door.ws_url) as socket:
        follower.begin()
        operation = await socket.subscribe(follower.query, follower.variables)
        while count is None or count > 0:
            if count is None and _is_current(door.engine, follower):
                return
            follower.take(await operation.value())
            count = None if count is None else count - 1
        socket.kill()


async def by_events(door: SmallDoor, follower: Follower, count: int | None) -> None:
    cursor = follower.cursor
    variables = {**follower.variables, "after": None}  # the header says it
    headers = {} if cursor is None else {"last-event-id": cursor}
    follower.begin()
    async with listen(door.graphql, follower.query, variables, headers=headers) as events:
        while count is None or count > 0:
            if count is None and _is_current(door.engine, follower):
                return
            event = await anext(events)
            follower.take(event.value)
            assert event.id == (event.value["cursor"] or "")
            count = None if count is None else count - 1


def _is_current(engine: Engine, follower: Follower) -> bool:
    told = revision_of(follower.cursor) == engine.view.cursor.revision
    return told and (isinstance(follower, LogFollower) or follower.current)


@asynccontextmanager
async def written(engine: Engine, seed: int) -> AsyncIterator[None]:
    """Somebody writes all the while."""
    writer = Writer(engine, seed)
    writing = asyncio.create_task(writer.run())
    try:
        yield
    finally:
        writer.stopping = True
        await writing


@pytest.mark.volume
@pytest.mark.parametrize("session", [by_socket, by_events])
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_set_followed_over_broken_connections_is_the_set_a_fresh_query_gives(
    session: Session, seed: int, tmp_path: Path, scale: str
) -> None:
    chance = random.Random(seed)
    async with small_engine(tmp_path) as engine, small_door(engine) as door:
        follower = SetFollower(SELECTOR)
        async with written(engine, seed):
            for _ in range(KILLS[scale] // 2):
                await session(door, follower, chance.randrange(4))
        await session(door, follower, None)
        assert follower.held == names(engine, SELECTOR)
        assert engine.view.cursor.revision > KILLS[scale] // 2


@pytest.mark.volume
@pytest.mark.parametrize("session", [by_socket, by_events])
async def test_a_log_followed_over_broken_connections_has_no_gap_and_no_repeat(
    session: Session, tmp_path: Path, scale: str
) -> None:
    chance = random.Random(7)
    async with small_engine(tmp_path) as engine, small_door(engine) as door:
        follower = LogFollower()
        await session(door, follower, 1)  # it begins with where the log is
        first = revision_of(follower.cursor) + 1
        async with written(engine, 7):
            for _ in range(KILLS[scale]):
                await session(door, follower, chance.randrange(4))
        await session(door, follower, None)
        head = engine.view.cursor.revision
        assert follower.revisions == list(range(first, head + 1))
        assert head - first > KILLS[scale] // 2
