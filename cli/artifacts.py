"""Artifacts beside a worker: served on demand, laid out in a directory, pushed to a registry."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path

import click

from cli.settings import Settings
from graph.model.errors import Invalid
from graph.model.names import quoted
from renderer.publish.courier import Courier
from renderer.publish.oci import Delivery, Outlet
from renderer.publish.oci_credentials import NOBODY, read_credentials
from renderer.publish.oci_layout import Layouts
from renderer.publish.oci_registry import Registry, checked
from renderer.publish.watched import Watched
from renderer.serve.origin import origin_of, packer_of
from renderer.tree import Publisher


@asynccontextmanager
async def artifacts_of(
    settings: Settings, output: Publisher, *, serve: bool, deliver: bool = True
) -> AsyncGenerator[Publisher]:
    """The publisher a worker is to use, with artifacts of its commits made meanwhile.

    Whoever comes to an end by itself has the last commit delivered then.
    """
    outlets = list(_outlets(settings)) if deliver else []
    if not (serve or outlets):
        yield output
        return
    _check_output(settings.render.output)
    loop = asyncio.get_running_loop()
    couriers: list[Courier] = []

    def committed() -> None:
        for each in couriers:
            loop.call_soon_threadsafe(each.notice)

    watched = Watched(output, committed)
    async with AsyncExitStack() as stack:
        for outlet in outlets:
            couriers.append(Courier(_delivery(settings, outlet), watched.look))
            await stack.enter_async_context(_beside(couriers[-1], outlet))
        if serve:
            await stack.enter_async_context(_served(settings, watched))
        yield watched


@asynccontextmanager
async def _served(settings: Settings, watched: Watched) -> AsyncGenerator[None]:
    """Serve while the body runs; the address is printed once requests are answered."""
    # the server's imports are for those who serve
    from api.serving.listening import bind
    from renderer.serve.listening import address_of
    from renderer.serve.serving import serve_artifacts

    stopping = asyncio.Event()
    with closing(bind(settings.serve.host, settings.serve.port)) as listener:

        def started() -> None:
            click.echo(f"artifacts at http://{address_of(listener)}/v2/")

        serving = asyncio.create_task(
            serve_artifacts(
                watched.look,
                listener,
                settings.artifact,
                settings.serve,
                started=started,
                stopping=stopping,
            )
        )
        with _cancelled_by(serving):
            try:
                yield
            finally:
                stopping.set()
                await serving


@contextmanager
def _cancelled_by(work: asyncio.Task[None]) -> Generator[None]:
    """Where the server cannot go on, neither does the worker."""
    around = asyncio.current_task()
    assert around is not None, "it runs in one"

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            around.cancel()

    work.add_done_callback(ended)
    try:
        yield
    finally:
        work.remove_done_callback(ended)


@asynccontextmanager
async def _beside(courier: Courier, outlet: Outlet) -> AsyncGenerator[None]:
    """The courier runs while the body does, and is nowhere on its way when that has ended."""
    work = asyncio.create_task(courier.run())
    with closing(outlet):
        try:
            yield
        except BaseException:
            outlet.close()  # whatever is under way ends with its next request
            raise
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
            await asyncio.to_thread(courier.wait)
        await courier.deliver()


def _outlets(settings: Settings) -> Generator[Outlet]:
    artifact = settings.artifact
    if artifact.layout:
        yield Layouts(Path(artifact.layout))
    if artifact.registry:
        at = checked(artifact.registry)
        given = artifact.credentials_file
        yield Registry(
            artifact.registry,
            read_credentials(Path(given), at.netloc) if given else NOBODY,
            connections=artifact.connections,
            request_seconds=artifact.request_seconds,
            tries_max=artifact.tries_max,
            delivered=Path(artifact.delivered_file),
        )


def _delivery(settings: Settings, outlet: Outlet) -> Delivery:
    artifact = settings.artifact
    if not artifact.url and not artifact.registry:
        raise Invalid(
            "stores are not told where to fetch artifacts",
            hint="set TRELLIS_ARTIFACT_URL to oci://HOST, where they will be",
        )
    at = checked(artifact.registry) if artifact.registry else None
    address = f"{at.netloc}{at.path.rstrip('/')}" if at else ""
    origin = origin_of(artifact, address, loopback=at is not None and at.scheme == "http")
    packer = packer_of(artifact, origin, settings.serve.packed_bytes_max)
    return Delivery(packer, outlet, grace_seconds=artifact.grace_seconds)


def _check_output(output: str) -> None:
    if not output.startswith("git:"):
        raise Invalid(
            f"artifacts are made of commits, and {quoted(output)} has none",
            hint="publish to git:PATH_OR_URL#BRANCH",
        )
