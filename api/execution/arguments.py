"""Arguments as resolvers take them, worked out once per field instead of once per request.

What Strawberry and graphql-core do for every argument of every request is done here when a plan is
made: each input type becomes one function from what was read to the object a resolver is given,
and what does not depend on variables is made then and there.
"""

# graphql-core leaves the insides of its generic types unknown
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING
from typing import Any

import strawberry
from graphql import (
    FieldNode,
    GraphQLArgument,
    GraphQLField,
    GraphQLNonNull,
    Undefined,
    VariableNode,
    Visitor,
    visit,
)
from graphql.execution import VariableValues, get_argument_values
from graphql.utilities.coerce_input_value import coerce_default_value
from strawberry.schema.config import StrawberryConfig
from strawberry.types.base import (
    StrawberryList,
    StrawberryOptional,
    StrawberryType,
    has_object_definition,
)
from strawberry.types.field import StrawberryField
from strawberry.types.lazy_type import LazyType

Convert = Callable[[Any], Any]
Read = Callable[[VariableValues], dict[str, Any]]
Kind = StrawberryType | type


class NullGiven(Exception):
    """A variable is null where the argument must not be."""


class Converters:
    """The functions of the input types of one schema."""

    def __init__(self, config: StrawberryConfig) -> None:
        self._names = config.name_converter
        self._objects: dict[Kind, Convert] = {}

    def of(self, definition: StrawberryField) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        """The arguments of one field: from what graphql-core read to what its resolver takes."""
        parts = self._parts(definition)

        def convert(given: Mapping[str, Any]) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for name, value in given.items():
                python, inner = parts[name]
                found[python] = value if inner is None else inner(value)
            return found

        return convert

    def reader(
        self,
        field: GraphQLField,
        definition: StrawberryField,
        node: FieldNode,
        variables: VariableValues,
    ) -> Read:
        """What reads the arguments of one field; ``variables`` are those of the first request."""
        convert = self.of(definition)
        converts = self._parts(definition)
        whole = [each.name.value for each in node.arguments or () if _is_variable(each.value)]
        if any(
            not _is_variable(each.value) and _varies(each.value) for each in node.arguments or ()
        ):
            return lambda at: convert(get_argument_values(field, node, at))
        given = get_argument_values(field, node, variables)
        fixed = convert({name: value for name, value in given.items() if name not in whole})
        if not whole:
            return lambda _: fixed
        moving = [_moving(field, node, name, *converts[name]) for name in whole]

        def read(at: VariableValues) -> dict[str, Any]:
            found = dict(fixed)
            for take in moving:
                take(at.coerced, found)
            return found

        return read

    def _parts(self, definition: StrawberryField) -> dict[str, tuple[str, Convert | None]]:
        return {
            self._names.from_argument(each): (each.python_name, self._convert(each.type))
            for each in definition.arguments
        }

    def _convert(self, kind: Kind) -> Convert | None:
        """How a value of ``kind`` is converted; None if it is taken as it is."""
        if isinstance(kind, StrawberryOptional):
            return self._convert(kind.of_type)
        if isinstance(kind, LazyType):
            return self._convert(kind.resolve_type())
        if isinstance(kind, StrawberryList):
            return _each(self._convert(kind.of_type))
        return self._object(kind) if has_object_definition(kind) else None

    def _object(self, kind: Any) -> Convert:
        if kind in self._objects:
            return self._objects[kind]
        parts: dict[str, tuple[str, Convert | None]] = {}
        absent: dict[str, Any] = {}

        def convert(value: Any) -> Any:
            if value is None or value is strawberry.UNSET:
                return value
            found = dict(absent)
            for name, given in value.items():
                python, inner = parts[name]
                found[python] = given if inner is None else inner(given)
            return kind(**found)

        self._objects[kind] = convert  # before its fields, which may be of its own type
        definition = kind.__strawberry_definition__
        for field in definition.fields:
            inner = self._convert(field.resolve_type(type_definition=definition))
            parts[self._names.from_field(field)] = (field.python_name, inner)
            if field.default_value is MISSING and field.default_factory is MISSING:
                absent[field.python_name] = None
        return convert


def _moving(
    field: GraphQLField, node: FieldNode, name: str, python: str, convert: Convert | None
) -> Callable[[Mapping[str, Any], dict[str, Any]], None]:
    """Takes one argument that is a variable and nothing else."""
    argument: GraphQLArgument = field.args[name]
    variable = next(
        each.value.name.value
        for each in node.arguments or ()
        if each.name.value == name and isinstance(each.value, VariableNode)
    )
    required = isinstance(argument.type, GraphQLNonNull)
    default = coerce_default_value(argument)

    def take(coerced: Mapping[str, Any], found: dict[str, Any]) -> None:
        value = coerced.get(variable, default)
        if value is Undefined:
            if required:
                raise NullGiven(name)
            return
        if value is None and required:
            raise NullGiven(name)
        found[python] = value if convert is None else convert(value)

    return take


def _each(inner: Convert | None) -> Convert:
    def convert(value: Iterable[Any] | None) -> Any:
        if value is None or value is strawberry.UNSET:
            return value
        return list(value) if inner is None else [inner(each) for each in value]

    return convert


class _Variables(Visitor):
    found = False

    def enter_variable(self, _: VariableNode, *__: Any) -> None:
        self.found = True


def _is_variable(value: Any) -> bool:
    return isinstance(value, VariableNode)


def _varies(value: Any) -> bool:
    """Whether a value has a variable in it."""
    seen = _Variables()
    visit(value, seen)
    return seen.found
