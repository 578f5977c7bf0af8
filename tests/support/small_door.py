"""The API over the small fleet, in the test's own process, behind a real port.

    async with small_engine(directory) as engine, small_door(engine) as door:
        async with connect(door.ws_url) as socket:
            ...

Without tokens the caller is anonymous, which on a loopback address is an admin.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.app import make_app
from api.serving.listening import Server, bind, url_of
from api.serving.probes import Readiness
from api.settings import ApiSettings, AuthSettings, TelemetrySettings
from api.telemetry.metrics import Tallies
from api.telemetry.telemetry import Telemetry
from engines import give, ticking
from graph.engine import Engine
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore
from graph.store.port import Store
from small import SMALL


@dataclass(frozen=True)
class SmallDoor:
    """A serving API and the engine behind it."""

    url: str
    engine: Engine
    tallies: Tallies
    readiness: Readiness

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        return host, int(port)

    @property
    def graphql(self) -> str:
        """Where operations are posted."""
        return f"{self.url}/graphql"

    @property
    def ws_url(self) -> str:
        """Where sockets are opened."""
        return f"ws{self.graphql.removeprefix('http')}"


@asynccontextmanager
async def small_engine(
    directory: Path, settings: GraphSettings | None = None, store: Store | None = None
) -> AsyncIterator[Engine]:
    """An engine with the small fleet in it."""
    store = store or await EmbeddedStore.open(directory / "fleet.db")
    engine = await Engine.open(store, settings=settings, now=ticking())
    try:
        await give(engine, *SMALL)
        yield engine
    finally:
        await engine.close()


@asynccontextmanager
async def small_door(
    engine: Engine, *, auth: AuthSettings | None = None, **settings: Any
) -> AsyncIterator[SmallDoor]:
    """The API over ``engine``, answering; stopped at the end. ``settings`` are the API's."""
    api = ApiSettings.model_validate({"notice_seconds": 0, "drain_seconds": 1, **settings})
    telemetry = Telemetry(TelemetrySettings(metrics=False))
    readiness = Readiness(engine, stale_seconds=api.stale_seconds)
    app = make_app(
        engine, api=api, auth=auth or AuthSettings(), telemetry=telemetry, readiness=readiness
    )
    started = asyncio.Event()
    server = Server(app, api, readiness, started=started.set)
    with closing(bind(api.host, 0)) as listener:
        running = asyncio.create_task(server.serve(sockets=[listener]))
        await started.wait()
        try:
            yield SmallDoor(url_of(listener), engine, telemetry.tallies, readiness)
        finally:
            server.stop()
            await running
            await telemetry.close()
