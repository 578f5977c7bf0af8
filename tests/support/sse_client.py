"""A client of graphql-sse, distinct connections mode, over a real connection.

async with listen(url, query, variables) as events:
    async for event in events: ...
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

WAIT_SECONDS = 30


@dataclass(frozen=True)
class Event:
    """One event: its name, id and data."""

    name: str
    id: str
    data: str

    @property
    def payload(self) -> dict[str, Any]:
        """The result it carries."""
        found: dict[str, Any] = json.loads(self.data)
        return found

    @property
    def value(self) -> dict[str, Any]:
        """The value of the only field of its result."""
        payload = self.payload
        assert "errors" not in payload, payload
        (value,) = payload["data"].values()
        assert isinstance(value, dict)
        return value


@asynccontextmanager
async def listen(
    url: str,
    query: str,
    variables: dict[str, Any] | None = None,
    *,
    headers: dict[str, str] | None = None,
) -> AsyncIterator[AsyncIterator[Event]]:
    """The events of one operation; leaving breaks the connection."""
    sent = {"accept": "text/event-stream", **(headers or {})}
    body = {"query": query, "variables": variables or {}}
    async with (
        httpx.AsyncClient(timeout=WAIT_SECONDS, trust_env=False, verify=False) as client,
        client.stream("POST", url, json=body, headers=sent) as response,
    ):
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"].startswith("text/event-stream")
        yield _events(response)


async def _events(response: httpx.Response) -> AsyncIterator[Event]:
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line:
            name, _, value = line.partition(":")
            if name:
                fields[name] = value.removeprefix(" ")
        elif fields:
            yield Event(fields.get("event", ""), fields.get("id", ""), fields.get("data", ""))
            fields = {}


async def narrow_socket(host: str, port: int) -> socket.socket:
    """A connection whose reader, once it stops reading, is soon noticed."""
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    narrow.setblocking(False)
    await asyncio.get_running_loop().sock_connect(narrow, (host, port))
    return narrow
