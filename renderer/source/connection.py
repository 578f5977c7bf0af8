"""One connection to the API: graphql-transport-ws, introduced, with one operation at a time.

Nothing is read ahead but what the socket's own small buffer holds, so whoever reads slowly makes
the API wait, and memory stays what it is however much is said. Every way of ending is told as one
of the house's errors; the token is in none of them, and in no log.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidStatus,
    WebSocketException,
)
from websockets.typing import Subprotocol

from graph.model.errors import Denied, Invalid, ResyncRequired, TrellisError, Unavailable
from renderer.settings import SourceSettings
from renderer.source.address import address_of

Json = Any
"""What a JSON parser returns."""

PROTOCOL = Subprotocol("graphql-transport-ws")
BUFFERED_FRAMES_MAX = 8
"""Frames that wait in memory to be read."""
OPERATION = "1"
"""The id of the one operation under way."""
DENIED_STATUSES, REDIRECTED = (401, 403), range(300, 400)
DENIED_CODES, TOO_LARGE = (4401, 4403), 1009

_ERRORS: Mapping[str, type[TrellisError]] = {
    each.code: each for each in (Denied, Invalid, ResyncRequired)
} | {"UNAUTHENTICATED": Denied, "BAD_REQUEST": Invalid}
"""Codes of the API that say more than that it may succeed later."""

_SILENT = logging.Logger("websockets")
"""Frames are logged nowhere: one of them has the token in it."""
_SILENT.addHandler(logging.NullHandler())


class Connection:
    """An open, introduced connection. Make it with ``connected``."""

    def __init__(self, socket: ClientConnection, settings: SourceSettings) -> None:
        self._socket = socket
        self._settings = settings

    async def operate(
        self, query: str, variables: Mapping[str, Json]
    ) -> AsyncGenerator[Mapping[str, Json]]:
        """The results of an operation, until it is complete."""
        payload = {"query": query, "variables": variables}
        await self._send({"id": OPERATION, "type": "subscribe", "payload": payload})
        while True:
            frame = await self._heard()
            match frame.get("type"):
                case "next":
                    yield _data(frame["payload"])
                case "error":
                    raise _error(frame["payload"])
                case "complete":
                    return
                case "ping":
                    await self._send({"type": "pong"})
                case _:  # a pong: it is there
                    pass

    async def introduce(self, token: str) -> None:
        """Say who this is."""
        payload = {"authorization": f"Bearer {token}"} if token else {}
        try:
            await self._send({"type": "connection_init", "payload": payload})
            while (await self._frame()).get("type") != "connection_ack":
                pass
        except _Closed as error:
            if error.number in DENIED_CODES:
                raise Denied(
                    f"the API does not let this worker in: {error.reason}",
                    hint="set TRELLIS_SOURCE_TOKEN or TRELLIS_SOURCE_TOKEN_FILE to a token of a"
                    " reader of everything",
                ) from None
            raise

    async def _heard(self) -> Mapping[str, Json]:
        """The next frame; who says nothing is asked whether they are there."""
        seconds = self._settings.silence_seconds
        for _ in range(2):
            try:
                async with asyncio.timeout(seconds):
                    return await self._frame()
            except TimeoutError:
                await self._send({"type": "ping"})
        raise Unavailable(
            f"the API has said nothing for {2 * seconds:g} s", hint="it is tried again"
        )

    async def _frame(self) -> Mapping[str, Json]:
        try:
            frame = orjson.loads(await self._socket.recv(decode=False))
        except ConnectionClosed as error:
            raise self._closed(error) from None
        except orjson.JSONDecodeError as error:
            raise Unavailable("the API says what is not JSON", hint="check the URL") from error
        if not isinstance(frame, dict):
            raise Unavailable("the API says what is no message", hint="check the URL")
        return cast("dict[str, Json]", frame)

    async def _send(self, frame: Mapping[str, Json]) -> None:
        try:
            await self._socket.send(orjson.dumps(frame), text=True)
        except ConnectionClosed as error:
            raise self._closed(error) from None

    def _closed(self, error: ConnectionClosed) -> TrellisError:
        sent = None if error.rcvd_then_sent else error.sent  # what is not a mere echo
        if sent is not None and sent.code == TOO_LARGE:
            return Invalid(
                "the API's message is larger than"
                f" {self._settings.message_bytes_max:,} bytes, which is the bound",
                hint="raise TRELLIS_SOURCE_MESSAGE_BYTES_MAX",
            )
        told = error.rcvd
        return _Closed(told.code, told.reason) if told else _Closed(1006, "it broke off")


class _Closed(Unavailable):
    """The API closed the connection."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(
            f"the API closed the connection: {reason or 'it gave no reason'} ({number})",
            hint="it is tried again",
        )
        self.number = number
        self.reason = reason


