"""The hub: every subscription of a process, each distinct one executed once.

A subscriber is first told by itself what it has missed. Then it joins the shape of everybody who
asks for the same and may see the same: it is told by itself the little that lies between its place
and the shape's, while what the shape says meanwhile waits behind. So nothing is left out and
nothing is said twice, whatever happens at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Hashable, Sequence
from contextlib import aclosing
from typing import Any

from graphql import GraphQLSchema

from api.context import Context
from api.execution.executor import Executor
from api.execution.operations import OK
from api.problems import fault, refusal
from api.schema.trail import Message, Trail
from api.settings import ApiSettings
from api.streaming.selection import Asked, Selection
from api.streaming.shape import Shape, access_change
from api.streaming.stream import Failed, Sink, Stream
from api.telemetry.metrics import Tallies
from graph.engine import Engine
from graph.model.errors import ResyncRequired, TrellisError


class Subscription:
    """A subscriber that has joined a shape, or has been told all there is."""

    def __init__(
        self, shape: Shape | None = None, stream: Stream | None = None, *, code: str = OK
    ) -> None:
        self._shape = shape
        self._stream = stream
        self.code = code
        """``ok``, or the code of what kept it from joining."""

    def leave(self) -> None:
        """Hear nothing more."""
        if self._shape is not None and self._stream is not None:
            self._shape.leave(self._stream)


class Hub:
    """The shapes in use."""

    def __init__(
        self,
        engine: Engine,
        schema: GraphQLSchema,
        executor: Executor,
        *,
        settings: ApiSettings,
        tallies: Tallies,
    ) -> None:
        self._engine = engine
        self._schema = schema
        self._executor = executor
        self._settings = settings
        self._tallies = tallies
        self._shapes: dict[Hashable, Shape] = {}

    async def subscribe(self, asked: Asked, sink: Sink) -> Subscription:
        """Tell ``sink`` what it has missed, and from then on what happens.

        It returns once the subscriber hears what everybody hears, or has been told all there is.
        """
        errors: Sequence[dict[str, Any]]
        try:
            return await self._subscribe(asked, sink)
        except Failed as failure:
            errors = failure.errors
        except TrellisError as error:
            errors = [refusal(error)]
        except Exception as error:
            errors = [fault(error)]
        sink.fail(errors)
        return Subscription(code=errors[0]["extensions"]["code"])

    async def _subscribe(self, asked: Asked, sink: Sink) -> Subscription:
        context = Context.pin(self._engine, self._settings, asked.identified)
        selection = Selection.of(asked, self._schema, self._executor, context)
        trail = await selection.trail()
        trail.after = asked.after or trail.after
        stream = Stream(sink, context.access, self._settings)
        try:
            if not await self._tell_all(stream, selection, trail.begin()):
                return Subscription()
            key = (asked.key(), stream.access.key, trail.key)
            return await self._join(key, stream, selection, trail)
        except ResyncRequired as error:
            await self._tell(stream, selection, trail.resync(error))
            return Subscription()

    async def _join(
        self, key: Hashable, stream: Stream, selection: Selection, trail: Trail
    ) -> Subscription:
        shape = await self._shape(key, selection, trail)
        shape.join(stream)
        try:
            if (change := access_change(self._engine, stream)) is not None:
                raise change
            missing = trail.to(shape.trail.place)
            if not await self._tell_all(stream, selection, missing):
                shape.leave(stream)
                return Subscription()
            await stream.release()
        except BaseException:
            shape.leave(stream)
            self._tallies.readers_dropped += stream.is_behind
            raise
        return Subscription(shape, stream)

    async def _shape(self, key: Hashable, selection: Selection, trail: Trail) -> Shape:
        """The shape to join: not behind the trail, so that there is a way from here to there."""
        while True:
            shape = self._shapes.get(key)
            if shape is None:
                shape = Shape(key, trail, selection, tallies=self._tallies, ended=self._forget)
                self._shapes[key] = shape
                self._tallies.shapes_open += 1
                return shape
            await shape.reached(trail.place.cursor.revision)
            if not shape.over:
                return shape

    def _forget(self, shape: Shape) -> None:
        self._tallies.shapes_open -= 1
        del self._shapes[shape.key]

    async def _tell_all(
        self, stream: Stream, selection: Selection, messages: AsyncGenerator[Message]
    ) -> bool:
        """Say some messages to one subscriber, at its pace; whether there may be more."""
        async with aclosing(messages):
            async for message in messages:
                # where there is room nothing below waits: everybody else has a turn here
                await asyncio.sleep(0)
                if not await self._tell(stream, selection, message):
                    return False
        return True

    async def _tell(self, stream: Stream, selection: Selection, message: Message) -> bool:
        """Say one message to one subscriber; whether there may be more."""
        if not message.last and (change := access_change(self._engine, stream)) is not None:
            raise change
        await stream.sink.room()
        stream.refuse_behind()
        stream.tell(await selection.payload(message))
        if message.last:
            stream.sink.complete()
        return not message.last
