"""The Neo4j process is killed and started again under load; what was acknowledged is there."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from committers import Acknowledged, check_record, write_until
from graph.store.neo4j import Neo4jStore
from graph.store.neo4j_connection import Timeouts
from neo4j_process import LocalServer, wipe
from neo4j_server import local_server

pytestmark = [pytest.mark.neo4j, pytest.mark.crash]

CYCLES = {"test": 3, "campaign": 25}
WRITERS = 4
IMPATIENT = Timeouts(
    connect_seconds=1, acquire_seconds=2, retry_seconds=1, read_seconds=3, commit_seconds=3
)


@pytest.fixture
def process() -> LocalServer:
    found = local_server()
    wipe(found.url, found.user, found.password)
    return found


async def test_what_was_acknowledged_survives_kill_nine(process: LocalServer, scale: str) -> None:
    told = Acknowledged()
    done = False
    store = await Neo4jStore.open(
        process.url, user=process.user, password=process.password, timeouts=IMPATIENT
    )
    writers = [
        asyncio.create_task(write_until(lambda: done, store, f"writer{each}", told))
        for each in range(WRITERS)
    ]
    try:
        for cycle in range(CYCLES[scale]):
            await one_cycle(process, told, Random(f"kill {cycle}"))
        async with asyncio.timeout(120):
            await told.so_many_more(10)
            done = True
            await asyncio.gather(*writers)
        await check_record(store, told)
        assert told.unavailable > 0, "no writer ever noticed that the server was gone"
    finally:
        done = True
        await asyncio.gather(*writers, return_exceptions=True)
        await store.close()


async def one_cycle(process: LocalServer, told: Acknowledged, rng: Random) -> None:
    async with asyncio.timeout(120):
        await told.so_many_more(rng.randint(5, 30))
    await asyncio.sleep(rng.random() * 0.05)  # anywhere inside the commit that follows
    process.kill()
    await asyncio.to_thread(process.launch)
