"""Artifacts served from a publisher: the library, the door and the listener, put together."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

from graph.model.errors import Invalid
from renderer.serve.app import make_app
from renderer.serve.library import Library
from renderer.serve.listening import address_of, is_loopback, listen
from renderer.serve.origin import origin_of, packer_of
from renderer.serve.settings import ArtifactSettings, ServeSettings
from renderer.serve.tokens import Tokens
from renderer.tree import Head


async def serve_artifacts(
    read_head: Callable[[], Head],
    listener: socket.socket,
    artifact: ArtifactSettings,
    serve: ServeSettings,
    *,
    started: Callable[[], None],
    stopping: asyncio.Event,
) -> None:
    """Serve what ``read_head`` finds until ``stopping``.

    It is called on a thread of its own, and the tree it gives is read on another one.
    """
    tokens = _tokens(listener, serve)
    origin = origin_of(artifact, address_of(listener), loopback=is_loopback(listener))
    library = Library(
        packer_of(artifact, origin, serve.packed_bytes_max),
        read_head,
        head_seconds=serve.head_milliseconds / 1_000,
        kept_bytes_max=serve.kept_bytes_max,
        waiting_max=serve.waiting_max,
        searches_max=serve.searches_max,
        private=tokens is not None,
    )
    with closing(library):
        await library.look()
        app = make_app(library, tokens, prefix=urlsplit(origin.url).path.strip("/"))
        async with _watched(tokens):
            await listen(app, listener, serve, started=started, stopping=stopping)


@asynccontextmanager
async def _watched(tokens: Tokens | None) -> AsyncGenerator[None]:
    """The tokens are kept up with their file while the body runs."""
    if tokens is None:
        yield
        return
    watching = asyncio.create_task(tokens.watch())
    try:
        yield
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


def _tokens(listener: socket.socket, serve: ServeSettings) -> Tokens | None:
    if serve.tokens_file:
        return Tokens(Path(serve.tokens_file))
    if is_loopback(listener):
        return None
    raise Invalid(
        "artifacts would be served to anybody",
        hint="set TRELLIS_SERVE_TOKENS_FILE, or serve on 127.0.0.1",
    )
