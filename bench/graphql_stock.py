"""Stock Strawberry over the same engine: a careful author's schema, behind the view as shipped.

Rows are plain attributes, no resolver is asynchronous, and there is a second view with the parser
and validation caches that Strawberry offers.

    python -m bench.graphql_stock <store> <snapshot file>
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import strawberry
from starlette.applications import Starlette
from starlette.routing import Route
from strawberry.asgi import GraphQL
from strawberry.extensions import ParserCache, ValidationCache

from bench import graphql_work
from bench.graphql_child import serve
from graph.engine import Engine
from graph.model.inventory import ClusterKind, Reconciler

KEPT_MAX = 1_000
SHIPPED, CACHED = "/shipped", "/cached"

strawberry.enum(ClusterKind)
strawberry.enum(Reconciler)


@strawberry.input
class SelectorInput:
    """Which clusters."""

    text: str


@strawberry.type
class Cluster:
    """One row."""

    name: str
    title: str
    kind: ClusterKind
    reconciler: Reconciler
    time_zone: str
    changed: int


@strawberry.type
class TreeRow:
    """One group."""

    path: str
    depth: int
    count: int
    share: float


@strawberry.type
class ClusterConnection:
    """A page, worked out as far as it is asked for."""

    engine: strawberry.Private[Engine]
    where: strawberry.Private[str]
    first: strawberry.Private[int]

    @strawberry.field
    def total_count(self) -> int:
        """How many."""
        return graphql_work.count(self.engine, self.where)

    @strawberry.field
    def nodes(self) -> list[Cluster]:
        """The first of them."""
        numbers = graphql_work.page(self.engine, self.where, self.first)
        held = self.engine.view.clusters
        return [
            Cluster(
                name=held.name.get(number),
                title=held.title.get(number),
                kind=held.kind.get(number),
                reconciler=held.reconciler.get(number),
                time_zone=held.time_zone.get(number),
                changed=held.changed.get(number),
            )
            for number in numbers
        ]


@strawberry.type
class Fleet:
    """The fleet."""

    engine: strawberry.Private[Engine]

    @strawberry.field
    def clusters(self, where: SelectorInput | None = None, first: int = 50) -> ClusterConnection:
        """Some clusters."""
        text = where.text if where else "all"
        return ClusterConnection(engine=self.engine, where=text, first=first)

    @strawberry.field
    def tree(
        self,
        top: Annotated[str, strawberry.argument(name="root")],  # "root" is Strawberry's own word
        depth: int,
        where: SelectorInput | None = None,
    ) -> list[TreeRow]:
        """Counts along geography."""
        found = graphql_work.tree(self.engine, where.text if where else "all")
        return [
            TreeRow(path=path, depth=level, count=clusters, share=share)
            for _, path, level, clusters, share in found
        ]


@strawberry.type
class Query:
    """The root."""

    @strawberry.field
    def fleet(self, info: strawberry.Info[dict[str, Any], None]) -> Fleet:
        """The fleet."""
        return Fleet(engine=info.context["engine"])


class View(GraphQL[dict[str, Any], None]):
    """The view as shipped, which is handed the engine."""

    def __init__(
        self, engine: Engine, schema: strawberry.Schema, protocols: Sequence[str] = ()
    ) -> None:
        super().__init__(schema, graphql_ide=None, subscription_protocols=protocols)
        self._engine = engine

    async def get_context(self, request: Any, response: Any) -> dict[str, Any]:
        """What resolvers are handed."""
        return {"request": request, "response": response, "engine": self._engine}


def app(engine: Engine) -> Starlette:
    """Both views."""
    caches = [lambda: ParserCache(KEPT_MAX), lambda: ValidationCache(KEPT_MAX)]
    return Starlette(
        routes=[
            Route(SHIPPED, View(engine, strawberry.Schema(query=Query))),
            Route(CACHED, View(engine, strawberry.Schema(query=Query, extensions=caches))),
        ]
    )


if __name__ == "__main__":
    serve(app, *sys.argv[1:])
