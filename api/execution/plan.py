"""The quick way through a query: compiled once, it only knows how things go well.

An operation is compiled into nested functions that call the schema's own resolvers and build the
answer; rows of plain columns are built in one pass, column by column. Whatever is out of the
ordinary (an abstract type, a resolver that waits below the root, a null that may not be, an error)
is not handled here: the operation is then executed by graphql-core from the beginning. Queries
read one pinned view and change nothing, so doing it again gives the answer and its errors exactly
as the stock executor has them. A test holds the two equal over generated documents.
"""

# graphql-core leaves the insides of its generic types unknown
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from graphql import (
    GRAPHQL_MAX_INT,
    GRAPHQL_MIN_INT,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLField,
    GraphQLIncludeDirective,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLSkipDirective,
    GraphQLUnionType,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    is_abstract_type,
)
from graphql.execution import VariableValues, get_directive_values
from strawberry.types.field import StrawberryField

from api.columns import COLUMN, Column, Rows
from api.execution.arguments import Converters, Read
from api.execution.deadline import Deadline
from api.execution.rows import RowMemory
from api.execution.table import Table

DEFINITION = "strawberry-definition"


FIELDS_MAX = 2_000
"""Fields in a plan, each as often as fragments lead to it; whoever asks for more can wait."""


class Unplannable(Exception):
    """Something the quick way does not know."""


@dataclass(slots=True)
class Run:
    """One execution of a plan."""

    context: Any
    variables: VariableValues
    rows: RowMemory
    deadline: Deadline
    value: Any = None
    """The message of a subscription: what its field has this time."""


Complete = Callable[[Any, Run], Any]
"""Turns what a resolver gave into what is answered."""


@dataclass(frozen=True, slots=True)
class Root:
    """A field the query begins with; the only kind that may wait."""

    key: str
    resolve: Callable[[Any, Run], Any]
    complete: Complete


@dataclass(frozen=True, slots=True)
class Plan:
    """A query, compiled."""

    roots: tuple[Root, ...]
    fields: int
    """How many fields it has, each as often as fragments lead to it."""

    async def run(self, run: Run) -> dict[str, Any]:
        """The answer; anything raised means: ask the stock executor."""
        answer: dict[str, Any] = {}
        for root in self.roots:
            if answer:
                run.deadline.check()
            value = root.resolve(None, run)
            if hasattr(value, "__await__"):
                value = await run.deadline.wait(value)
            answer[root.key] = root.complete(value, run)
        return answer


