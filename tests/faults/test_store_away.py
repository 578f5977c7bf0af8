"""Neo4j goes away and comes back under a serving process: reads go on, writes are refused.

Process A reaches the server directly and writes on; process B reaches it through a proxy that
misbehaves. The last kind of weather is the server itself, stopped, or killed and started again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median

import httpx
import pytest

from api_process import Api, batch, begun, calling, eventually, neo4j_settings
from followers import LogFollower, revision_of
from graph.model.command import RegisterCluster
from neo4j_process import LocalServer, wipe
from neo4j_server import local_server
from proxy import FOR_EVER, Fault, Proxy, proxy_to
from serving import serve
from small import SMALL
from ws_client import Failed, Operation, connect

pytestmark = [pytest.mark.neo4j, pytest.mark.crash]

WEATHER = (Fault.REFUSE, Fault.RESET, Fault.BLACKHOLE)
READS = 40
AGE_SECONDS = 1.5
"""Far more than passes between two looks at a store that is there."""
EXECUTION_SECONDS = 5
IMPATIENT = {
    "TRELLIS_NEO4J_CONNECT_SECONDS": "1",
    "TRELLIS_NEO4J_ACQUIRE_SECONDS": "2",
    "TRELLIS_NEO4J_RETRY_SECONDS": "2",
    "TRELLIS_NEO4J_READ_SECONDS": "2.5",
    "TRELLIS_NEO4J_COMMIT_SECONDS": "2.5",
    "TRELLIS_API_EXECUTION_SECONDS": str(EXECUTION_SECONDS),
}


@pytest.fixture
def process() -> LocalServer:
    found = local_server()
    wipe(found.url, found.user, found.password)
    return found


@dataclass
class Stage:
    """Two processes, the proxy of the second, and a subscriber of the second."""

    a: Api
    b: Api
    proxy: Proxy
    names: count[int] = field(default_factory=count)

    def new(self) -> RegisterCluster:
        """A cluster that is not there yet."""
        return RegisterCluster(f"new-{next(self.names)}", groups=("/geo/ca",))

    async def go_away(self, fault: Fault) -> None:
        """From now on B does not reach its store."""
        self.proxy.arm(fault, hits=FOR_EVER)
        if fault is Fault.REFUSE:
            await self.proxy.stop()  # what is open would go on
        await eventually(self.b_is_cut_off)

    def come_back(self) -> None:
        """All is well again."""
        self.proxy.arm(Fault.NONE)

    async def b_is_cut_off(self) -> bool:
        return bool((await self.b.fleet())["age"] > AGE_SECONDS)

    async def b_has_caught_up(self) -> bool:
        return not await self.b_is_cut_off()

    async def b_is_at(self, revision: int) -> bool:
        return await self.b.revision() >= revision


@asynccontextmanager
async def staged(process: LocalServer, directory: Path, **settings: str) -> AsyncIterator[Stage]:
    environment = neo4j_settings(process) | IMPATIENT | settings
    homes = [directory / name for name in ("a", "b")]
    for home in homes:
        home.mkdir()
    with serve(process.url, environment, arguments=["--create"], directory=homes[0]) as one:
        async with calling(one) as a, proxy_to("127.0.0.1", process.port) as proxy:
            assert (await a.apply(*SMALL))["__typename"] == "Applied"
            through = f"bolt://127.0.0.1:{proxy.port}"
            async with begun(through, homes[1], environment) as other, calling(other) as b:
                yield Stage(a, b, proxy)


@dataclass
class Listener:
    """A subscriber of B for as long as the test lasts."""

    operation: Operation
    follower: LogFollower
    first: int

    async def heard(self, last: int) -> None:
        """Has heard every change up to ``last``, each once."""
        while revision_of(self.follower.cursor) < last:
            self.follower.take(await self.operation.value())
        assert self.follower.revisions == list(range(self.first, last + 1))


@asynccontextmanager
async def listening(b: Api) -> AsyncIterator[Listener]:
    follower = LogFollower()
    async with connect(b.server.ws_url) as socket:
        operation = await socket.subscribe(follower.query, follower.variables)
        follower.take(await operation.value())
        yield Listener(operation, follower, revision_of(follower.cursor) + 1)


async def test_a_process_cut_off_from_its_store_reads_on_and_catches_up(
    process: LocalServer, tmp_path: Path
) -> None:
    async with staged(process, tmp_path) as stage, listening(stage.b) as listener:
        for fault in WEATHER:
            before = await quiet_reads(stage.b)
            await stage.go_away(fault)
            written = [await stage.a.apply(stage.new()) for _ in range(3)]
            last = max(each["revision"] for each in written)
            sent = batch(stage.new(), key=f"during-{fault.name}")
            during = await check_refuses_and_reads_on(stage.b, sent)
            await check_says_how_stale(stage.b, last)
            stage.come_back()
            seconds = await eventually(partial(stage.b_is_at, last))
            print(
                f"{fault.name}: read {before:.4f} s, then {during:.4f} s; back in {seconds:.2f} s"
            )
            last = await check_takes_effect_once(stage, sent)
            await listener.heard(last)
        await listener.heard(await check_a_commit_cut_off_is_not_known(stage))
        check_log_is_quiet(stage.b)


async def test_while_the_store_is_away_a_write_sends_it_nothing(
    process: LocalServer, tmp_path: Path
) -> None:
    """Probes are so far apart that after the first one only a write could open a connection."""
    async with staged(process, tmp_path, TRELLIS_NEO4J_PROBE_SECONDS="3600") as stage:
        heard = stage.proxy.heard
        assert (await stage.b.apply(RegisterCluster("sent-1")))["__typename"] == "Applied"
        assert b"sent-1" in heard
        stage.proxy.arm(Fault.BLACKHOLE, hits=FOR_EVER)
        assert (await stage.b.send(batch(stage.new())))["code"] == "UNAVAILABLE"
        await eventually(partial(refuses_at_once, stage.b, batch(stage.new())))
        before = stage.proxy.connections
        for each in range(20):
            sent = batch(RegisterCluster(f"unsent-{each}"), key=f"unsent-key-{each}")
            refusal = await stage.b.send(sent)
            assert refusal["__typename"] == "Unavailable", refusal
            assert "the store has been away for" in refusal["message"]
            assert "it had no effect" in refusal["hint"]
        assert stage.proxy.connections <= before + 1
        assert b"unsent-" not in heard
        await stage.b.fleet()
        check_log_is_quiet(stage.b)


async def test_a_server_that_is_suspended_or_killed_is_found_again(
    process: LocalServer, tmp_path: Path
) -> None:
    async with staged(process, tmp_path) as stage, listening(stage.b) as listener:
        sent = batch(stage.new(), key="while-suspended")
        with process.suspended():
            await check_refuses_and_reads_on(stage.b, sent)
        await eventually(stage.b_has_caught_up)
        applied = await stage.b.send(sent)
        assert applied["__typename"] == "Applied", "the first write is refused"
        await listener.heard(applied["revision"])
        process.kill()
        try:
            await eventually(stage.b_is_cut_off)
            sent = batch(stage.new(), key="server-killed")
            await check_refuses_and_reads_on(stage.b, sent)
            assert (await stage.b.readyz())[0] == 200
        finally:
            await asyncio.to_thread(process.launch)
        last = 0

        async def a_writes() -> bool:
            nonlocal last
            answer = await stage.a.send(batch(stage.new()))
            last = int(answer.get("revision", 0))
            return bool(answer["__typename"] == "Applied")

        await eventually(a_writes)
        await eventually(lambda: stage.b_is_at(last))
        await listener.heard(await check_takes_effect_once(stage, sent))
        check_log_is_quiet(stage.b)


async def test_a_process_cut_off_for_too_long_is_not_ready_and_refuses(
    process: LocalServer, tmp_path: Path
) -> None:
    async with staged(process, tmp_path, TRELLIS_API_STALE_SECONDS="4") as stage:
        b = stage.b

        async def is_stale() -> bool:
            return (await b.readyz())[0] == 503

        async def is_ready() -> bool:
            return (await b.readyz())[0] == 200

        async with connect(b.server.ws_url) as socket:
            await stage.go_away(Fault.BLACKHOLE)
            await eventually(is_stale)
            _, said = await b.readyz()
            assert said["ready"] is False and said["ageSeconds"] > 4
            assert "the store has not answered for" in said["why"]
            assert (await b.client.get("/livez")).status_code == 200
            check_refused(await b.post("{ fleet { revision } }"))
            check_refused(await b.client.get("/export/clusters.csv"))
            operation = await socket.subscribe("subscription { changes { __typename } }")
            with pytest.raises(Failed, match="has not reached the store for"):
                await operation.next()
            stage.come_back()
            await eventually(is_ready)
            last = (await stage.a.apply(stage.new()))["revision"]
            await eventually(lambda: stage.b_is_at(last))


def check_refused(answer: httpx.Response) -> None:
    (error,) = answer.json()["errors"]
    assert answer.status_code == 503
    assert error["extensions"]["code"] == "UNAVAILABLE"
    assert "has not reached the store for" in error["message"]


async def quiet_reads(b: Api) -> float:
    """The median time of a read while all is well."""
    return median([await timed_read(b) for _ in range(READS)])


async def timed_read(b: Api) -> float:
    started = time.perf_counter()
    await b.fleet()
    return time.perf_counter() - started


async def check_refuses_and_reads_on(b: Api, sent: dict[str, object]) -> float:
    """A write is refused, having had no effect; the median time of a read meanwhile."""
    before = await b.revision()
    await eventually(partial(refuses_at_once, b, sent))
    times = [await timed_read(b) for _ in range(READS)]
    assert await b.revision() == before
    return median(times)


async def refuses_at_once(b: Api, sent: dict[str, object]) -> bool:
    """Whether a write is refused because the store is known to be away."""
    refusal = await b.send(sent)
    assert refusal["code"] == "UNAVAILABLE", refusal
    return refusal["__typename"] == "Unavailable" and "has been away for" in refusal["message"]


def check_log_is_quiet(b: Api) -> None:
    """Nothing went wrong that nobody dealt with."""
    said = b.server.said()
    assert "never retrieved" not in said and "Traceback" not in said, said


async def check_a_commit_cut_off_is_not_known(stage: Stage) -> int:
    """Its caller is told so, and the next one that nothing was done; its revision in the end."""
    sent = batch(RegisterCluster("cut-off-1"), key="cut-off")
    stage.proxy.arm(Fault.CUT_AFTER_COMMIT, only=b"cut-off-1", then=Fault.REFUSE)
    told = await stage.b.send(sent)
    assert told["__typename"] == "Unavailable", told
    assert "whether the batch took effect is not known" in told["message"]
    await stage.proxy.stop()
    other = await stage.b.send(batch(stage.new()))
    assert other["__typename"] == "Unavailable", other
    assert "not known" not in other["message"] and "it had no effect" in other["hint"]
    stage.come_back()
    await eventually(stage.b_has_caught_up)
    return await check_takes_effect_once(stage, sent)


async def check_says_how_stale(b: Api, head: int) -> None:
    status, said = await b.readyz()
    assert status == 200 and said["ready"]
    assert said["ageSeconds"] > AGE_SECONDS
    assert said["revision"] < head


async def check_takes_effect_once(stage: Stage, sent: dict[str, object]) -> int:
    """A refused batch, sent again with its key, gives one cluster; the revision it is at."""

    async def is_applied() -> bool:
        return bool((await stage.b.send(sent))["__typename"] == "Applied")

    await eventually(is_applied)
    receipt = await stage.b.send(sent)
    assert receipt == await stage.a.send(sent)
    history = await stage.a.data("{ changesets(first: 5) { nodes { revision } } }")
    newest = history["changesets"]["nodes"][0]["revision"]
    assert newest == receipt["revision"], "it was written more than once"
    return int(newest)
