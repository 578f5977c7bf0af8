"""Bare Starlette routes: the same answers without GraphQL, which is what its price is taken over.

python -m bench.graphql_plain <store> <snapshot file>
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench import graphql_work
from bench.graphql_child import serve
from graph.engine import Engine
from graph.index.chunks import BITS, MASK

HELLO = b'{"data":{"hello":"world"}}'

Answer = Callable[[Engine, dict[str, Any]], object]


def app(engine: Engine) -> Starlette:
    """One route a question, and one that does nothing."""
    return Starlette(
        routes=[
            Route("/hello", _hello),
            _route("/count", _count, engine),
            _route("/rows", _rows, engine),
            _route("/tree", _tree, engine),
        ]
    )


def _route(path: str, answer: Answer, engine: Engine) -> Route:
    async def respond(request: Request) -> Response:
        asked = orjson.loads(await request.body())
        said = orjson.dumps({"data": {"fleet": answer(engine, asked["variables"])}})
        return Response(said, media_type="application/json")

    return Route(path, respond, methods=["POST"])


async def _hello(request: Request) -> Response:
    return Response(HELLO, media_type="application/json")


def _count(engine: Engine, asked: dict[str, Any]) -> object:
    return {"clusters": {"totalCount": graphql_work.count(engine, asked["where"]["text"])}}


def _rows(engine: Engine, asked: dict[str, Any]) -> object:
    """One row after the other, straight from the columns: the fastest of the ways tried."""
    numbers = graphql_work.page(engine, asked["where"]["text"], asked["first"])
    held = engine.view.clusters
    name, title, kind = held.name.chunks, held.title.chunks, held.kind.chunks
    reconciler, time_zone = held.reconciler.chunks, held.time_zone.chunks
    changed = held.changed.chunks
    rows = [
        {
            "name": name[chunk][at],
            "title": title[chunk][at],
            "kind": kind[chunk][at].upper(),
            "reconciler": reconciler[chunk][at].upper(),
            "timeZone": time_zone[chunk][at],
            "changed": changed[chunk][at],
        }
        for number in numbers
        for chunk, at in ((number >> BITS, number & MASK),)
    ]
    return {"clusters": {"nodes": rows}}


def _tree(engine: Engine, asked: dict[str, Any]) -> object:
    found = graphql_work.tree(engine, asked["where"]["text"])
    return {
        "tree": [
            {"path": path, "depth": depth, "count": clusters, "share": share}
            for _, path, depth, clusters, share in found
        ]
    }


if __name__ == "__main__":
    serve(app, *sys.argv[1:])
