"""Talking to a ``trellis serve`` process: operations, batches, probes, and waiting for a state.

    async with calling(server) as api:
        await api.apply(RegisterCluster("new"), key="k1")
        assert (await api.data("{ fleet { revision } }"))["fleet"]["revision"] == 2

A process whose store is reached through this test's own event loop is started with ``begun``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from command_inputs import input_of, name_of
from graph.index.snapshot import Snapshot
from graph.model.change import CHAIN_DIGITS, Cursor
from graph.model.command import Command
from graph.model.names import Revision
from neo4j_process import LocalServer
from neo4j_server import Server
from serving import Serving, serve

APPLY = """
mutation Apply($input: ApplyInput!) {
  apply(input: $input) {
    __typename
    ... on Applied { revision changed cursor }
    ... on Failure { code message hint }
  }
}
"""
FLEET = "{ fleet { revision age clusters { totalCount } } }"
WAIT_SECONDS = 60
"""Longest wait for a state before a test fails."""
_NOTHING = Snapshot.empty(Cursor(Revision(0), "0" * CHAIN_DIGITS))


@dataclass(frozen=True)
class Api:
    """One caller of one process."""

    server: Serving
    client: httpx.AsyncClient

    async def post(self, query: str, **variables: Any) -> httpx.Response:
        """Whatever is answered to one operation."""
        body = {"query": query, "variables": variables}
        return await self.client.post("/graphql", json=body)

    async def data(self, query: str, **variables: Any) -> Any:
        """The data of an answer that has no errors."""
        answer = (await self.post(query, **variables)).json()
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    async def apply(self, *commands: Command, key: str | None = None) -> dict[str, Any]:
        """The result of one batch: what was applied, or why it was not."""
        return await self.send(batch(*commands, key=key))

    async def send(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a batch that is written already; a refusal of the door looks the same."""
        answer = (await self.post(APPLY, input=sent)).json()
        if "errors" in answer:
            (error,) = answer["errors"]
            return {"__typename": "", "message": error["message"], **error["extensions"]}
        found: dict[str, Any] = answer["data"]["apply"]
        return found

    async def fleet(self) -> dict[str, Any]:
        """The revision and age of the fleet, and how many clusters are in it."""
        found: dict[str, Any] = (await self.data(FLEET))["fleet"]
        return found

    async def revision(self) -> int:
        """The revision it is at."""
        return int((await self.fleet())["revision"])

    async def readyz(self) -> tuple[int, dict[str, Any]]:
        """What an orchestrator is told."""
        answer = await self.client.get("/readyz")
        return answer.status_code, answer.json()


def batch(*commands: Command, key: str | None = None, reason: str = "because") -> dict[str, Any]:
    """A batch as the API takes it. Selectors in it are text."""
    inputs = [{name_of(each): input_of(each, _NOTHING)} for each in commands]
    return {"commands": inputs, "reason": reason, "idempotencyKey": key}


@asynccontextmanager
async def calling(server: Serving, token: str | None = None) -> AsyncIterator[Api]:
    """Somebody who asks a process."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        base_url=server.url, headers=headers, timeout=WAIT_SECONDS, trust_env=False
    ) as client:
        yield Api(server, client)


@asynccontextmanager
async def begun(
    store: str, directory: Path, environment: Mapping[str, str], *, arguments: Sequence[str] = ()
) -> AsyncIterator[Serving]:
    """A serving process, started and stopped while this event loop goes on."""
    held = serve(store, environment, arguments=arguments, directory=directory)
    server = await asyncio.to_thread(held.__enter__)
    try:
        yield server
    finally:
        await asyncio.to_thread(held.__exit__, None, None, None)


def neo4j_settings(server: Server | LocalServer) -> dict[str, str]:
    """The environment of a process whose store is that server."""
    return {"TRELLIS_NEO4J_USER": server.user, "TRELLIS_NEO4J_PASSWORD": server.password}


async def eventually(
    state: Callable[[], Awaitable[bool]], *, within: float = WAIT_SECONDS
) -> float:
    """Wait until ``state`` holds; the seconds that took. It is looked at again and again."""
    started = time.monotonic()
    while not await state():
        assert time.monotonic() - started < within, f"not so after {within} s"
        await asyncio.sleep(0.01)
    return time.monotonic() - started
