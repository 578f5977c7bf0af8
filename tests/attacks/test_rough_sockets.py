"""Half-sent, silent, deaf and flooding clients against a serving process: others notice little.

Two processes over the same fleet: one is left alone, one has the rough clients. The same request
goes to one and then the other, again and again, so that whatever else the machine does slows both.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import httpx
import pytest

from api_process import calling, eventually
from graph.model.command import UpdateCluster
from rough_clients import (
    INIT,
    PING,
    Asker,
    Bare,
    bare,
    deaf,
    frame,
    post,
    post_head,
    said,
    upgrade,
    wrong_frames,
)
from serving import Serving, copy_store, sample, serve

__all__ = ["sample"]

pytestmark = pytest.mark.volume

HEADS, BODIES, SILENT, DEAF, FLOODS = 200, 200, 100, 100, 8
PAIRS = 250
"""Requests to each of the two, in turn."""
SLOWER_MAX = 3.0
RSS_GROWTH_MAX = 96 * 1024 * 1024
"""What 600 rough connections may hold: their buffers are bounded, whatever they do."""
FLOOD_BYTES = 1_000_000
GONE_SECONDS = 30
"""On top of a deadline, for a slow machine to see that it has passed."""

BODY_SECONDS = 5
RATE = 400
SEND_SECONDS = 3
SETTINGS = {
    "TRELLIS_AUTH_TOKENS": " ".join(
        f"{name}:{role}:token-of-{name}-0123456789"
        for name, role in (("ana", "admin"), ("flo", "reader"), ("dee", "reader"))
    ),
    "TRELLIS_API_BODY_SECONDS": str(BODY_SECONDS),
    "TRELLIS_API_SOCKET_INIT_SECONDS": str(BODY_SECONDS),
    "TRELLIS_API_SEND_SECONDS": str(SEND_SECONDS),
    "TRELLIS_API_QUEUE_BYTES_MAX": "65536",
    "TRELLIS_API_REQUESTS_PER_SECOND": str(RATE),
    "TRELLIS_API_REQUESTS_BURST": str(RATE),
}
ANA, FLO, DEE = (f"token-of-{name}-0123456789" for name in ("ana", "flo", "dee"))

ROWS = """
query Rows($where: SelectorInput!) {
  fleet { clusters(where: $where, first: 20) { totalCount nodes { name place(hierarchy: "geo") } } }
}
"""
WHOLE = """
subscription {
  clusterSet(where: {everything: true}) {
    ... on Snapshot { clusters { id name title labels { key value } groups { path } } }
    ... on Gained { clusters { id name title labels { key value } groups { path } } }
  }
}
"""


@dataclass(frozen=True)
class Twins:
    """The process that is left alone, and the one that is not."""

    alone: Serving
    rough: Serving


@pytest.fixture(scope="module")
def twins(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    stores = [copy_store(sample, tmp_path_factory.mktemp(name)) for name in ("alone", "rough")]
    with serve(stores[0], SETTINGS) as alone, serve(stores[1], SETTINGS) as rough:
        yield Twins(alone, rough)
        assert rough.stop() == 0
        check_log(rough.said())


def check_log(text: str) -> None:
    """Nothing went wrong that was not the clients' fault."""
    assert "Traceback" not in text
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert not [line for line in lines if line["level"] in ("ERROR", "error")]
    assert not [line for line in lines if line.get("outcome") == "INTERNAL"]


async def check_pace(twins: Twins, why: str) -> None:
    """Others are answered about as quickly as where nothing goes on."""
    askers = [Asker(await bare(each.port), []) for each in (twins.alone, twins.rough)]
    for number in range(PAIRS):
        where = {"text": f"lanes >= {number / 100_000} and size = large"}  # not answered before
        request = post({"query": ROWS, "variables": {"where": where}}, ANA)
        one, other = [await asker.ask(request) for asker in askers]
        assert one["data"] == other["data"]
        await asyncio.sleep(0.004)
    for asker in askers:
        asker.connection.close()
    quiet, rough = (asker.median_seconds for asker in askers)
    print(f"{why}: {quiet * 1000:.2f} ms alone, {rough * 1000:.2f} ms here, {rough / quiet:.2f}x")
    assert rough <= SLOWER_MAX * quiet, f"others wait {rough / quiet:.1f} times as long"


