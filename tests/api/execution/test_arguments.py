"""Arguments: worked out once, they are what Strawberry would have handed to the resolver."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import strawberry
from graphql import FieldNode, GraphQLObjectType, OperationDefinitionNode, parse
from graphql.execution import VariableValues, get_argument_values
from strawberry.types.arguments import convert_arguments
from strawberry.types.field import StrawberryField

from api.execution.arguments import Converters
from api.execution.plan import DEFINITION
from api.schema.schema import GRAPHQL, SCHEMA
from api.schema.selector import SelectorInput
from doors import SELECTORS
from graphql_documents import Maker, Words

FIELDS = [
    (kind.name, name)
    for kind in GRAPHQL.type_map.values()
    if isinstance(kind, GraphQLObjectType) and not kind.name.startswith("__")
    for name, field in kind.fields.items()
    if field.args
]
TRIES = {"test": 20, "campaign": 1_000}


def definition(kind: str, name: str) -> StrawberryField:
    found = GRAPHQL.get_type(kind).fields[name].extensions[DEFINITION]
    assert isinstance(found, StrawberryField)
    return found


def theirs(kind: str, name: str, given: dict[str, Any]) -> dict[str, Any]:
    return convert_arguments(
        given,
        definition(kind, name).arguments,
        scalar_registry=SCHEMA.schema_converter.scalar_registry,
        config=SCHEMA.config,
    )


def literals(kind: str, name: str, text: str) -> dict[str, Any]:
    """What graphql-core reads of a field written with literals."""
    operation = parse(f"{{ {name}{text} }}").definitions[0]
    assert isinstance(operation, OperationDefinitionNode)
    node = operation.selection_set.selections[0]
    assert isinstance(node, FieldNode)
    return get_argument_values(GRAPHQL.get_type(kind).fields[name], node, VariableValues({}, {}))


@pytest.mark.parametrize(("kind", "name"), FIELDS, ids=[".".join(each) for each in FIELDS])
def test_every_field_gets_the_arguments_strawberry_would_give_it(kind, name, scale):
    words = Words(
        paths=["/geo/us"], keys=["size"], selectors=SELECTORS, places=["1.0123456789abcdef"]
    )
    maker = Maker(GRAPHQL, Random(f"{kind}.{name}"), words)
    convert = Converters(SCHEMA.config).of(definition(kind, name))
    for _ in range(TRIES[scale]):
        given = literals(kind, name, maker.arguments(GRAPHQL.get_type(kind), name))
        assert repr(convert(given)) == repr(theirs(kind, name, given))


def test_what_is_not_given_is_left_to_the_resolver():
    convert = Converters(SCHEMA.config).of(definition("Fleet", "clusters"))
    assert convert({}) == {}
    assert convert({"first": 3, "orderBy": None}) == {"first": 3, "order_by": None}


def test_inputs_inside_inputs_are_objects_at_every_depth():
    convert = Converters(SCHEMA.config).of(definition("Fleet", "clusters"))
    where = {"and": [{"not": {"text": "all"}}, {"except": {"from": {}, "without": {}}}]}
    found = convert({"where": where})["where"]
    assert isinstance(found, SelectorInput)
    assert isinstance(found.and_[0].not_, SelectorInput)
    assert found.and_[0].not_.text == "all"
    assert isinstance(found.and_[1].except_.without, SelectorInput)
    assert found.text is strawberry.UNSET


def test_null_and_nothing_stay_what_they_are():
    convert = Converters(SCHEMA.config).of(definition("Fleet", "clusters"))
    assert convert({"where": None}) == {"where": None}
    assert convert({"where": strawberry.UNSET}) == {"where": strawberry.UNSET}
    assert convert({"orderBy": []}) == {"order_by": []}
