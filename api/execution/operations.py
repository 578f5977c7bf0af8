"""One operation, from its text to its answer, whatever door it came through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import strawberry
from graphql import GraphQLError, OperationType

from api.caller.identity import Identified
from api.context import Context
from api.core_schema import core_schema
from api.execution.documents import BadDocument, Document, Documents, Operation
from api.execution.executor import Answer, Executor
from api.execution.request import GraphQLRequest
from api.problems import BAD_REQUEST, graphql_error
from api.refusals import TooLarge, WrongMethod
from api.schema.page import Ahead
from api.settings import ApiSettings
from api.telemetry.telemetry import Telemetry
from graph.engine import Engine
from graph.index.snapshot import Snapshot
from graph.model.errors import Invalid, TrellisError

BATCH_FIELDS = frozenset({"apply", "preview"})
"""What a request may be as long as a batch for."""
OK = "ok"


@dataclass(frozen=True, slots=True)
class Outcome:
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
        self.executor = Executor(schema, settings)

    async def answer(
        self,
        request: GraphQLRequest,
        identified: Identified,
        *,
        queries_only: bool = False,
        long: bool = False,
    ) -> Outcome:
        """The outcome of one request; ``long`` ones may only be batches."""
        try:
            document, operation = self.prepare(request)
            if queries_only and operation.kind is not OperationType.QUERY:
                raise WrongMethod("only queries are answered by GET", hint="send it by POST")
            if long and not operation.root_fields() <= BATCH_FIELDS:
                raise TooLarge(
                    "only a batch may be this long", hint="send apply or preview by themselves"
                )
            if operation.kind is OperationType.SUBSCRIPTION:
                raise Invalid(
                    "a subscription is a stream",
                    hint="open a socket, or send Accept: text/event-stream",
                )
            self.documents.check_cost(document, operation, request.variables)
        except BadDocument as error:
            return Outcome({"errors": [graphql_error(each) for each in error.errors]}, BAD_REQUEST)
        return await self._execute(document, operation, request, identified)

    def prepare(self, request: GraphQLRequest) -> tuple[Document, Operation]:
        """The document and operation a request names."""
        if not self._traces.on:
            document = self.documents.prepare(request.query)
        else:
            with self._traces.span("parse and validate"):
                document = self.documents.prepare(request.query)
        return document, document.operation(request.operation_name)

    async def _execute(
        self,
        document: Document,
        operation: Operation,
        request: GraphQLRequest,
        identified: Identified,
    ) -> Outcome:
        context = Context.pin(self._engine, self._settings, identified)
        answer = await self._run(document, operation, request, context)
        ahead = next(
            (each for each in map(_original, answer.errors) if isinstance(each, Ahead)), None
        )
        if ahead is not None:  # a page's cursor is of a revision that is on its way here
            try:
                await self._engine.at_least(
                    ahead.place.revision, timeout_seconds=self._settings.at_least_seconds
                )
            except TrellisError:
                pass
            else:
                context = Context.pin(self._engine, self._settings, identified)
                answer = await self._run(document, operation, request, context)
        return _outcome(operation, answer, context)

    async def _run(
        self, document: Document, operation: Operation, request: GraphQLRequest, context: Context
    ) -> Answer:
        if not self._traces.on:
            return await self.executor.execute(document, operation, request.variables, context)
        with self._traces.span("execute", operation=operation.name):
            return await self.executor.execute(document, operation, request.variables, context)


def _outcome(operation: Operation, answer: Answer, context: Context) -> Outcome:
    kind = operation.kind.value
    errors = answer.errors
    if not errors:
        repeatable = operation.kind is OperationType.QUERY and not context.fresh
        view = context.view if repeatable else None
        return Outcome({"data": answer.data}, OK, kind, operation.name, True, view)
    shown = [graphql_error(each) for each in errors]
    content: dict[str, Any] = {"errors": shown}
    if answer.executed:
        content["data"] = answer.data
    code: str = shown[0]["extensions"]["code"]
    return Outcome(content, code, kind, operation.name, answer.executed)


def _original(error: GraphQLError) -> BaseException | None:
    return error.original_error
