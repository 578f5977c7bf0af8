"""A client of graphql-transport-ws over a real socket, as small as the protocol.

    async with connect(url) as socket:
        changes = await socket.subscribe("subscription { changes { __typename } }")
        first = await changes.next()

One task reads the socket and hands every message to the operation it is for.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as dial
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

PROTOCOL = Subprotocol("graphql-transport-ws")
WAIT_SECONDS = 30
"""Longest wait for a message before a test fails."""


class Failed(Exception):
    """An operation ended with an error; ``errors`` say why."""

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__(str(errors))
        self.errors = errors

    @property
    def code(self) -> str:
        """The code of the first."""
        return str(self.errors[0]["extensions"]["code"])


class Closed(Exception):
    """The socket was closed."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code = code
        self.reason = reason


class Operation:
    """One operation under way."""

    def __init__(self, socket: Socket, operation_id: str) -> None:
        self._socket = socket
        self.id = operation_id
        self._messages: asyncio.Queue[dict[str, Any] | Exception] = asyncio.Queue()

    async def next(self) -> dict[str, Any] | None:
        """The next result; None at the end; ``Failed`` or ``Closed`` if it went wrong."""
        async with asyncio.timeout(WAIT_SECONDS):
            message = await self._messages.get()
        if isinstance(message, Exception):
            self._messages.put_nowait(message)
            raise message
        if message["type"] == "complete":
            return None
        payload: dict[str, Any] = message["payload"]
        return payload

    async def value(self) -> dict[str, Any]:
        """The value of the only field of the next result."""
        payload = await self.next()
        assert payload is not None, "the operation is over"
        assert "errors" not in payload, payload
        (value,) = payload["data"].values()
        assert isinstance(value, dict)
        return value

    async def complete(self) -> None:
        """Want no more."""
        await self._socket.send({"id": self.id, "type": "complete"})

    def take(self, message: dict[str, Any] | Exception) -> None:
        """Queue a message for whoever asks next."""
        if isinstance(message, dict) and message["type"] == "error":
            message = Failed(message["payload"])
        self._messages.put_nowait(message)


class Socket:
    """One introduced socket."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self._operations: dict[str, Operation] = {}
        self._count = 0
        self._reader = asyncio.create_task(self._read())

    async def subscribe(
        self, query: str, variables: dict[str, Any] | None = None, *, operation_id: str = ""
    ) -> Operation:
        """Begin an operation of any kind."""
        self._count += 1
        operation = Operation(self, operation_id or f"op-{self._count}")
        self._operations[operation.id] = operation
        payload = {"query": query, "variables": variables or {}}
        await self.send({"id": operation.id, "type": "subscribe", "payload": payload})
        return operation

    async def execute(self, query: str, variables: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to a query or mutation."""
        operation = await self.subscribe(query, variables)
        answer = await operation.next()
        assert answer is not None
        assert await operation.next() is None
        return answer

    async def send(self, message: object) -> None:
        """Send any message."""
        await self.connection.send(json.dumps(message))

    async def closed(self) -> Closed:
        """Wait until the socket is closed, and say how."""
        async with asyncio.timeout(WAIT_SECONDS):
            await asyncio.shield(self._reader)
        return self._ended()

    def kill(self) -> None:
        """Break the connection without a word."""
        self.connection.transport.abort()

    async def end(self) -> None:
        """Close it as one should."""
        await self.connection.close()
        await self._reader

    async def _read(self) -> None:
        try:
            async for text in self.connection:
                message = json.loads(text)
                operation = self._operations.get(message.get("id", ""))
                if operation is not None:
                    operation.take(message)
        except ConnectionClosed:
            pass
        for operation in self._operations.values():
            operation.take(self._ended())

    def _ended(self) -> Closed:
        return Closed(self.connection.close_code or 1006, self.connection.close_reason or "")


@asynccontextmanager
async def connect(
    url: str, *, token: str | None = None, headers: dict[str, str] | None = None
) -> AsyncIterator[Socket]:
    """A socket that has introduced itself."""
    async with dial(
        url,
        subprotocols=[PROTOCOL],
        additional_headers=headers,
        compression=None,
        max_size=None,
        ping_interval=None,
    ) as connection:
        payload = {} if token is None else {"authorization": f"Bearer {token}"}
        await connection.send(json.dumps({"type": "connection_init", "payload": payload}))
        try:
            answer = json.loads(await connection.recv())
        except ConnectionClosed as error:
            closed = error.rcvd
            raise Closed(closed.code if closed else 1006, closed.reason if closed else "") from None
        assert answer == {"type": "connection_ack"}, answer
        socket = Socket(connection)
        try:
            yield socket
        finally:
            await socket.end()
