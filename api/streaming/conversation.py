"""Conversations: what is said over one open socket, in graphql-transport-ws.

One reads, one writes, one watches the token, one waits for the end of the process. Whichever of
them ends first says why, and that is why the socket is closed. When it is the token or the process
that ends, streams end at once, and what else is under way has the time to be answered.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from graphql import OperationType

from api.caller.identity import Identified, Identity, Peer, Unauthenticated
from api.caller.rate import Rates
from api.problems import refusal
from api.refusals import SlowReader, TooMany
from api.settings import ApiSettings
from api.streaming.calls import Calls
from api.streaming.frames import (
    ACK,
    PONG,
    Close,
    Closing,
    Complete,
    Frame,
    Init,
    Ping,
    Pong,
    Subscribe,
    read_frame,
)
from api.streaming.lease import Lease
from api.streaming.operation import SocketOperation
from api.streaming.outbox import Outbox
from api.web.door import Door, Receive, Send
from api.web.stopping import Stopping, stopping
from graph.model.errors import TrellisError

BURST = 16
"""Messages of one socket that are read before others have a turn."""
PACE_SECONDS_MAX = 1.0
"""Longest pause in reading a socket that sends too much."""

Arrived = Callable[[Identified], None]
"""Called when it is known who is at the other end; may refuse them."""


@dataclass(frozen=True, slots=True)
class House:
    """What all conversations share."""

    calls: Calls
    door: Door
    identity: Identity
    settings: ApiSettings
    stopping: Stopping
    rates: Rates
    """How fast each socket is read."""


class Conversation:
    """One socket, once it is open."""

    def __init__(
        self, house: House, peer: Peer, authorization: str | None, receive: Receive, send: Send
    ) -> None:
        self._house = house
        self._peer = peer
        self._authorization = authorization
        self._receive = receive
        self._outbox = Outbox(send, _wrapped, house.settings)
        self._lease: Lease | None = None
        self._introduced = asyncio.Event()
        self._name = f"{peer.client} {id(self):x}"
        self._heard = 0
        self._ending: TrellisError | None = None
        """Why nothing new is begun."""
        self.operations: dict[str, SocketOperation] = {}

    async def hold(self, arrived: Arrived) -> Closing:
        """Talk until there is a reason not to; everything that was begun is let go."""
        parts = [self._read(arrived), self._write(), self._watch(), self._stop()]
        tasks = [asyncio.create_task(part) for part in parts]
        try:
            ways: list[asyncio.Future[Any]] = [*tasks, self._outbox.slow]
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            return self._closing(next(way for way in ways if way in done).exception())
        finally:
            self._outbox.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for operation in list(self.operations.values()):
                operation.leave()

    async def last_words(self) -> None:
        """Write what is still to be said."""
        await self._outbox.flush()

    # the four parts

    async def _read(self, arrived: Arrived) -> NoReturn:
        wait_seconds = self._house.settings.socket_init_seconds
        try:
            async with asyncio.timeout(wait_seconds):
                while self._lease is None:
                    await self._greet(await self._frame(), arrived)
        except TimeoutError:
            reason = f"no connection_init within {wait_seconds:g} s"
            raise Closing(Close.INIT_TIMEOUT, reason) from None
        while True:
            self._hear(await self._frame(), self._lease.identified)

    async def _write(self) -> NoReturn:
        try:
            await self._outbox.run()
        except OSError:
            raise Closing(Close.GONE, "the connection is gone", ours=False) from None
        raise AssertionError("an outbox runs for ever")

    async def _watch(self) -> NoReturn:
        await self._introduced.wait()
        assert self._lease is not None, "it is set before"
        house = self._house
        reason = await self._lease.over(house.identity, house.settings.recheck_seconds)
        await self._let_go(reason, house.settings.execution_seconds)
        raise Closing(Close.FORBIDDEN, reason.message)

    async def _stop(self) -> NoReturn:
        await self._house.stopping.begun.wait()
        reason = stopping()
        await self._let_go(reason, self._house.settings.drain_seconds)
        raise Closing(Close.GOING_AWAY, reason.message)

    async def _let_go(self, reason: TrellisError, within_seconds: float) -> None:
        """Begin nothing more, end streams, and wait for the answers to all else."""
        self._ending = reason
        for operation in list(self.operations.values()):
            if operation.kind is OperationType.SUBSCRIPTION:
                operation.stop(reason)
        waiting = [each.task for each in self.operations.values() if each.task is not None]
        if waiting:
            await asyncio.wait(waiting, timeout=within_seconds)
        for operation in list(self.operations.values()):
            operation.stop(reason)

    def _closing(self, reason: BaseException | None) -> Closing:
        """Why the socket is closed, as it is told."""
        if isinstance(reason, Closing):
            return reason
        if isinstance(reason, SlowReader):
            sent = [each.sent for each in self.operations.values() if each.sent is not None]
            place = min(sent, key=lambda cursor: cursor.revision, default=None)
            what = "start again" if place is None else f"resume after {place}"
            return Closing(Close.SLOW_READER, f"{reason.message}, {what}")
        fault = Closing(Close.FAULT, "something went wrong")
        fault.__cause__ = reason
        return fault

    # what is heard

    async def _frame(self) -> Frame:
        message = await self._receive()
        await self._pace()
        if message["type"] == "websocket.disconnect":
            raise Closing(message.get("code") or Close.GONE, "the client has closed it", ours=False)
        text = message.get("text")
        if text is None:
            raise Closing(Close.BAD_REQUEST, "a binary message; send text")
        return read_frame(text)

    async def _pace(self) -> None:
        """Read no faster than one caller may ask: a flood waits in the client's own buffers."""
        self._heard += 1
        wait_seconds = self._house.rates.take(self._name, time.monotonic())
        if wait_seconds is not None:
            await asyncio.sleep(min(wait_seconds, PACE_SECONDS_MAX))
        elif self._heard % BURST == 0:
            await asyncio.sleep(0)

    async def _greet(self, frame: Frame, arrived: Arrived) -> None:
        match frame:
            case Init():
                if frame.authorization is not None:
                    self._authorization = frame.authorization
                self._lease = await self._introduce(arrived)
                self._introduced.set()
                self._outbox.put(ACK)
            case Subscribe():
                raise Closing(Close.UNAUTHORIZED, "subscribe came before connection_init")
            case Ping():
                self._outbox.put(PONG)
            case Complete() | Pong():
                pass

    async def _introduce(self, arrived: Arrived) -> Lease:
        try:
            identified = await self._house.identity.identify(self._authorization, self._peer)
            arrived(identified)
        except Unauthenticated as error:
            raise Closing(Close.FORBIDDEN, error.message) from None
        except TrellisError as error:  # too many of this caller's, or the issuer is away
            raise Closing(Close.TRY_LATER, error.message) from None
        return Lease(identified, self._authorization, self._peer)

    def _hear(self, frame: Frame, identified: Identified) -> None:
        match frame:
            case Subscribe():
                self._begin(frame, identified)
            case Complete():
                if (operation := self.operations.get(frame.id)) is not None:
                    operation.leave()
            case Ping():
                self._outbox.put(PONG)
            case Pong():
                pass
            case Init():
                raise Closing(Close.TOO_MANY_INITS, "a second connection_init")

    def _begin(self, frame: Subscribe, identified: Identified) -> None:
        if frame.id in self.operations:
            raise Closing(Close.DUPLICATE, f"there is an operation {frame.id} already")
        operation = SocketOperation(frame.id, self._outbox, self.operations)
        operations_max = self._house.settings.operations_per_socket_max
        try:
            if self._ending is not None:
                raise self._ending
            self._house.door.allow(identified)
            if len(self.operations) > operations_max:
                raise TooMany(
                    f"{operations_max:,} operations are under way on this socket already",
                    hint="complete some, or open another socket",
                )
        except TrellisError as error:
            operation.fail([refusal(error)])
        else:
            operation.begin(self._house.calls, frame.request, identified)


def _wrapped(text: str) -> dict[str, Any]:
    return {"type": "websocket.send", "text": text}
