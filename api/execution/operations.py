"""One operation, from its text to its answer, whatever door it came through."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, NamedTuple

import strawberry
from graphql import OperationType

from api.caller.identity import Identified
from api.context import Context
from api.core_schema import core_schema
from api.execution.documents import BadDocument, Document, Documents, Operation
from api.execution.executor import Answer, Executor
from api.execution.fleet_counts import FleetCounts
from api.execution.persisted import PersistedQueries
from api.execution.request import GraphQLRequest
from api.problems import BAD_REQUEST, graphql_error
from api.refusals import TooLarge, WrongMethod
from api.schema.page import Ahead
from api.settings import ApiSettings
from api.telemetry.telemetry import Telemetry
from graph.access import Access
from graph.engine import Engine
from graph.index.snapshot import Snapshot
from graph.model.errors import Invalid, TrellisError
from graph.model.names import Revision

BATCH_FIELDS = frozenset({"apply", "preview"})
"""What a request may be as long as a batch for."""
OK = "ok"


class Outcome(NamedTuple):
    """What is to be sent, and what is to be told about it."""

    content: dict[str, Any]
    code: str
    """``ok``, or the code of the first error."""
    kind: str = "unknown"
    name: str = ""
    executed: bool = False
    """Whether execution began; if not, the request itself was at fault."""
    view: Snapshot | None = None
    """The view the answer is of, where the same request at it has the same answer."""


class Prepared(NamedTuple):
    """One operation of a valid document, which may be executed as far as can be told before."""

    document: Document
    operation: Operation
    variables: Mapping[str, Any]
    on_any_fleet: bool
    """Whether its cost is within its bounds on any fleet, and not only on a small one."""

    @property
    def kind(self) -> OperationType:
        """Query, mutation or subscription."""
        return self.operation.kind


class Operations:
    """Answers queries and mutations. Subscriptions only share how documents are prepared."""

    def __init__(
        self,
        engine: Engine,
        schema: strawberry.Schema,
        *,
        settings: ApiSettings,
        telemetry: Telemetry,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._traces = telemetry.traces
        self.documents = Documents(core_schema(schema), settings, telemetry.tallies)
        self.persisted = PersistedQueries(
            settings.persisted_queries_max, settings.persisted_queries_bytes
        )
        self.executor = Executor(schema, settings)

    async def answer(
        self,
        request: GraphQLRequest,
        identified: Identified,
        *,
        access: Access | None = None,
        queries_only: bool = False,
        long: bool = False,
    ) -> Outcome:
        """The outcome of one request, which is no subscription.

        ``access`` is that of whoever asks, where it was looked up already.
        """
        try:
            prepared = self.prepare(request, queries_only=queries_only, long=long)
        except BadDocument as error:
            return Outcome({"errors": [graphql_error(each) for each in error.errors]}, BAD_REQUEST)
        if prepared.operation.kind is OperationType.SUBSCRIPTION:
            raise Invalid(
                "a subscription is a stream",
                hint="open a socket, or send Accept: text/event-stream",
            )
        return await self.execute(prepared, identified, access)

    def prepare(
        self, request: GraphQLRequest, *, queries_only: bool = False, long: bool = False
    ) -> Prepared:
        """The operation a request names, whatever door it came through.

        ``queries_only``: it came in a way that may change nothing. ``long``: it may only be a
        batch. ``BadDocument`` if it is none that can be executed.
        """
        text, digest, traces = request.query, request.digest, self._traces
        if digest is not None:
            text = self.persisted.text(digest, text)
        document = self._traced(text) if traces.on else self.documents.prepare(text)
        operation = document.operation(request.operation_name)
        if queries_only and operation.kind is OperationType.MUTATION:
            raise WrongMethod("only queries are answered by GET", hint="send it by POST")
        if long and not operation.root_fields() <= BATCH_FIELDS:
            raise TooLarge(
                "only a batch may be this long", hint="send apply or preview by themselves"
            )
        on_any_fleet = self.documents.check_cost(document, operation, request.variables)
        if digest is not None:
            self.persisted.keep(digest, text)
        return Prepared(document, operation, request.variables, on_any_fleet)

    async def execute(
        self, prepared: Prepared, identified: Identified, access: Access | None = None
    ) -> Outcome:
        """The outcome of a query or mutation."""
        context = Context.pin(self._engine, self._settings, identified, access)
        answer = await self._run(prepared, context)
        if not answer.errors:
            return _good(prepared.operation, answer, context)
        # it may need a revision that is on its way here; what was changed is changed
        if prepared.kind is OperationType.QUERY and (needed := _needed(answer)) is not None:
            try:
                await self._engine.at_least(needed, timeout_seconds=self._settings.at_least_seconds)
            except TrellisError:
                pass
            else:
                context = Context.pin(self._engine, self._settings, identified)
                answer = await self._run(prepared, context)
        return _outcome(prepared.operation, answer, context)

    def _traced(self, text: str) -> Document:
        with self._traces.span("parse and validate"):
            return self.documents.prepare(text)

    def _run(self, prepared: Prepared, context: Context) -> Awaitable[Answer]:
        document, operation, variables, on_any_fleet = prepared
        if not on_any_fleet:
            counts = FleetCounts.of(context.seen, whole=context.access.sees_all)
            self.documents.check_cost_on(counts, document, operation, variables)
        executing = self.executor.execute(document, operation, variables, context)
        return self._traced_run(prepared, executing) if self._traces.on else executing

    async def _traced_run(self, prepared: Prepared, executing: Awaitable[Answer]) -> Answer:
        with self._traces.span("execute", operation=prepared.operation.name):
            return await executing


def _outcome(operation: Operation, answer: Answer, context: Context) -> Outcome:
    if not answer.errors:
        return _good(operation, answer, context)
    shown = [graphql_error(each) for each in answer.errors]
    content: dict[str, Any] = {"errors": shown}
    if answer.executed:
        content["data"] = answer.data
    code: str = shown[0]["extensions"]["code"]
    return Outcome(content, code, operation.kind_name, operation.name, answer.executed)


def _good(operation: Operation, answer: Answer, context: Context) -> Outcome:
    repeatable = operation.kind is OperationType.QUERY and not context.usage.fresh
    view = context.view if repeatable else None
    return Outcome({"data": answer.data}, OK, operation.kind_name, operation.name, True, view)


def _needed(answer: Answer) -> Revision | None:
    """The newest of the revisions this process has not reached and the request needs, if any."""
    causes = (error.original_error for error in answer.errors)
    return max((each.revision for each in causes if isinstance(each, Ahead)), default=None)
