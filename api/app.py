"""The app: every door of the API over one engine.

The one path that carries the traffic is told apart by hand; the rest goes through Starlette's
router. The app does not own the engine: whoever opened it closes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from api.caller.identity import identity_of
from api.caller.rate import Rates
from api.console.pages import console_routes
from api.execution.operations import Operations
from api.schema.schema import GRAPHQL as GRAPHQL_SCHEMA
from api.schema.schema import SCHEMA
from api.serving.probes import Readiness, probe_routes
from api.settings import ApiSettings, AuthSettings
from api.streaming.calls import Calls
from api.streaming.conversation import House
from api.streaming.hub import Hub
from api.streaming.socket import SocketView
from api.streaming.sse import EventStreams
from api.telemetry.telemetry import Telemetry
from api.web.cors import open_to
from api.web.door import Door, Endpoint, Receive, Scope, Send
from api.web.export_view import ExportView
from api.web.http import GraphQLView
from api.web.quota import Quota
from graph.engine import Engine

GRAPHQL = "/graphql"
EXPORTS = ("/export/clusters.", "/export/chargeback.")


class App:
    """The ASGI application."""

    def __init__(
        self, *, graphql: Endpoint, socket: SocketView, export: Endpoint, rest: Starlette
    ) -> None:
        self._graphql = graphql
        self._socket = socket
        self._export = export
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a connection to the door it knocks at."""
        path: str = scope.get("path", "")
        if scope["type"] == "http":
            if path == GRAPHQL:
                await self._graphql(scope, receive, send)
                return
            if path.startswith(EXPORTS):
                await self._export(scope, receive, send)
                return
        elif scope["type"] == "websocket" and path == GRAPHQL:
            await self._socket(scope, receive, send)
            return
        await self._rest(scope, receive, send)


def make_app(
    engine: Engine,
    *,
    api: ApiSettings,
    auth: AuthSettings,
    telemetry: Telemetry,
    readiness: Readiness,
) -> App:
    """Every door over ``engine``."""
    identity = identity_of(auth, api)
    operations = Operations(engine, SCHEMA, settings=api, telemetry=telemetry)
    door = Door(engine, settings=api, identity=identity, telemetry=telemetry)
    tallies = telemetry.tallies
    hub = Hub(engine, GRAPHQL_SCHEMA, operations.executor, settings=api, tallies=tallies)
    calls = Calls(operations, hub, door, telemetry.traces)
    house = House(calls, door, identity, api, readiness.stopping, Rates(api))
    quota = Quota(api, tallies)
    graphql = GraphQLView(
        engine,
        settings=api,
        door=door,
        operations=operations,
        traces=telemetry.traces,
        stream=EventStreams(house, quota),
    )
    routes: list[BaseRoute] = [*probe_routes(readiness), *telemetry.routes()]
    if api.console:
        routes.extend(console_routes())

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        following = asyncio.create_task(engine.keep_up())
        try:
            yield
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following

    return App(
        graphql=open_to(api, graphql),
        socket=SocketView(house, quota),
        export=open_to(api, ExportView(engine, door, quota, api)),
        rest=Starlette(routes=routes, lifespan=lifespan),
    )
