"""Strawberry's own subscription handler over the same engine and the same log.

A careful author's schema: one asynchronous generator that follows the engine, events of plain
attributes. A route beside it makes the changes.

    python -m bench.fanout_stock <store> <snapshot file> write
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from typing import Any

import strawberry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from strawberry.subscriptions import GRAPHQL_TRANSPORT_WS_PROTOCOL

from bench.graphql_child import serve
from bench.graphql_stock import Query, View
from graph.engine import Engine
from graph.model.change import Cursor
from graph.model.command import Batch, UpdateCluster


@strawberry.type
class Changeset:
    """One revision."""

    revision: int
    cursor: str
    actor: str
    reason: str


@strawberry.type
class Subscription:
    """What can be followed."""

    @strawberry.subscription
    async def changes(
        self, info: strawberry.Info[dict[str, Any], None], after: str
    ) -> AsyncGenerator[Changeset]:
        """Every changeset after ``after``."""
        engine: Engine = info.context["engine"]
        async for changeset in engine.follow(Cursor.parse(after)):
            yield Changeset(
                revision=changeset.revision,
                cursor=str(changeset.cursor),
                actor=changeset.actor,
                reason=changeset.reason,
            )


def app(engine: Engine) -> Starlette:
    """Sockets, and a way to make a change."""
    schema = strawberry.Schema(query=Query, subscription=Subscription)
    view = View(engine, schema, protocols=[GRAPHQL_TRANSPORT_WS_PROTOCOL])

    async def change(request: Request) -> Response:
        asked = (await request.json())["variables"]
        command = UpdateCluster(asked["input"]["name"], title=asked["input"]["title"])
        receipt = await engine.execute(Batch((command,), "bench", asked["reason"]))
        return JSONResponse({"data": {"updateCluster": {"cursor": str(receipt.cursor)}}})

    return Starlette(
        routes=[Route("/change", change, methods=["POST"]), WebSocketRoute("/graphql", view)]
    )


if __name__ == "__main__":
    serve(app, *sys.argv[1:])
