"""Artifacts served for tests: by the real listener, on a free port of 127.0.0.1, in a thread.

with served(Published(tree)) as registry:
    httpx.get(f"{registry.url}/v2/")
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from api.serving.listening import bind
from graph.model.errors import Unavailable
from published import MemoryTree, sample
from renderer.serve.listening import address_of
from renderer.serve.serving import serve_artifacts
from renderer.serve.settings import ArtifactSettings, ServeSettings
from renderer.tree import Head


@dataclass
class Published:
    """What is published, as a test moves it on."""

    tree: MemoryTree = field(default_factory=sample)
    commit: str = "first"
    away: bool = False
    looks: int = 0

    def head(self) -> Head:
        self.looks += 1
        if self.away:
            raise Unavailable("the repository is away")
        return Head(self.commit, "cursor", "stamp", self.tree)

    def publish(self, tree: MemoryTree, commit: str) -> None:
        self.tree, self.commit = tree, commit


@dataclass(frozen=True)
class Served:
    """Where artifacts are."""

    address: str

    @property
    def url(self) -> str:
        return f"http://{self.address}"


@contextmanager
def served(
    published: Published,
    *,
    artifact: ArtifactSettings | None = None,
    serve: ServeSettings | None = None,
) -> Iterator[Served]:
    """A server of ``published`` that looks for a new commit at every request."""
    settings = serve or ServeSettings(port=0, head_milliseconds=0)
    listener = bind(settings.host, settings.port)
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stopping = asyncio.Event()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            loop.run_until_complete(
                serve_artifacts(
                    published.head,
                    listener,
                    artifact or ArtifactSettings(),
                    settings,
                    started=ready.set,
                    stopping=stopping,
                )
            )
        except BaseException as error:
            failed.append(error)
        finally:
            ready.set()
            loop.close()
            listener.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(30)
    if failed:
        thread.join(30)
        raise failed[0]
    try:
        yield Served(address_of(listener))
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join(30)
        assert not thread.is_alive()
