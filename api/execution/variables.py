"""Variables read quickly: one function per type, made once, that only knows how things go well.

graphql-core goes through a type anew for every value of every request. Here a type becomes a
function when an operation that uses it is first executed. Whatever is out of the ordinary (a value
of another type, a missing or unknown field, one value where a list is meant) raises, and
graphql-core reads the variables its own way, with its own words for what is wrong.
"""

# graphql-core leaves the insides of its generic types unknown
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

from graphql import (
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    Undefined,
    VariableDefinitionNode,
)
from graphql.execution.get_variable_signature import get_variable_signature
from graphql.utilities.coerce_input_value import coerce_default_value

Coerce = Callable[[Any], Any]
Read = Callable[[Mapping[str, Any]], dict[str, Any]]


class Odd(Exception):
    """Something for graphql-core to read."""


class Coercers:
    """The functions of the input types of one schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._objects: dict[str, Coerce] = {}

    def reader(self, definitions: Collection[VariableDefinitionNode]) -> Read:
        """What reads the variables of one operation."""
        parts: list[tuple[str, Coerce, Any, bool]] = []
        for node in definitions:
            signature = get_variable_signature(self._schema, node)
            if isinstance(signature, Exception):
                raise Odd
            required = isinstance(signature.type, GraphQLNonNull)
            default = coerce_default_value(signature)
            parts.append((signature.name, self._coerce(signature.type), default, required))

        def read(given: Mapping[str, Any]) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for name, coerce, default, required in parts:
                if name in given:
                    found[name] = coerce(given[name])
                elif default is not Undefined:
                    found[name] = default
                elif required:
                    raise Odd
            return found

        return read

    def _coerce(self, kind: GraphQLInputType) -> Coerce:
        if isinstance(kind, GraphQLNonNull):
            return _there(self._coerce(cast("GraphQLInputType", kind.of_type)))
        if isinstance(kind, GraphQLList):
            return _each(self._coerce(cast("GraphQLInputType", kind.of_type)))
        if isinstance(kind, GraphQLInputObjectType):
            return self._object(kind)
        assert isinstance(kind, GraphQLScalarType | GraphQLEnumType), "there is no other kind"
        return _PLAIN.get(kind.name) or _leaf(kind)

    def _object(self, kind: GraphQLInputObjectType) -> Coerce:
        if kind.name in self._objects:
            return self._objects[kind.name]
        parts: dict[str, tuple[str, Coerce]] = {}
        absent: dict[str, Any] = {}
        required: set[str] = set()
        one_of = kind.is_one_of

        def coerce(value: Any) -> Any:
            if value is None:
                return None
            if type(value) is not dict or (required and not required <= value.keys()):
                raise Odd
            found = absent.copy()
            for name, inner in cast("dict[str, Any]", value).items():
                out_name, coerce_field = parts[name]  # whose absence is odd as well
                found[out_name] = coerce_field(inner)
            if one_of and (len(found) != 1 or None in found.values()):
                raise Odd
            return found

        self._objects[kind.name] = coerce  # before its fields, which may be of its own type
        for name, field in cast("dict[str, GraphQLInputField]", kind.fields).items():
            out_name = field.out_name or name
            parts[name] = (out_name, self._coerce(field.type))
            default = coerce_default_value(field)
            if default is not Undefined:
                absent[out_name] = default
            elif isinstance(field.type, GraphQLNonNull):
                required.add(name)
        return coerce


def _there(inner: Coerce) -> Coerce:
    def coerce(value: Any) -> Any:
        if value is None:
            raise Odd
        return inner(value)

    return coerce


def _each(inner: Coerce) -> Coerce:
    def coerce(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, list):
            raise Odd
        return [inner(each) for each in value]

    return coerce


def _leaf(kind: GraphQLScalarType | GraphQLEnumType) -> Coerce:
    read = kind.coerce_input_value

    def coerce(value: Any) -> Any:
        if value is None:
            return None
        found = read(value)
        if found is Undefined:
            raise Odd
        return found

    return coerce


def _text(value: Any) -> Any:
    if value is None or type(value) is str:
        return value
    raise Odd


def _whole(value: Any) -> Any:
    if value is None or (type(value) is int and -(2**31) <= value < 2**31):
        return value
    raise Odd


def _truth(value: Any) -> Any:
    if value is None or type(value) is bool:
        return value
    raise Odd


_PLAIN: Mapping[str, Coerce] = {
    GraphQLString.name: _text,
    GraphQLInt.name: _whole,
    GraphQLBoolean.name: _truth,
}
