"""The connection to Neo4j fails in every way and at any byte; no changeset is lost or doubled."""

from __future__ import annotations

import asyncio
from random import Random
from urllib.parse import urlsplit

import pytest

from committers import Acknowledged, check_record, commit_surely
from graph.model.errors import Conflict
from graph.store.neo4j import Neo4jStore
from graph.store.neo4j_connection import Timeouts
from graph.store.port import Entry
from history import BUSINESS, History, at, by_ref, cluster, exact
from neo4j_server import Server, server
from proxy import Fault, Proxy, proxy_to

pytestmark = [pytest.mark.neo4j, pytest.mark.crash]

RUNS = {"test": 15, "campaign": 200}
WRITERS = 4
BATCHES_EACH = 3
IMPATIENT = Timeouts(
    connect_seconds=2, acquire_seconds=2, retry_seconds=3, read_seconds=2, commit_seconds=2
)
AT_COMMIT = (Fault.CUT_BEFORE_COMMIT, Fault.CUT_AFTER_COMMIT, Fault.CUT_COMMIT_ANSWER)
ELSEWHERE = (
    *(Fault.REFUSE, Fault.CUT_UP, Fault.CUT_DOWN, Fault.RESET, Fault.BLACKHOLE, Fault.DELAY),
)


@pytest.fixture
def where() -> Server:
    found = server()
    found.wipe()
    return found


async def opened(where: Server) -> Neo4jStore:
    return await Neo4jStore.open(where.url, user=where.user, password=where.password)


async def through(proxy: Proxy, where: Server) -> Neo4jStore:
    url = f"bolt://127.0.0.1:{proxy.port}"
    return await Neo4jStore.open(url, user=where.user, password=where.password, timeouts=IMPATIENT)


async def test_cuts_at_any_point_lose_and_double_nothing(where: Server, scale: str) -> None:
    told = Acknowledged()
    struck: dict[Fault, int] = {}
    direct = await opened(where)
    target = urlsplit(where.url)
    try:
        async with proxy_to(target.hostname or "127.0.0.1", target.port or 7687) as proxy:
            for run in range(RUNS[scale]):
                fault = await one_run(proxy, where, run, told)
                struck[fault] = struck.get(fault, 0) + proxy.hits
                proxy.hits = 0
        await check_record(direct, told)
    finally:
        await direct.close()
    assert len(told.cursors) == RUNS[scale] * WRITERS * BATCHES_EACH
    assert all(struck[fault] for fault in AT_COMMIT), f"some cuts never came: {struck}"


async def one_run(proxy: Proxy, where: Server, run: int, told: Acknowledged) -> Fault:
    """Writers at work on two stores, and a fault that strikes a few times in between."""
    rng = Random(f"cut {run}")
    fault = AT_COMMIT[run % 3] if run % 5 < 3 else rng.choice(ELSEWHERE)
    stores = [await through(proxy, where) for _ in range(2)]
    try:
        proxy.arm(fault, after_bytes=rng.randrange(6_000), hits=rng.randint(1, 3))
        async with asyncio.timeout(120):
            await asyncio.gather(
                *(writer(stores[each % 2], f"run{run}-{each}", told) for each in range(WRITERS))
            )
    finally:
        proxy.arm(Fault.NONE)
        for store in stores:
            await store.close()
    return fault


async def writer(store: Neo4jStore, name: str, told: Acknowledged) -> None:
    for step in range(BATCHES_EACH):
        await commit_surely(store, f"{name}-{step}", told)


@pytest.mark.parametrize("fault", AT_COMMIT)
async def test_a_commit_whose_answer_is_lost_returns_its_receipt(
    where: Server, fault: Fault
) -> None:
    """Without an idempotency key, and without the caller noticing anything."""
    target = urlsplit(where.url)
    async with proxy_to(target.hostname or "127.0.0.1", target.port or 7687) as proxy:
        store = await through(proxy, where)
        try:
            history = await History.of(store)
            await history.put(*BUSINESS)
            proxy.arm(fault)
            receipt = await history.put(cluster(1))
            assert proxy.hits == 1
            assert (await store.head()).cursor == receipt.cursor
            assert receipt.revision == 2
            assert exact(by_ref((await store.load()).entities)) == exact(history.facts)
        finally:
            await store.close()


@pytest.mark.parametrize("fault", AT_COMMIT)
async def test_a_commit_that_lost_its_answer_and_its_race_is_told_so(
    where: Server, fault: Fault
) -> None:
    """Another writer moves the head while the first one does not know what became of its own."""
    target = urlsplit(where.url)
    async with proxy_to(target.hostname or "127.0.0.1", target.port or 7687) as proxy:
        store, rival = await through(proxy, where), await opened(where)
        try:
            history = await History.of(store)
            await history.put(*BUSINESS)
            entry = Entry(history.changeset(cluster(1)))
            proxy.arm(fault)
            outcomes = await asyncio.gather(
                store.commit([entry], expected=history.cursor, now=at(2)),
                rival.commit([entry], expected=history.cursor, now=at(2)),
                return_exceptions=True,
            )
            refused = [each for each in outcomes if isinstance(each, Conflict)]
            assert len(refused) == 1, outcomes
            assert (await rival.head()).cursor.revision == 2
        finally:
            await store.close()
            await rival.close()
