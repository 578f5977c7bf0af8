"""Selections: what a subscription asks of each message, executed and encoded.

The operation's variables are read once, when it begins. Its field makes a trail of its arguments;
every message of that trail is then executed as the field's value.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, cast

import graphql
import orjson
from graphql import (
    ExecutionResult,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    VariableNode,
    Visitor,
    visit,
)

from api.caller.identity import Identified
from api.context import Context
from api.execution.documents import Document, Operation
from api.execution.executor import Executor
from api.problems import graphql_error, refusal
from api.schema.trail import Message, Trail
from api.streaming.stream import Failed, Payload
from graph.model.change import Cursor
from graph.model.errors import Unavailable

AFTER = "after"
"""The argument that says where to begin. It is the one thing a shape's subscribers differ in."""

_core: Any = graphql
"""Its executor is generic in something it never says, which a strict type checker dislikes."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One subscription: a prepared operation, and what goes with it."""

    document: Document
    operation: Operation
    variables: Mapping[str, Any]
    identified: Identified
    after: Cursor | None = None
    """Where the connection itself says to begin; it goes before the argument."""

    def key(self) -> Hashable:
        """Equal for subscriptions that ask for the same, wherever they begin."""
        begins = _begins(self.operation)
        kept = {name: value for name, value in self.variables.items() if name != begins}
        variables = orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)
        return self.document.text, self.operation.name, variables


class Selection:
    """The executable side of one subscription."""

    def __init__(self, asked: Asked, stock: Any, quick: Executor, seconds: float) -> None:
        self._asked = asked
        self._stock = stock
        self._quick = quick
        self._seconds = seconds

    @staticmethod
    def of(asked: Asked, schema: GraphQLSchema, executor: Executor, context: Context) -> Selection:
        """The selection of an operation; ``Failed`` if its variables do not fit."""
        settings = context.settings
        found = _core.Executor.build(
            schema,
            asked.document.ast,
            context_value=context,
            raw_variable_values=dict(asked.variables),
            operation_name=asked.operation.name or None,
            max_coercion_errors=10,
            hide_suggestions=not settings.introspection,
        )
        if isinstance(found, list):
            errors = cast("list[GraphQLError]", found)
            raise Failed([graphql_error(each) for each in errors])
        return Selection(asked, found, executor, settings.execution_seconds)

    async def trail(self) -> Trail:
        """What the field makes of its arguments; ``Failed`` if they make no sense."""
        found: Any = _core.create_source_event_stream(self._stock)
        if isawaitable(found):
            found = await found
        if isinstance(found, ExecutionResult):
            raise Failed([graphql_error(each) for each in found.errors or []])
        assert isinstance(found, Trail), "a subscription's field makes a trail"
        return found

    async def payload(self, message: Message) -> Payload:
        """What is sent of ``message``; ``Failed`` if that takes too long."""
        asked, values = self._asked, self._stock.variable_values
        data = await self._quick.message(asked.document, asked.operation, values, message)
        if data is not None:
            return Payload(orjson.dumps({"data": data}).decode(), message.cursor)
        return await self._stock_payload(message)

    async def _stock_payload(self, message: Message) -> Payload:
        executor = self._stock.build_per_event_executor(message.value)
        executor.context_value = message.context
        result = _core.execute_subscription_event(executor)
        if isawaitable(result):
            try:
                async with asyncio.timeout(self._seconds):
                    result = await result
            except TimeoutError:
                late = f"a message took longer than {self._seconds:g} s to work out"
                error = Unavailable(late, hint="ask for less of each cluster or change")
                raise Failed([refusal(error)]) from None
        content: dict[str, Any] = {"data": result.data}
        if result.errors:
            content["errors"] = [graphql_error(each) for each in result.errors]
        return Payload(orjson.dumps(content).decode(), message.cursor)


class _Variables(Visitor):
    """Counts the uses of each variable, but for its definition."""

    def __init__(self) -> None:
        super().__init__()
        self.uses: dict[str, int] = {}

    def enter_variable_definition(self, *_: Any) -> Any:
        return self.SKIP

    def enter_variable(self, node: VariableNode, *_: Any) -> None:
        self.uses[node.name.value] = self.uses.get(node.name.value, 0) + 1


def _begins(operation: Operation) -> str | None:
    """The variable that is nothing but the root field's ``after``."""
    roots = operation.node.selection_set.selections
    if len(roots) != 1 or not isinstance(roots[0], FieldNode):
        return None
    values = [each.value for each in roots[0].arguments or () if each.name.value == AFTER]
    if not values or not isinstance(values[0], VariableNode):
        return None
    name = values[0].name.value
    counted = _Variables()
    visit(operation.node, counted)
    return name if counted.uses[name] == 1 else None
