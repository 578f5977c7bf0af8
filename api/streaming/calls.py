"""Calls: operations of a connection that stays open, whichever protocol it speaks."""

from __future__ import annotations

import time

import orjson
from graphql import OperationType

from api.caller.identity import Identified
from api.execution.documents import BadDocument
from api.execution.operations import Operations, Prepared
from api.execution.request import GraphQLRequest
from api.finishing import finished
from api.problems import BAD_REQUEST, INTERNAL, fault, graphql_error, refusal
from api.streaming.hub import Hub, Subscription
from api.streaming.selection import Asked
from api.streaming.stream import Payload, Sink
from api.telemetry.traces import Traces
from api.web.door import Door
from graph.model.change import Cursor
from graph.model.errors import TrellisError

Call = Prepared | BadDocument | TrellisError
"""What a request asks for, or what is wrong with it: that is said where its answer would be."""


class Calls:
    """Runs one operation after the other, each to its own sink."""

    def __init__(self, operations: Operations, hub: Hub, door: Door, traces: Traces) -> None:
        self._operations = operations
        self._hub = hub
        self._door = door
        self.traces = traces
        """What a protocol that has no request of its own for an operation enters around it."""

    def read(self, request: GraphQLRequest) -> Call:
        """What a message of a socket asks for."""
        try:
            return self._operations.prepare(request)
        except (BadDocument, TrellisError) as error:
            return error

    async def run(
        self, call: Call, identified: Identified, sink: Sink, *, after: Cursor | None = None
    ) -> Subscription:
        """Answer a query or mutation, or begin a subscription; ``sink`` is told what goes wrong."""
        started = time.perf_counter()
        try:
            if not isinstance(call, Prepared):
                raise call
            if call.kind is OperationType.SUBSCRIPTION:
                return await self._subscribe(call, identified, sink, after, started)
            # a change that is under way is finished, whether or not its caller is still there
            await finished(self._answer(call, identified, sink, started))
        except BadDocument as error:
            self._door.tell("unknown", "", BAD_REQUEST, started, identified)
            sink.fail([graphql_error(each) for each in error.errors])
        except TrellisError as error:
            self._door.tell("unknown", "", error.code, started, identified)
            sink.fail([refusal(error)])
        except Exception as error:
            self._door.tell("unknown", "", INTERNAL, started, identified)
            sink.fail([fault(error)])
        return Subscription()

    async def _subscribe(
        self,
        call: Prepared,
        identified: Identified,
        sink: Sink,
        after: Cursor | None,
        started: float,
    ) -> Subscription:
        asked = Asked(call.document, call.operation, call.variables, identified, after)
        joined = await self._hub.subscribe(asked, sink)
        self._door.tell("subscription", call.operation.name, joined.code, started, identified)
        return joined

    async def _answer(
        self, call: Prepared, identified: Identified, sink: Sink, started: float
    ) -> None:
        outcome = await self._operations.execute(call, identified)
        self._door.tell(outcome.kind, outcome.name, outcome.code, started, identified)
        if not outcome.executed:
            sink.fail(outcome.content["errors"])
            return
        sink.next(Payload(orjson.dumps(outcome.content).decode()))
        sink.complete()
