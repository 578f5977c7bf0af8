"""The application around the door: what orchestrators ask, and what stores ask."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from renderer.serve.door import Door
from renderer.serve.library import Library
from renderer.serve.tokens import Tokens


def make_app(library: Library, tokens: Tokens | None, *, prefix: str = "") -> Starlette:
    """Everything that is served: ``/v2`` and the probes."""

    async def alive(_: Request) -> PlainTextResponse:
        return PlainTextResponse("alive\n")

    async def ready(_: Request) -> PlainTextResponse:
        if library.commit is None:
            return PlainTextResponse("nothing to serve yet\n", 503)
        return PlainTextResponse(f"serving {library.commit}\n")

    door = Door(library, tokens, prefix=prefix)
    return Starlette(
        routes=[
            Route("/v2{rest:path}", door, methods=None),
            Route("/livez", alive),
            Route("/readyz", ready),
        ]
    )
