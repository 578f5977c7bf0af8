"""Executes operations: the quick way where there is a plan, graphql-core for everything else."""

# graphql-core leaves the insides of its generic types unknown
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

import strawberry
from graphql import ExecutionResult, GraphQLError, OperationType, execute
from graphql.execution import VariableValues, get_variable_values

from api.context import Context
from api.core_schema import core_schema
from api.execution.arguments import Converters
from api.execution.deadline import Deadline, TookTooLong
from api.execution.documents import Document, Operation
from api.execution.plan import Plan, Planner, Run
from api.execution.rows import RowMemory
from api.execution.variables import Coercers
from api.schema.trail import Message
from api.settings import ApiSettings

_log = logging.getLogger(__name__)
_NOTHING = VariableValues({}, {})


@dataclass(slots=True)
class Answer:
    """What came of an operation. ``data`` may hold rows that are encoded already."""

    data: Any
    errors: list[GraphQLError]
    executed: bool = True
    """Whether execution began; if not, the request itself was at fault."""


class Executor:
    """Executes the operations of valid documents, and remembers plans and rows."""

    def __init__(self, schema: strawberry.Schema, settings: ApiSettings) -> None:
        self._schema = core_schema(schema)
        self._converters = Converters(schema.config)
        self._coercers = Coercers(self._schema)
        self._seconds = settings.execution_seconds
        self._rows = RowMemory(settings.rows_kept_bytes)
        self._suggest = settings.introspection

    async def execute(
        self,
        document: Document,
        operation: Operation,
        variables: Mapping[str, Any],
        context: Context,
    ) -> Answer:
        """The answer to one query or mutation, within the deadline."""
        values = self._values(operation, variables)
        if isinstance(values, list):
            return Answer(None, values, executed=False)
        deadline = Deadline.after(self._seconds, operation.kind)
        if operation.kind is OperationType.QUERY:
            try:
                plan = self._plan(document, operation, values)
                if plan is not None:
                    run = Run(context, values, self._rows, deadline)
                    return Answer(await plan.run(run), [])
            except TookTooLong:
                raise
            except Exception:  # whatever it was, graphql-core tells it its way
                _gave_up(operation)
        return await self.stock(document, operation, variables, context, deadline)

    async def message(
        self, document: Document, operation: Operation, values: VariableValues, message: Message
    ) -> Any:
        """What is sent of one message of a subscription; None if it has to go the stock way."""
        deadline = Deadline.after(self._seconds, operation.kind)
        run = Run(message.context, values, self._rows, deadline, message.value)
        try:
            plan = self._plan(document, operation, values)
            return None if plan is None else await plan.run(run)
        except Exception:  # whatever it was, graphql-core tells it its way
            _gave_up(operation)
            return None

    async def stock(
        self,
        document: Document,
        operation: Operation,
        variables: Mapping[str, Any],
        context: Context,
        deadline: Deadline | None = None,
    ) -> Answer:
        """The same as graphql-core alone does it."""
        deadline = deadline or Deadline.after(self._seconds, operation.kind)
        deadline.check()
        context.begin()
        result = execute(
            self._schema,
            document.ast,
            context_value=context,
            variable_values=dict(variables),
            operation_name=operation.name or None,
            hide_suggestions=not self._suggest,
        )
        if isawaitable(result):
            result = await deadline.wait(result)
        assert isinstance(result, ExecutionResult), "nothing here is incremental"
        return Answer(result.data, result.errors or [])

    def _values(
        self, operation: Operation, variables: Mapping[str, Any]
    ) -> VariableValues | list[GraphQLError]:
        definitions = operation.node.variable_definitions
        if not definitions:
            return _NOTHING
        try:
            if operation.read is None:
                operation.read = self._coercers.reader(definitions)
            return VariableValues({}, operation.read(variables))
        except Exception:  # whatever is odd about them, graphql-core tells it its way
            _gave_up(operation)
        return get_variable_values(
            self._schema,
            definitions,
            dict(variables),
            max_errors=10,
            hide_suggestions=not self._suggest,
        )

    def _plan(
        self, document: Document, operation: Operation, values: VariableValues
    ) -> Plan | None:
        key: tuple[Any, ...] = ()
        if operation.conditions:
            key = tuple([values.coerced.get(name) for name in operation.conditions])
        if key not in operation.plans:
            planner = Planner(self._schema, self._converters, document.fragments, values)
            is_stream = operation.kind is OperationType.SUBSCRIPTION
            make = planner.plan_messages if is_stream else planner.plan
            document.keep_plan(operation, key, make(operation.node))
        return operation.plans[key]


def _gave_up(operation: Operation) -> None:
    """Leave a trace: an operation that always goes the long way is slow, and nothing else shows."""
    _log.debug("the quick way gave up on %r", operation.name, exc_info=True)
