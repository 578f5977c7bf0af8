"""The one look under Strawberry: the schema of graphql-core that its own stands on.

Strawberry checks that an input has exactly one field by a rule and a conversion of its own, which
our executor does not go through. graphql-core can do it as well, once it is told which inputs.
"""

from __future__ import annotations

import strawberry
from graphql import GraphQLInputObjectType, GraphQLSchema
from strawberry.schema.schema_converter import GraphQLCoreConverter


def core_schema(schema: strawberry.Schema) -> GraphQLSchema:
    """What graphql-core parses, validates and executes against."""
    found = schema._schema  # pyright: ignore[reportPrivateUsage]  # there is no other way
    for kind in found.type_map.values():
        if isinstance(kind, GraphQLInputObjectType):
            definition = kind.extensions[GraphQLCoreConverter.DEFINITION_BACKREF]
            kind.is_one_of = definition.is_one_of
    return found