class _Dial(connect):
    """Goes where it is told and nowhere else: the token is for that address."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Follow nobody."""
        return exc


@asynccontextmanager
async def connected(settings: SourceSettings) -> AsyncGenerator[Connection]:
    """A connection that has introduced itself, closed at the end."""
    address = address_of(settings)
    token = _token(settings)
    try:
        async with asyncio.timeout(settings.connect_seconds):
            socket = await _Dial(
                address,
                subprotocols=[PROTOCOL],
                compression=None,
                proxy=None,
                ping_interval=None,  # a pong would wait behind what is not read yet
                close_timeout=2,
                max_size=settings.message_bytes_max,
                max_queue=BUFFERED_FRAMES_MAX,
                logger=_SILENT,
                ssl=_context(settings) if address.startswith("wss:") else None,
            )
    except (OSError, TimeoutError, WebSocketException) as error:
        raise _unreachable(address, error) from error
    try:
        connection = Connection(socket, settings)
        async with _in_time(settings.connect_seconds, "its introduction"):
            await connection.introduce(token)
        yield connection
    finally:
        socket.transport.abort()  # what it still says is for nobody


@asynccontextmanager
async def _in_time(seconds: float, what: str) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Unavailable(
            f"the API has not answered {what} within {seconds:g} s", hint="it is tried again"
        ) from None


async def answer(
    connection: Connection, query: str, variables: Mapping[str, Json], seconds: float
) -> Mapping[str, Json]:
    """The one result of a query or a mutation."""
    async with _in_time(seconds, "a question"):
        async for data in connection.operate(query, variables):
            return data
    raise Unavailable("the API has ended a question without an answer", hint="it is tried again")


def _data(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    if payload.get("errors"):
        raise _error(payload["errors"])
    data: Mapping[str, Json] = payload["data"]
    return data


def _error(errors: Sequence[Mapping[str, Json]]) -> TrellisError:
    first = errors[0]
    extensions: Mapping[str, Json] = first.get("extensions", {})
    kind = _ERRORS.get(extensions.get("code", ""), Unavailable)
    return kind(f"the API says: {first['message']}", hint=extensions.get("hint") or "")


def _token(settings: SourceSettings) -> str:
    if not settings.token_file:
        return settings.token.get_secret_value()
    try:
        return Path(settings.token_file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(
            f"the token cannot be read from {settings.token_file}: {error}",
            hint="check TRELLIS_SOURCE_TOKEN_FILE",
        ) from None


def _context(settings: SourceSettings) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=settings.ca_file or None)
    except OSError as error:
        raise Invalid(
            f"no certificates in {settings.ca_file}: {error}", hint="check TRELLIS_SOURCE_CA_FILE"
        ) from None


def _unreachable(address: str, error: Exception) -> TrellisError:
    if isinstance(error, InvalidStatus):
        return _refused(address, error.response.status_code)
    if isinstance(error, ssl.SSLCertVerificationError):
        return Unavailable(
            f"the certificate of {address} is not trusted: {error.verify_message}",
            hint="set TRELLIS_SOURCE_CA_FILE to the authority it comes from",
        )
    if isinstance(error, InvalidHandshake):
        return Invalid(f"{address} speaks no GraphQL over sockets: {error}", hint="check the URL")
    reason = "it takes too long" if isinstance(error, TimeoutError) else str(error)
    return Unavailable(f"{address} cannot be reached: {reason}", hint="it is tried again")


def _refused(address: str, status: int) -> TrellisError:
    if status in DENIED_STATUSES:
        return Denied(f"{address} refuses this worker ({status})", hint="check its token")
    if status in REDIRECTED:
        return Invalid(
            f"{address} redirects, which is not followed ({status})",
            hint="set TRELLIS_SOURCE_URL to where the API is",
        )
    if status == 404:
        return Invalid(f"there is no API at {address}", hint="its path is /graphql")
    return Unavailable(f"{address} cannot answer now ({status})", hint="it is tried again")
