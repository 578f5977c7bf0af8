"""The schema, built once: its types, its scalars, and what is switched off."""

from __future__ import annotations

import strawberry
from strawberry.schema.config import StrawberryConfig

from api.core_schema import core_schema
from api.schema.access import Grant
from api.schema.inventory import Cluster, Group, Hierarchy, SavedSelector
from api.schema.label import LabelKey
from api.schema.mutation import Mutation
from api.schema.names import SCALARS
from api.schema.query import Query
from api.schema.subscription import Subscription
from api.schema.workload import (
    Application,
    Assignment,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)

SCHEMA = strawberry.Schema(
    query=Query,
    mutation=Mutation,
    subscription=Subscription,
    types=[
        Cluster,
        Group,
        Hierarchy,
        LabelKey,
        SavedSelector,
        Grant,
        Namespace,
        Application,
        Assignment,
        Prohibition,
        Layer,
        Policy,
    ],
    config=StrawberryConfig(scalar_map=SCALARS),
)

GRAPHQL = core_schema(SCHEMA)
