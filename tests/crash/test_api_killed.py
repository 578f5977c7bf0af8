"""``kill -9`` of a serving process under changes: every key takes effect once, streams resume.

Callers send one batch after the other, each under a key of its own. When the process dies under
them they do what a careful caller does: send the same again, under the same key, to the next one.
Subscribers resume at their last cursor.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from websockets.exceptions import WebSocketException

from api_process import Api, batch, begun, calling
from followers import LogFollower, SetFollower, revision_of
from graph.model.command import RegisterCluster, UpdateCluster
from serving import Serving
from small import SMALL
from trellis_process import Trellis
from ws_client import Closed, connect

pytestmark = [pytest.mark.crash, pytest.mark.timeout(3_600)]

CYCLES = {"test": 6, "campaign": 200}
CALLERS = 4
SELECTOR = "/geo/ca"
HISTORY = """
query History($after: Cursor) {
  changesets(first: 100, after: $after) {
    nodes { revision reason }
    pageInfo { hasNextPage endCursor }
  }
}
"""


@dataclass
class Told:
    """What callers were promised: the revision of each key."""

    revisions: dict[str, int] = field(default_factory=dict[str, int])
    resent: int = 0
    """Batches sent again because nobody knew what had become of them."""
    found: int = 0
    """Those of them that had taken effect before."""
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    def promise(self, key: str, revision: int) -> None:
        assert key not in self.revisions
        self.revisions[key] = revision
        self._more.set()

    async def so_many_more(self, count: int) -> None:
        """Wait until ``count`` more were promised."""
        goal = len(self.revisions) + count
        while len(self.revisions) < goal:
            self._more.clear()
            await self._more.wait()


class Caller:
    """Sends batches, one after the other, through whichever process there is."""

    def __init__(self, name: str, told: Told) -> None:
        self._name = name
        self._told = told
        self._count = 0
        self._open: dict[str, Any] | None = None
        """Sent, and not answered."""
        self.stopping = False

    async def work(self, server: Serving) -> None:
        """Send until the process is gone; or until told to stop, and then nothing is open."""
        async with calling(server) as api:
            try:
                if self._open is not None:
                    await self._again(api, self._open)
                while not self.stopping:
                    await self._send(api, self._next())
            except httpx.TransportError:
                return

    async def _again(self, api: Api, sent: dict[str, Any]) -> None:
        before = await api.revision()
        revision = await self._send(api, sent)
        self._told.resent += 1
        self._told.found += revision <= before

    async def _send(self, api: Api, sent: dict[str, Any]) -> int:
        self._open = sent
        answer = await api.send(sent)
        assert answer["__typename"] == "Applied", answer
        self._told.promise(sent["idempotencyKey"], answer["revision"])
        self._open = None
        return int(answer["revision"])

    def _next(self) -> dict[str, Any]:
        self._count += 1
        key = f"{self._name}-{self._count}"
        new = RegisterCluster(key, groups=(SELECTOR,))
        return batch(UpdateCluster("austin-1", title=key), new, key=key, reason=key)


async def follow(server: Serving, follower: LogFollower | SetFollower) -> None:
    """Resume, and believe what comes until the process is gone."""
    try:
        async with connect(server.ws_url) as socket:
            follower.begin()
            operation = await socket.subscribe(follower.query, follower.variables)
            while True:
                follower.take(await operation.value())
    except (Closed, OSError, EOFError, WebSocketException):
        return


async def caught_up(server: Serving, follower: LogFollower | SetFollower, head: int) -> None:
    """Resume a last time, and hear all there is."""
    async with connect(server.ws_url) as socket:
        follower.begin()
        operation = await socket.subscribe(follower.query, follower.variables)
        while revision_of(follower.cursor) < head:
            follower.take(await operation.value())


async def test_a_killed_process_loses_no_promise_and_keeps_each_once(
    tmp_path: Path, scale: str
) -> None:
    told, log, members = Told(), LogFollower(), SetFollower(SELECTOR)
    callers = [Caller(f"caller{number}", told) for number in range(CALLERS)]
    async with running(tmp_path) as server, calling(server) as api:
        assert (await api.apply(*SMALL))["__typename"] == "Applied"
        await first_words(server, log)
    first = revision_of(log.cursor) + 1
    for cycle in range(CYCLES[scale]):
        async with running(tmp_path) as server:
            tasks = [asyncio.create_task(each.work(server)) for each in callers]
            tasks += [asyncio.create_task(follow(server, each)) for each in (log, members)]
            await killed(server, told, Random(f"kill {cycle}"))
            await asyncio.gather(*tasks)
    for caller in callers:
        caller.stopping = True
    async with running(tmp_path) as server, calling(server) as api:
        await asyncio.gather(*(each.work(server) for each in callers))
        head = await api.revision()
        await caught_up(server, log, head)
        await caught_up(server, members, head)
        await check_history(api, told)
        assert log.revisions == list(range(first, head + 1))
        assert members.held == set(told.revisions)
    assert "the record is whole" in Trellis(tmp_path, [])("verify")
    assert told.resent > 0, "nobody was ever cut off"
    print(f"{len(told.revisions):,} keys; {told.resent} sent again, {told.found} had happened")


async def killed(server: Serving, told: Told, random: Random) -> None:
    """Ended without a word, anywhere inside some change."""
    async with asyncio.timeout(120):
        await told.so_many_more(random.randint(1, 30))
    await asyncio.sleep(random.random() * 0.02)
    server.kill()


async def check_history(api: Api, told: Told) -> None:
    """Each promise is in the log at its revision, and each key is there once."""
    written: dict[str, int] = {}
    times: Counter[str] = Counter()
    after = None
    while True:
        page = (await api.data(HISTORY, after=after))["changesets"]
        for each in page["nodes"]:
            times[each["reason"]] += 1
            written[each["reason"]] = each["revision"]
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    del written["because"], times["because"]
    assert written == told.revisions
    assert set(times.values()) == {1}


async def first_words(server: Serving, log: LogFollower) -> None:
    """Where the log is, which is where it is followed from."""
    async with connect(server.ws_url) as socket:
        operation = await socket.subscribe(log.query, log.variables)
        log.take(await operation.value())


@asynccontextmanager
async def running(directory: Path) -> AsyncIterator[Serving]:
    """The next process on the same store."""
    url = f"sqlite:///{directory / 'trellis.db'}"
    async with begun(url, directory, {}, arguments=["--create"]) as server:
        yield server
