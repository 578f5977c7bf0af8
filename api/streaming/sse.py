"""Event streams: graphql-sse in its mode of distinct connections, one response for one operation.

Results are ``next`` events whose id is the cursor to resume after; a browser that connects again
sends it back as ``Last-Event-ID``. What is wrong with an operation is said in the stream, as the
protocol asks; what is wrong with the request has a status.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import orjson

from api.caller.identity import Identified
from api.execution.request import GraphQLRequest
from api.problems import refusal
from api.streaming.calls import Calls
from api.streaming.conversation import House
from api.streaming.hub import Subscription
from api.streaming.lease import Lease
from api.streaming.outbox import Outbox, SlowReader
from api.streaming.quota import Quota
from api.streaming.stream import Payload
from api.web.door import Receive, Scope, Send, headers_of, peer_of
from api.web.media import Media
from graph.model.change import Cursor
from graph.model.errors import Invalid, TrellisError

TOKEN_HEADER = b"x-graphql-event-stream-token"
LAST_EVENT_ID = b"last-event-id"
HEARTBEAT = ":\n\n"
COMPLETE = "event: complete\ndata: \n\n"
CLOSE_SECONDS = 2.0
"""How long the last words of a stream may take."""

_HEADERS = [
    (b"content-type", Media.EVENTS.value),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
_log = logging.getLogger(__name__)


class EventStreams:
    """Answers requests that accept an event stream."""

    def __init__(self, house: House, quota: Quota) -> None:
        self._house = house
        self._quota = quota

    async def __call__(
        self,
        request: GraphQLRequest,
        identified: Identified,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Stream the results of one operation."""
        after = _resumed(scope)
        caller = identified.actor.name
        self._quota.enter(caller)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            headers = headers_of(scope)
            lease = Lease(identified, headers.authorization, peer_of(scope, headers))
            response = _Response(self._house, lease, receive, send)
            reason = await response.hold(self._house.calls, request, after)
            if isinstance(reason, SlowReader):
                self._quota.dropped()
            _log.info("stream of %s ended: %s", lease.peer.client, reason or "complete")
            await response.end(reason)
        except OSError:
            _log.info("stream of a client that is gone")
        finally:
            self._quota.leave(caller)


class _Response:
    """One open response: the sink of one operation."""

    def __init__(self, house: House, lease: Lease, receive: Receive, send: Send) -> None:
        self._house = house
        self._lease = lease
        self._receive = receive
        self._send = send
        self._outbox = Outbox(send, _wrapped, house.settings, heartbeat=HEARTBEAT)
        self._over = asyncio.Event()
        self._subscription: Subscription | None = None
        self.sent: Cursor | None = None

    async def hold(
        self, calls: Calls, request: GraphQLRequest, after: Cursor | None
    ) -> TrellisError | None:
        """Stream until there is nothing more to say, or nobody to say it to."""
        running = asyncio.create_task(self._run(calls, request, after))
        parts = [self._over.wait(), self._outbox.run(), self._watch(), self._gone()]
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(part) for part in parts]
        try:
            ways: list[asyncio.Future[Any]] = [*tasks, self._outbox.slow]
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            return _reason(next(way for way in ways if way in done))
        finally:
            self._outbox.close()
            for task in (running, *tasks):
                task.cancel()
            await asyncio.gather(running, *tasks, return_exceptions=True)
            if self._subscription is not None:
                self._subscription.leave()

    async def end(self, reason: TrellisError | None) -> None:
        """The last words, as far as the other end takes them."""
        with suppress(OSError, TimeoutError, SlowReader):
            async with asyncio.timeout(CLOSE_SECONDS):
                if reason is None:
                    await self._outbox.flush()
                else:
                    await self._send(_wrapped(_event(_errors([self._told(reason)]), None)))
                await self._send({"type": "http.response.body", "body": b""})

    # the parts

    async def _run(self, calls: Calls, request: GraphQLRequest, after: Cursor | None) -> None:
        self._subscription = await calls.run(request, self._lease.identified, self, after=after)

    async def _watch(self) -> TrellisError:
        house = self._house
        return await self._lease.over(house.identity, house.drained, house.settings.recheck_seconds)

    async def _gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    # the sink

    def next(self, payload: Payload) -> None:
        """One result."""
        self._outbox.put(_event(payload.text, payload.cursor), self, payload.cursor)

    async def room(self) -> None:
        """Wait until the other end has taken most of what it was sent."""
        await self._outbox.room()

    def fail(self, errors: Sequence[dict[str, Any]]) -> None:
        """It could not go on."""
        self._outbox.put(_event(_errors(errors), None))
        self.complete()

    def complete(self) -> None:
        """It has ended."""
        self._outbox.put(COMPLETE)
        self._over.set()

    def _told(self, reason: TrellisError) -> dict[str, Any]:
        told = refusal(reason)
        if self.sent is not None:
            told["extensions"]["cursor"] = str(self.sent)
        return told


def _resumed(scope: Scope) -> Cursor | None:
    """Where the connection says to begin."""
    found = dict(scope["headers"])
    if TOKEN_HEADER in found:
        raise Invalid("streams are not shared here", hint="open one connection for each operation")
    last = found.get(LAST_EVENT_ID, b"")
    return Cursor.parse(last.decode("latin-1")) if last else None


def _event(text: str, cursor: Cursor | None) -> str:
    place = "" if cursor is None else f"id: {cursor}\n"
    return f"event: next\n{place}data: {text}\n\n"


def _errors(errors: Sequence[dict[str, Any]]) -> str:
    return orjson.dumps({"errors": list(errors)}).decode()


def _wrapped(text: str) -> dict[str, Any]:
    return {"type": "http.response.body", "body": text.encode(), "more_body": True}


def _reason(way: asyncio.Future[Any]) -> TrellisError | None:
    """Why a response ends before its time; None if it does not, or nobody is there to be told."""
    try:
        ended = way.result()
    except SlowReader as error:
        return error
    return ended if isinstance(ended, TrellisError) else None
