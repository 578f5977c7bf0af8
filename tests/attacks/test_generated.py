"""What the fuzz tests send covers the schema: every field, argument, input and command of it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from graphql import (
    ArgumentNode,
    EnumValueNode,
    FieldNode,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    ObjectFieldNode,
    OperationDefinitionNode,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    get_named_type,
    parse,
    type_from_ast,
    validate,
    visit,
)

from api.schema.schema import GRAPHQL
from changes import random_fleet
from command_inputs import input_of, name_of, random_command
from doors import words
from graphql_documents import Generated, Maker
from twin import Twin

QUERIES, MUTATIONS, COMMANDS = 1_200, 300, 3_000


class Noted(Visitor):
    """Every field, argument, field of an input and member of an enum that a document has."""

    def __init__(self, info: TypeInfo) -> None:
        super().__init__()
        self.info = info
        self.found: set[str] = set()
        self.fields: list[str] = []

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        self.fields.append(f"{self.info.get_parent_type()}.{node.name.value}")
        self.found.add(self.fields[-1])

    def leave_field(self, *_: Any) -> None:
        self.fields.pop()

    def enter_argument(self, node: ArgumentNode, *_: Any) -> None:
        if self.info.get_directive() is None:
            self.found.add(f"{self.fields[-1]}({node.name.value})")

    def enter_object_field(self, node: ObjectFieldNode, *_: Any) -> None:
        kind = self.info.get_parent_input_type()
        self.found.add(f"{kind and get_named_type(kind)}.{node.name.value}")

    def enter_enum_value(self, node: EnumValueNode, *_: Any) -> None:
        kind = self.info.get_input_type()
        self.found.add(f"{kind and get_named_type(kind)}.{node.value}")


def noted(made: Generated) -> set[str]:
    """What is in a document and its variables."""
    document = parse(made.text)
    visitor = Noted(TypeInfo(GRAPHQL))
    visit(document, TypeInfoVisitor(visitor.info, visitor))
    for operation in document.definitions:
        if isinstance(operation, OperationDefinitionNode):
            for variable in operation.variable_definitions or ():
                name = variable.variable.name.value
                if name in made.variables:
                    kind = type_from_ast(GRAPHQL, variable.type)
                    visitor.found.update(inside(kind, made.variables[name]))
    return visitor.found


def inside(kind: Any, value: Any) -> Iterator[str]:
    """The fields of inputs and the members of enums in a value."""
    if isinstance(kind, GraphQLNonNull):
        yield from inside(kind.of_type, value)
    elif isinstance(kind, GraphQLList) and isinstance(value, list):
        for each in value:
            yield from inside(kind.of_type, each)
    elif isinstance(kind, GraphQLEnumType) and value is not None:
        yield f"{kind.name}.{value}"
    elif isinstance(kind, GraphQLInputObjectType) and value is not None:
        for name, each in value.items():
            yield f"{kind.name}.{name}"
            yield from inside(kind.fields[name].type, each)


def reachable(*roots: GraphQLNamedType | None) -> dict[str, GraphQLNamedType]:
    """The types that can be met on the way from ``roots``, by name."""
    known = {root.name: root for root in roots if root is not None}
    for kind in (waiting := list(known.values())):
        for each in neighbours(kind):
            if each.name not in known:
                known[each.name] = each
                waiting.append(each)
    return known


def neighbours(kind: GraphQLNamedType) -> Iterator[GraphQLNamedType]:
    match kind:
        case GraphQLObjectType() | GraphQLInterfaceType():
            yield from kind.interfaces
            for field in kind.fields.values():
                yield get_named_type(field.type)
                yield from (get_named_type(each.type) for each in field.args.values())
            if isinstance(kind, GraphQLInterfaceType):
                yield from GRAPHQL.get_possible_types(kind)
        case GraphQLInputObjectType():
            yield from (get_named_type(each.type) for each in kind.fields.values())
        case _:
            yield from getattr(kind, "types", ())


def askable(kinds: dict[str, GraphQLNamedType]) -> Iterator[str]:
    """Everything of ``kinds`` that a document can have in it."""
    given = {name for kind in kinds.values() for name in taken_in(kind)}
    for kind in kinds.values():
        match kind:
            case GraphQLObjectType() | GraphQLInterfaceType():
                for name, field in kind.fields.items():
                    yield f"{kind.name}.{name}"
                    yield from (f"{kind.name}.{name}({each})" for each in field.args)
            case GraphQLInputObjectType():
                yield from (f"{kind.name}.{name}" for name in kind.fields)
            case GraphQLEnumType() if kind.name in given:
                yield from (f"{kind.name}.{name}" for name in kind.values)
            case _:
                pass


def taken_in(kind: GraphQLNamedType) -> Iterator[str]:
    """The types a type takes as input."""
    match kind:
        case GraphQLObjectType() | GraphQLInterfaceType():
            for field in kind.fields.values():
                yield from (get_named_type(each.type).name for each in field.args.values())
        case GraphQLInputObjectType():
            yield from (get_named_type(each.type).name for each in kind.fields.values())
        case _:
            pass


@pytest.mark.volume
async def test_documents_ask_for_everything_there_is_to_ask_for(engine):
    maker = Maker(GRAPHQL, Random(3), await words(engine), errand_share=0.7)
    made = [maker.document() for _ in range(QUERIES)]
    made += [maker.mutation() for _ in range(MUTATIONS)]
    found = set[str]().union(*map(noted, made))
    wanted = set(askable(reachable(GRAPHQL.query_type, GRAPHQL.mutation_type)))
    assert len(wanted) > 800
    assert sorted(wanted - found) == []


async def test_documents_are_valid(engine):
    maker = Maker(GRAPHQL, Random(5), await words(engine))
    for make in (maker.document, maker.mutation):
        for _ in range(50):
            made = make()
            assert validate(GRAPHQL, parse(made.text)) == [], made.text


@pytest.mark.volume
def test_commands_have_everything_a_command_can_have():
    rng = Random(9)
    kind = GRAPHQL.get_type("CommandInput")
    found: set[str] = set()
    for place in range(COMMANDS):
        if place % 50 == 0:
            twin = Twin.of(random_fleet(rng))
        command = random_command(rng, twin)
        found.update(inside(kind, {name_of(command): input_of(command, twin)}))
    assert sorted(set(askable(reachable(kind))) - found) == []