class Planner:
    """Compiles the operations of one document."""

    def __init__(
        self,
        schema: GraphQLSchema,
        converters: Converters,
        fragments: Mapping[str, FragmentDefinitionNode],
        variables: VariableValues,
    ) -> None:
        self._schema = schema
        self._converters = converters
        self._fragments = fragments
        self._variables = variables
        """Only what skip and include ask for is read from these: a plan is made for that."""
        self._fields = 0

    def plan(self, operation: OperationDefinitionNode) -> Plan | None:
        """The plan of a query; None if it has to be executed the stock way."""
        root = self._schema.query_type
        assert root is not None, "the schema has queries"
        try:
            roots = tuple(
                self._root(root, key, nodes)
                for key, nodes in self._collect(operation.selection_set, root).items()
            )
        except Unplannable:
            return None
        return Plan(roots, self._fields)

    def plan_messages(self, operation: OperationDefinitionNode) -> Plan | None:
        """The plan of a subscription's messages; None if they have to go the stock way."""
        root = self._schema.subscription_type
        assert root is not None, "the schema has subscriptions"
        try:
            ((key, nodes),) = self._collect(operation.selection_set, root).items()
            complete = self._complete(root.fields[nodes[0].name.value].type, nodes)
        except Unplannable:
            return None
        return Plan((Root(key, lambda _, run: run.value, complete),), self._fields)

    def _root(self, parent: GraphQLObjectType, key: str, nodes: list[FieldNode]) -> Root:
        field = self._field(parent, nodes[0])
        if field is None:
            name = parent.name
            return Root(key, lambda _source, _run: name, _as_it_is)
        return Root(key, self._resolve(field, nodes[0]), self._complete(field.type, nodes))

    # what is asked for

    def _collect(
        self, selections: SelectionSetNode, parent: GraphQLObjectType
    ) -> dict[str, list[FieldNode]]:
        found: dict[str, list[FieldNode]] = {}
        self._gather(selections, parent, found, set())
        return found

    def _gather(
        self,
        selections: SelectionSetNode,
        parent: GraphQLObjectType,
        found: dict[str, list[FieldNode]],
        spread: set[str],
    ) -> None:
        fragment: FragmentDefinitionNode | InlineFragmentNode
        for selection in selections.selections:
            if not self._is_wanted(selection):
                continue
            if isinstance(selection, FieldNode):
                name = (selection.alias or selection.name).value
                found.setdefault(name, []).append(selection)
                continue
            if isinstance(selection, FragmentSpreadNode):
                if selection.name.value in spread:
                    continue
                spread.add(selection.name.value)
                fragment = self._fragments[selection.name.value]
            else:
                assert isinstance(selection, InlineFragmentNode), "there is no fourth kind"
                fragment = selection
            if self._applies(fragment, parent):
                self._gather(fragment.selection_set, parent, found, spread)

    def _is_wanted(self, node: Any) -> bool:
        skip = get_directive_values(GraphQLSkipDirective, node, self._variables)
        include = get_directive_values(GraphQLIncludeDirective, node, self._variables)
        return not (skip and skip["if"]) and not (include and not include["if"])

    def _applies(
        self, fragment: FragmentDefinitionNode | InlineFragmentNode, parent: GraphQLObjectType
    ) -> bool:
        if fragment.type_condition is None:
            return True
        condition = self._schema.get_type(fragment.type_condition.name.value)
        if condition is parent:
            return True
        return is_abstract_type(condition) and self._schema.is_sub_type(condition, parent)

    # how it is had

    def _field(self, parent: GraphQLObjectType, node: FieldNode) -> GraphQLField | None:
        """The field's definition; None for ``__typename``."""
        self._fields += 1
        if self._fields > FIELDS_MAX:
            raise Unplannable("too many fields")
        name = node.name.value
        if name == "__typename":
            return None
        field: GraphQLField | None = parent.fields.get(name)
        if field is None:  # introspection, which nobody waits for
            raise Unplannable(name)
        return field

    def _resolve(self, field: GraphQLField, node: FieldNode) -> Callable[[Any, Run], Any]:
        definition = _definition(field)
        if definition.is_async or definition.extensions:
            raise Unplannable(node.name.value)
        resolver = definition.base_resolver
        if resolver is None:
            name = definition.python_name
            return lambda source, _run: getattr(source, name)
        function: Callable[..., Any] = cast("Any", resolver.wrapped_func)
        info = resolver.info_parameter
        read = self._arguments(field, definition, node)
        if info is not None:
            return lambda source, run: function(source, info=run, **read(run.variables))
        if not field.args:
            return lambda source, _run: function(source)
        return lambda source, run: function(source, **read(run.variables))

    def _arguments(self, field: GraphQLField, definition: StrawberryField, node: FieldNode) -> Read:
        """The field's arguments as its resolver takes them."""
        return self._converters.reader(field, definition, node, self._variables)

    # what is made of it

    def _complete(self, kind: GraphQLOutputType, nodes: list[FieldNode]) -> Complete:
        if isinstance(kind, GraphQLNonNull):
            if kind.of_type is GraphQLInt:
                return _whole
            return _required(self._present(kind.of_type, nodes))
        present = self._present(kind, nodes)
        return lambda value, run: None if value is None else present(value, run)

    def _present(self, kind: GraphQLOutputType, nodes: list[FieldNode]) -> Complete:
        """The same for what is no null."""
        if isinstance(kind, GraphQLList):
            return self._list(kind.of_type, nodes)
        if isinstance(kind, GraphQLScalarType | GraphQLEnumType):
            serialize = kind.serialize
            return lambda value, _run: serialize(value)
        if isinstance(kind, GraphQLObjectType):
            return self._object(kind, nodes)
        if isinstance(kind, GraphQLUnionType):
            return self._union(kind, nodes)
        raise Unplannable(str(kind))

    def _union(self, kind: GraphQLUnionType, nodes: list[FieldNode]) -> Complete:
        """One way for each of its members; those without one are told apart when they come."""
        ways: dict[type, Complete] = {}
        for member in kind.types:
            with suppress(Unplannable):
                ways[member.extensions[DEFINITION].origin] = self._object(member, nodes)
        if not ways:
            raise Unplannable(kind.name)
        return lambda value, run: ways[type(value)](value, run)

    def _object(self, kind: GraphQLObjectType, nodes: list[FieldNode]) -> Complete:
        parts: list[tuple[str, Callable[[Any, Run], Any], Complete]] = []
        for key, fields in self._below(kind, nodes).items():
            field = self._field(kind, fields[0])
            if field is None:
                parts.append((key, _constant(kind.name), _as_it_is))
            else:
                resolve = self._resolve(field, fields[0])
                parts.append((key, resolve, self._complete(field.type, fields)))

        def build(source: Any, run: Run) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for key, resolve, complete in parts:
                found[key] = complete(resolve(source, run), run)
            return found

        return build

    def _below(self, kind: GraphQLObjectType, nodes: list[FieldNode]) -> dict[str, list[FieldNode]]:
        found: dict[str, list[FieldNode]] = {}
        spread: set[str] = set()
        for node in nodes:
            if node.selection_set is not None:
                self._gather(node.selection_set, kind, found, spread)
        return found

    def _list(self, kind: GraphQLOutputType, nodes: list[FieldNode]) -> Complete:
        item = self._complete(kind, nodes)
        inner = kind.of_type if isinstance(kind, GraphQLNonNull) else kind
        columns = self._columns(inner, nodes) if isinstance(inner, GraphQLObjectType) else None

        def complete(value: Any, run: Run) -> Any:
            if columns is not None and isinstance(value, Rows):
                return columns(value, run)
            return [item(each, run) for each in value]

        return complete

    # rows of plain columns

    def _columns(
        self, kind: GraphQLObjectType, nodes: list[FieldNode]
    ) -> Callable[[Rows, Run], list[Any]] | None:
        """Builds all rows at once; None unless every field asked for is a plain column."""
        asked = self._below(kind, nodes)
        if not asked:  # every field is skipped
            return None
        columns: list[Column | str] = []
        readers: list[Read] = []
        for fields in asked.values():
            field = self._field(kind, fields[0])
            if field is None:
                columns.append(kind.name)
                readers.append(lambda _: {})
                continue
            definition = _definition(field)
            column = definition.metadata.get(COLUMN)
            if column is None:
                return None
            columns.append(column)
            readers.append(self._arguments(field, definition, fields[0]))
        table = Table(tuple(asked), tuple(columns))
        ids = [
            at for at, each in enumerate(columns) if isinstance(each, Column) and each.identifies
        ]

        def build(rows: Rows, run: Run) -> list[Any]:
            arguments: list[Mapping[str, Any]] = [read(run.variables) for read in readers]
            if rows.id_suffix:
                for position in ids:
                    arguments[position] = {"id_suffix": rows.id_suffix}

            def fresh(numbers: Sequence[Any]) -> list[dict[str, Any]]:
                return table.rows(rows.view, numbers, arguments)

            if any(arguments):
                fresh(())  # refuses names that are not there for this reader, whoever warmed them
            given = tuple(tuple(each.items()) for each in arguments)
            return run.rows.of((table, given), rows, fresh)

        return build


def _definition(field: GraphQLField) -> StrawberryField:
    definition = field.extensions[DEFINITION]
    assert isinstance(definition, StrawberryField), "every field is made by strawberry"
    return definition


def _constant(value: str) -> Callable[[Any, Run], Any]:
    return lambda _source, _run: value


def _as_it_is(value: Any, _: Run) -> Any:
    return value


def _whole(value: Any, _: Run) -> int:
    """A number that may not be null: every count, so the usual case is told apart first."""
    if type(value) is int and GRAPHQL_MIN_INT <= value <= GRAPHQL_MAX_INT:
        return value
    if value is None:
        raise Unplannable("a null that may not be")
    whole: int = GraphQLInt.serialize(value)
    return whole


def _required(present: Complete) -> Complete:
    def complete(value: Any, run: Run) -> Any:
        if value is None:
            raise Unplannable("a null that may not be")
        return present(value, run)

    return complete
