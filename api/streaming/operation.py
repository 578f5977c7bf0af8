"""Operations of a socket: each runs by itself, and is the sink of its own results.

An id is free again as soon as its operation has ended, or its other end has left. What an earlier
operation of that id would still say is nobody's any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from graphql import OperationType

from api.caller.identity import Identified
from api.execution.operations import Prepared
from api.execution.request import GraphQLRequest
from api.problems import refusal
from api.streaming.calls import Calls
from api.streaming.frames import complete_frame, error_frame, next_head
from api.streaming.hub import Subscription
from api.streaming.outbox import Outbox
from api.streaming.stream import Payload
from api.web.stopping import unfinished
from graph.model.change import Cursor
from graph.model.errors import TrellisError


class SocketOperation:
    """One operation of a socket."""

    __slots__ = ("_all", "_head", "_id", "_outbox", "_subscription", "kind", "sent", "task")

    def __init__(
        self, operation_id: str, outbox: Outbox, all_of_them: dict[str, SocketOperation]
    ) -> None:
        self._id = operation_id
        self._head = next_head(operation_id)
        self._outbox = outbox
        self._all = all_of_them
        self._all[operation_id] = self
        self._subscription: Subscription | None = None
        self.task: asyncio.Task[None] | None = None
        """Until a query or mutation is answered, and a subscription has caught up."""
        self.kind: OperationType | None = None
        """None until its document has been read."""
        self.sent: Cursor | None = None

    def begin(self, calls: Calls, request: GraphQLRequest, identified: Identified) -> None:
        """Let it run by itself."""
        self.task = asyncio.create_task(self._run(calls, request, identified))

    async def _run(self, calls: Calls, request: GraphQLRequest, identified: Identified) -> None:
        with calls.traces.operation():
            call = calls.read(request)
            self.kind = call.kind if isinstance(call, Prepared) else None
            self._subscription = await calls.run(call, identified, self)

    def leave(self) -> None:
        """The other end wants no more."""
        if self._is_open:
            del self._all[self._id]
        if self.task is not None and not self.task.done():
            self.task.cancel()
        if self._subscription is not None:
            self._subscription.leave()

    def stop(self, reason: TrellisError) -> None:
        """It is not waited for any longer, because of ``reason``."""
        changes = self.kind is OperationType.MUTATION
        self.fail([refusal(unfinished(reason) if changes else reason)])
        self.leave()

    def next(self, payload: Payload) -> None:
        """One result."""
        if self._is_open:
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

    @property
    def _is_open(self) -> bool:
        """Whether its id is still its own."""
        return self._all.get(self._id) is self

    def _end(self, frame: str) -> None:
        if self._is_open:
            del self._all[self._id]
            self._outbox.put(frame, self)
