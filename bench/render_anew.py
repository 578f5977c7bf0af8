"""A worker that renders everything each time, as pipelines do: what ``render_pace`` compares with.

    python -m bench.render_anew SOCKET REPOSITORY

It uses the parts of the real one, and plans from a snapshot whenever the last commit is made.
"""

from __future__ import annotations

import sys
import time

import uvloop

from renderer.message import Complete
from renderer.plan.wave import WaveBounds
from renderer.publish.git import GitPublisher
from renderer.sandbox.parent import Sandbox
from renderer.settings import FormatSettings, SourceSettings
from renderer.source.socket import SocketSource
from renderer.work.measures import Measures
from renderer.work.planner import planner, stamp
from renderer.work.publishing import Publishing
from renderer.work.stream import listening

NO_WAVE = WaveBounds(clusters_max=10**9)


async def run(socket: str, repository: str) -> None:
    """Until it is ended."""
    settings = FormatSettings.model_validate({})
    publishing = Publishing(
        SocketSource(SourceSettings(url=socket)),
        GitPublisher.open(repository, now=lambda: int(time.time())),
        planner(settings, Sandbox(), NO_WAVE),
        stamp(settings),
        name="main",
        measures=Measures(),
    )
    print("rendering at http://127.0.0.1:1", flush=True)  # nothing listens; it has begun
    while True:
        await _once(publishing)


async def _once(publishing: Publishing) -> None:
    standing = await publishing.look(fresh=True)
    batch = await publishing.begin(standing.head, fresh=True)
    try:
        async with listening(publishing.source.follow(None)) as stream:
            while batch.complete is None:
                message = await stream.next()
                assert message is not None, "it is waited for"
                if isinstance(message, Complete):
                    await publishing.finish(batch, message)
                else:
                    await batch.take(message)
        await publishing.publish(batch)
    finally:
        await batch.end()


if __name__ == "__main__":
    uvloop.run(run(*sys.argv[1:]))