def rss_bytes(server: Serving) -> int:
    text = Path(f"/proc/{server.process.pid}/status").read_text("ascii")
    return int(text.partition("VmRSS:")[2].split()[0]) * 1024


def metric(server: Serving, name: str) -> float:
    text = httpx.get(f"{server.url}/metrics", trust_env=False).text
    return float(text.partition(f"\n{name} ")[2].split("\n", 1)[0])


async def gone(connections: list[Bare], within: float) -> list[bytes]:
    """What each was told before the server hung up, which it does in time."""
    async with asyncio.timeout(within + GONE_SECONDS):
        told = await asyncio.gather(*(each.rest() for each in connections))
    for each in connections:
        each.close()
    return told


async def test_half_requests_and_silent_connections_slow_nobody_and_are_ended(
    twins: Twins,
) -> None:
    port, before = twins.rough.port, rss_bytes(twins.rough)
    half_head = b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Lo"
    half_body = post_head(1_000, FLO) + b'{"query": "{ fleet'
    heads = [await bare(port, half_head) for _ in range(HEADS)]
    bodies = [await bare(port, half_body) for _ in range(BODIES)]
    silent = [await bare(port) for _ in range(SILENT // 2)]
    sockets = [await bare(port, upgrade(FLO)) for _ in range(SILENT // 2)]
    await check_pace(twins, "half requests")
    grown = rss_bytes(twins.rough) - before
    assert await gone(heads + silent, BODY_SECONDS) == [b""] * (HEADS + SILENT // 2)
    assert {answer[:12] for answer in await gone(bodies, BODY_SECONDS)} == {b"HTTP/1.1 408"}
    for told in await gone(sockets, BODY_SECONDS):
        assert told.startswith(b"HTTP/1.1 101") and b"no connection_init within" in told
    assert grown < RSS_GROWTH_MAX, f"{grown:,} bytes more"


async def test_subscribers_that_never_read_slow_nobody_and_are_ended(twins: Twins) -> None:
    port, before = twins.rough.port, rss_bytes(twins.rough)
    dropped = metric(twins.rough, "trellis_readers_dropped_total")
    subscribe = {"type": "subscribe", "id": "1", "payload": {"query": WHOLE}}
    with ExitStack() as stack:
        for _ in range(DEAF):
            held = await deaf(port, upgrade(DEE), said(INIT), said(subscribe))
            stack.enter_context(held)
        await check_deaf_ones(twins)
    assert metric(twins.rough, "trellis_readers_dropped_total") - dropped == DEAF
    assert metric(twins.rough, "trellis_subscriptions_open") == 0
    grown = rss_bytes(twins.rough) - before
    assert grown < RSS_GROWTH_MAX, f"{grown:,} bytes more"


async def check_deaf_ones(twins: Twins) -> None:
    async with changing(twins.rough):
        await check_pace(twins, "deaf subscribers")
        await eventually(lambda: all_closed(twins.rough), within=2 * SEND_SECONDS + GONE_SECONDS)


@asynccontextmanager
async def changing(server: Serving) -> AsyncIterator[None]:
    """Somebody changes a cluster now and then."""

    async def change() -> None:
        asked = "{ fleet { clusters(first: 1) { nodes { name } } } }"
        name = (await api.data(asked))["fleet"]["clusters"]["nodes"][0]["name"]
        for title in cycle(("one", "other")):
            assert (await api.apply(UpdateCluster(name, title=title)))["changed"]
            await asyncio.sleep(0.05)

    async with calling(server, ANA) as api:
        task = asyncio.create_task(change())
        try:
            yield
        finally:
            task.cancel()
            (ended,) = await asyncio.gather(task, return_exceptions=True)
            assert isinstance(ended, asyncio.CancelledError), ended


async def test_a_caller_that_floods_is_told_to_wait_and_slows_nobody(twins: Twins) -> None:
    request = post({"query": ROWS, "variables": {"where": {"text": "all"}}}, FLO)
    started = time.monotonic()
    script = Path(__file__).with_name("flood.py")
    flood = await asyncio.create_subprocess_exec(
        *(sys.executable, str(script), str(twins.rough.port), str(FLOODS)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert flood.stdin is not None
        flood.stdin.write(request.hex().encode() + b"\n")
        await check_pace(twins, "a flood")
        flood.stdin.close()
        async with asyncio.timeout(GONE_SECONDS):
            said, _ = await flood.communicate()
    finally:
        if flood.returncode is None:
            flood.kill()
            await flood.wait()
    statuses = json.loads(said)
    print(f"the flood got {statuses}")
    assert set(statuses) == {"200", "429"}
    assert statuses["429"] > 0
    assert statuses["200"] <= RATE * (1 + time.monotonic() - started), "a burst, and then the rate"


async def test_frames_that_are_none_end_their_socket_and_slow_nobody(twins: Twins) -> None:
    kinds = dict(wrong_frames())
    over = asyncio.Event()
    ended: Counter[str] = Counter()

    async def misbehave() -> None:
        for what, sent in cycle(kinds.items()):
            connection = await bare(twins.rough.port, upgrade(FLO))
            await connection.reader.readuntil(b"\r\n\r\n")
            connection.send(sent)
            async with asyncio.timeout(BODY_SECONDS + GONE_SECONDS):
                assert await connection.is_told_to_close(), f"{what}: dropped without a word"
            connection.close()
            ended[what] += 1
            if over.is_set() and len(ended) == len(kinds):
                return

    misbehaving = asyncio.create_task(misbehave())
    await check_pace(twins, "wrong frames")
    over.set()
    await misbehaving
    print(f"{ended.total():,} sockets were closed")
    await eventually(lambda: all_closed(twins.rough))


async def all_closed(server: Serving) -> bool:
    return metric(server, "trellis_sockets_open") == 0


FLOODS_OF_FRAMES = {
    "pings": frame(PING, b"p"),
    "pongs": said({"type": "pong"}),
    "pings of the protocol": said({"type": "ping"}),
    "completes": said({"type": "complete", "id": "1"}),
}


@pytest.mark.parametrize("kind", FLOODS_OF_FRAMES)
async def test_a_socket_that_floods_slows_nobody(twins: Twins, kind: str) -> None:
    before = rss_bytes(twins.rough)
    connection = await bare(twins.rough.port, upgrade(FLO))
    await connection.reader.readuntil(b"\r\n\r\n")
    connection.send(said(INIT))
    await check_flood(twins, connection, FLOODS_OF_FRAMES[kind], kind)
    assert rss_bytes(twins.rough) - before < RSS_GROWTH_MAX


async def test_requests_sent_without_waiting_for_answers_slow_nobody(twins: Twins) -> None:
    before = rss_bytes(twins.rough)
    connection = await bare(twins.rough.port)
    await check_flood(twins, connection, b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", "pipelined")
    assert rss_bytes(twins.rough) - before < RSS_GROWTH_MAX


async def check_flood(twins: Twins, connection: Bare, sent: bytes, why: str) -> None:
    """Others keep their pace while one connection sends ``sent`` again and again."""
    many = sent * (FLOOD_BYTES // len(sent))

    async def flood() -> None:
        while True:
            connection.send(many)
            await connection.writer.drain()

    async def read() -> None:
        while await connection.reader.read(FLOOD_BYTES):
            pass

    tasks = [asyncio.create_task(flood()), asyncio.create_task(read())]
    await check_pace(twins, why)
    assert not any(task.done() for task in tasks), "the flood was over"
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    connection.close()
