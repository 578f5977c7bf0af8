"""A Python side as a process: an engine that remembers no answers, behind uvicorn.

Uvicorn is set up as ``trellis serve`` sets it up, on a free port.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from graph.engine import Engine
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore

HOST = "127.0.0.1"
MakeApp = Callable[[Engine], Starlette]


def serve(make_app: MakeApp, store: str, snapshot: str, mode: str = "read") -> None:
    """Until the process is told to end."""
    bound = socket.create_server((HOST, 0))
    config = uvicorn.Config(
        lambda: None,
        loop="uvloop",
        http="httptools",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(_serve(config, make_app, bound, Path(store), Path(snapshot), mode == "write"))


async def _serve(
    config: uvicorn.Config,
    make_app: MakeApp,
    bound: socket.socket,
    store: Path,
    snapshot: Path,
    write: bool,
) -> None:
    settings = GraphSettings.model_validate({"answers_kept_max": 0})
    opened = await EmbeddedStore.open(store, write=write)
    engine = await Engine.open(opened, settings=settings, snapshot_file=snapshot)
    config.app = make_app(engine)
    host, port = bound.getsockname()
    print(f"listening on http://{host}:{port}", flush=True)
    await uvicorn.Server(config).serve(sockets=[bound])
    await engine.close()
