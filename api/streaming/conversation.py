"""Conversations: what is said over one open socket, in graphql-transport-ws.

One reads, one writes, one watches the token. Whichever of them ends first says why, and that is
why the socket is closed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from api.caller.identity import Identified, Identity, Peer, Unauthenticated
from api.caller.rate import Rates
from api.execution.request import GraphQLRequest
from api.problems import refusal
from api.refusals import TooMany
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
    complete_frame,
    error_frame,
    next_head,
    read_frame,
)
from api.streaming.hub import Subscription
from api.streaming.lease import Lease
from api.streaming.outbox import Outbox, SlowReader
from api.streaming.stream import Payload
from api.web.door import Door, Receive, Send
from graph.model.change import Cursor
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
    drained: asyncio.Event
    """Set when the process is about to stop."""
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
        self.operations: dict[str, _Operation] = {}

    async def hold(self, arrived: Arrived) -> Closing:
        """Talk until there is a reason not to; everything that was begun is let go."""
        parts = [self._read(arrived), self._write(), self._watch()]
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

    # the three parts

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
        error = await self._lease.over(
            house.identity, house.drained, house.settings.recheck_seconds
        )
        for operation in list(self.operations.values()):
            operation.fail([refusal(error)])
        code = Close.FORBIDDEN if isinstance(error, Unauthenticated) else Close.GOING_AWAY
        raise Closing(code, error.message)

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
        if len(text) > self._house.settings.frame_bytes_max:
            raise Closing(Close.TOO_BIG, "the message is too long")
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
        operation = _Operation(frame.id, self._outbox, self.operations)
        operations_max = self._house.settings.operations_per_socket_max
        try:
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


class _Operation:
    """One operation of a socket: the sink of its results."""

    __slots__ = ("_all", "_head", "_id", "_outbox", "_subscription", "_task", "sent")

    def __init__(
        self, operation_id: str, outbox: Outbox, all_of_them: dict[str, _Operation]
    ) -> None:
        self._id = operation_id
        self._head = next_head(operation_id)
        self._outbox = outbox
        self._all = all_of_them
        self._all[operation_id] = self
        self._task: asyncio.Task[None] | None = None
        self._subscription: Subscription | None = None
        self.sent: Cursor | None = None

    def begin(self, calls: Calls, request: GraphQLRequest, identified: Identified) -> None:
        """Let it run by itself."""
        self._task = asyncio.create_task(self._run(calls, request, identified))

    async def _run(self, calls: Calls, request: GraphQLRequest, identified: Identified) -> None:
        with calls.traces.operation():
            self._subscription = await calls.run(request, identified, self)

    def leave(self) -> None:
        """The other end wants no more."""
        self._all.pop(self._id, None)
        if self._task is not None and not self._task.done():
            self._task.cancel()
        if self._subscription is not None:
            self._subscription.leave()

    def next(self, payload: Payload) -> None:
        """One result."""
        self._outbox.put(f"{self._head}{payload.text}}}", self, payload.cursor)

    async def room(self) -> None:
        """Wait until the socket has taken most of what it was sent."""
        await self._outbox.room()

    def fail(self, errors: Sequence[dict[str, Any]]) -> None:
        """It could not go on."""
        self._end(error_frame(self._id, list(errors)))

    def complete(self) -> None:
        """It has ended."""
        self._end(complete_frame(self._id))

    def _end(self, frame: str) -> None:
        if self._all.pop(self._id, None) is not None:  # else the other end has left already
            self._outbox.put(frame, self)


def _wrapped(text: str) -> dict[str, Any]:
    return {"type": "websocket.send", "text": text}
