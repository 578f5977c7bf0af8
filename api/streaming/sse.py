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
from graphql import OperationType

from api.caller.identity import Identified
from api.execution.documents import BadDocument
from api.execution.operations import Prepared
from api.problems import refusal
from api.refusals import SlowReader
from api.streaming.conversation import House
from api.streaming.hub import Subscription
from api.streaming.lease import Lease
from api.streaming.outbox import Outbox
from api.streaming.stream import Payload
from api.web.door import Receive, Scope, Send, headers_of, is_stalled, peer_of
from api.web.media import Media
from api.web.quota import Quota
from api.web.stopping import stopping, unfinished
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
        call: Prepared | BadDocument,
        identified: Identified,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Stream the results of one operation."""
        after = _resumed(scope)
        headers = headers_of(scope)
        lease = Lease(identified, headers.authorization, peer_of(scope, headers))
        with self._quota.held(identified.actor.name):
            try:
                await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
                response = _Response(self._house, lease, call, receive, send)
                reason = await response.hold(after)
                if isinstance(reason, SlowReader) or is_stalled(scope):
                    self._quota.dropped()
                _log.info("stream of %s ended: %s", lease.peer.client, reason or "complete")
                await response.end(reason)
            except OSError:
                _log.info("stream of a client that is gone")


class _Response:
    """One open response: the sink of one operation."""

    def __init__(
        self,
        house: House,
        lease: Lease,
        call: Prepared | BadDocument,
        receive: Receive,
        send: Send,
    ) -> None:
        self._house = house
        self._lease = lease
        self._call = call
        self._receive = receive
        self._send = send
        self._outbox = Outbox(send, _wrapped, house.settings, heartbeat=HEARTBEAT)
        self._over = asyncio.Event()
        self._subscription: Subscription | None = None
        self.sent: Cursor | None = None

    async def hold(self, after: Cursor | None) -> TrellisError | None:
        """Stream until there is nothing more to say, or nobody to say it to."""
        running = asyncio.create_task(self._run(after))
        parts = [self._over.wait(), self._outbox.run(), self._watch(), self._stop(), self._gone()]
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

    async def _run(self, after: Cursor | None) -> None:
        calls, identified = self._house.calls, self._lease.identified
        self._subscription = await calls.run(self._call, identified, self, after=after)

    async def _watch(self) -> TrellisError:
        settings = self._house.settings
        reason = await self._lease.over(self._house.identity, settings.recheck_seconds)
        return await self._let_go(reason, settings.execution_seconds)

    async def _stop(self) -> TrellisError:
        await self._house.stopping.begun.wait()
        return await self._let_go(stopping(), self._house.settings.drain_seconds)

    async def _let_go(self, reason: TrellisError, within_seconds: float) -> TrellisError:
        """Wait for an answer, but not for a stream to end; why it ends without."""
        kind = self._call.kind if isinstance(self._call, Prepared) else None
        if kind is OperationType.SUBSCRIPTION:
            return reason
        await asyncio.sleep(within_seconds)  # cut short by the answer
        return unfinished(reason) if kind is OperationType.MUTATION else reason

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
