"""Shapes: subscriptions that ask for the same, by callers who may see the same.

Each change is executed and encoded once for a shape, however many subscribe to it. A shape follows
the log by itself, so one that is slow to execute keeps nobody else waiting.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from contextvars import Context
from typing import Any

from api.problems import fault, refusal
from api.schema.trail import Message, Trail
from api.streaming.selection import Selection
from api.streaming.stream import Failed, Payload, Stream
from api.telemetry.metrics import Tallies
from graph.engine import Engine
from graph.model.access import Grant, Role
from graph.model.errors import Denied, ResyncRequired, TrellisError, Unavailable
from graph.model.names import Revision

FAN_OUT_CHUNK = 100
"""Streams told at a time, before everybody else in the process has a turn."""
RETRY_SECONDS = 1.0
"""Wait before a shape asks the store again that did not answer."""

_log = logging.getLogger(__name__)


class Shape:
    """One trail, walked for all who subscribe to the same."""

    def __init__(
        self,
        key: Hashable,
        trail: Trail,
        selection: Selection,
        *,
        tallies: Tallies,
        ended: Callable[[Shape], None],
    ) -> None:
        self.key = key
        self.trail = trail
        self.streams: dict[Stream, None] = {}
        self.over = False
        self._engine: Engine = trail.place.context.engine
        self._grants: Mapping[str, Grant] = trail.place.context.view.catalog.grants
        self._send_seconds = trail.place.context.settings.send_seconds
        self._selection = selection
        self._tallies = tallies
        self._ended = ended
        self._moved = asyncio.Event()
        # in a context of its own: it outlives the request that it was made by
        self._task = asyncio.create_task(self._walk(), context=Context())

    def join(self, stream: Stream) -> None:
        """Say to ``stream`` what comes after the place the trail is at."""
        stream.past = self.trail.place.cursor.revision
        self.streams[stream] = None
        self._tallies.subscriptions_open += 1

    def leave(self, stream: Stream) -> None:
        """Say nothing more to ``stream``; a shape nobody is left of ends."""
        self._drop(stream)
        if not self.streams and not self.over:
            self._end()
            self._task.cancel()

    async def reached(self, revision: Revision) -> None:
        """Wait until the trail is at ``revision``, or the shape is over."""
        while not self.over and self.trail.place.cursor.revision < revision:
            await self._moved.wait()

    async def _walk(self) -> None:
        """Go along with the log. However that ends, every stream is told."""
        try:
            await self._follow_or_restart()
        except Failed as failure:
            self._fail(list(self.streams), failure.errors)
        except TrellisError as error:
            self._fail(list(self.streams), [refusal(error)])
        except Exception as error:
            self._fail(list(self.streams), [fault(error)])
        finally:
            self._end()

    async def _follow_or_restart(self) -> None:
        try:
            await self._follow()
        except ResyncRequired as error:
            await self._restart(list(self.streams), error)

    async def _follow(self) -> None:
        """Say what every changeset has to say, until nobody is left or the engine is closed."""
        while True:
            try:
                async with aclosing(self._engine.follow(self.trail.place.cursor)) as log:
                    async for changeset in log:
                        await self._expel()
                        if not self.streams:
                            return
                        messages = self.trail.take(changeset)
                        self._wake()
                        await self._say(messages)
            except Unavailable as error:
                _log.warning("subscriptions go on when the store is back: %s", error.message)
                await asyncio.sleep(RETRY_SECONDS)
            else:
                raise Unavailable("the process is stopping", hint="subscribe again")

    async def _say(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if self.trail.paced:
                await self._room()
            payload = await self._execute(message)
            for position, stream in enumerate(list(self.streams), start=1):
                stream.hear(payload, message.revision)
                if position % FAN_OUT_CHUNK == 0:
                    await asyncio.sleep(0)

    async def _room(self) -> None:
        """Wait for those who listen, as long as one may who takes nothing at all.

        Also where there is room, everybody else in the process has a turn before the next message.
        """
        await asyncio.sleep(0)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._send_seconds):
                for stream in list(self.streams):
                    await stream.sink.room()

    async def _expel(self) -> None:
        """Let those go who may no longer see what this shape shows."""
        grants = self._engine.view.catalog.grants
        if grants is self._grants or grants == self._grants:
            return
        self._grants = grants
        changed = [each for each in self.streams if access_change(self._engine, each) is not None]
        await self._restart(changed, _other_access())

    async def _restart(self, streams: Sequence[Stream], error: ResyncRequired) -> None:
        """Tell some of the streams to begin again, or that they may not."""
        last: Payload | None = None
        for stream in streams:
            reason = access_change(self._engine, stream)
            if isinstance(reason, Denied):
                self._fail([stream], [refusal(reason)])
                continue
            last = last or await self._execute(self.trail.resync(error))
            self._drop(stream)
            stream.end(last)

    async def _execute(self, message: Message) -> Payload:
        self._tallies.messages_executed += 1
        return await self._selection.payload(message)

    def _fail(self, streams: Sequence[Stream], errors: Sequence[dict[str, Any]]) -> None:
        for stream in streams:
            self._drop(stream)
            stream.fail(errors)

    def _drop(self, stream: Stream) -> None:
        if stream in self.streams:
            del self.streams[stream]
            self._tallies.subscriptions_open -= 1

    def _wake(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    def _end(self) -> None:
        if not self.over:
            self.over = True
            self._ended(self)
            self._wake()


def access_change(engine: Engine, stream: Stream) -> TrellisError | None:
    """Why a stream may not go on as it is, now that grants have changed; None if it may."""
    now = engine.access(stream.access.actor)
    if now.key == stream.access.key:
        return None
    if now.scope(Role.READER) is None:
        return Denied("you may no longer see the fleet", hint="ask an admin for a grant")
    return _other_access()


def _other_access() -> ResyncRequired:
    return ResyncRequired("what you may see has changed", hint="subscribe again without `after`")
