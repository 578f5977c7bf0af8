"""Files behind the listener that serves artifacts: what ``render_polls`` compares with.

python -m bench.render_static DIRECTORY
"""

from __future__ import annotations

import asyncio
import sys

import uvloop
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from api.serving.listening import bind
from renderer.serve.listening import address_of, listen
from renderer.serve.settings import ServeSettings


async def run(directory: str) -> None:
    """Until it is ended."""
    listener = bind("127.0.0.1", 0)
    app = Starlette(routes=[Mount("/static", StaticFiles(directory=directory))])

    def started() -> None:
        print(f"files at http://{address_of(listener)}", flush=True)

    await listen(app, listener, ServeSettings(), started=started, stopping=asyncio.Event())


if __name__ == "__main__":
    uvloop.run(run(*sys.argv[1:]))
