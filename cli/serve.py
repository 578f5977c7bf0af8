"""Serve the fleet over GraphQL until told to stop."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import AbstractAsyncContextManager, AsyncExitStack, closing

import click
import uvloop

from api.app import make_app
from api.caller.identity import identity_of
from api.serving.listening import Server, bind, url_of
from api.serving.probes import Readiness
from api.telemetry.logs import AccessLines, log_to
from api.telemetry.telemetry import Telemetry
from api.telemetry.traces import trace_id
from cli.output import at_revision
from cli.session import settings_for
from cli.settings import Settings, log_service_links
from cli.wiring import open_engine
from graph.engine import Engine
from graph.model.errors import Conflict

_log = logging.getLogger(__name__)


@click.command(short_help="Serve the fleet over GraphQL.")
@click.option("--host", help="The address to listen on, instead of the setting's.")
@click.option("--port", type=click.IntRange(0, 65_535), help="Its port; 0 takes a free one.")
@click.option("--create", is_flag=True, help="Begin an empty fleet where there is none.")
@click.pass_obj
def serve(store_url: str | None, host: str | None, port: int | None, create: bool) -> None:
    """Serve the fleet over GraphQL until told to stop.

    The address is printed once requests are answered. SIGTERM and Ctrl-C let those under way
    finish. An embedded store is held for writing; on Neo4j any number of processes may serve.
    """
    run_server(_given(settings_for(store_url), host, port), create=create)


def run_server(settings: Settings, *, create: bool = False) -> None:
    """Serve what ``settings`` say, until told to stop."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, create=create))


async def _serve(settings: Settings, *, create: bool) -> None:
    identity_of(settings.auth, settings.api)  # refuses now what would be refused after a long load
    told = log_to(settings.telemetry, secrets=_secrets(settings), trace_id=trace_id)
    async with AsyncExitStack() as stack:
        access = AccessLines(stack.enter_context(told))
        log_service_links()
        telemetry = Telemetry(settings.telemetry, access=access)
        stack.push_async_callback(telemetry.close)
        listener = stack.enter_context(closing(bind(settings.api.host, settings.api.port)))
        opened = open_engine(
            settings, write=True, create=create, progress=_log.info, trace=telemetry.trace
        )
        engine = await _entered(stack, opened)
        await _answer(engine, settings, listener, telemetry)


async def _entered(stack: AsyncExitStack, opened: AbstractAsyncContextManager[Engine]) -> Engine:
    try:
        return await stack.enter_async_context(opened)
    except Conflict as error:
        raise Conflict(
            error.message,
            hint="serving needs the store to itself: stop that process, or keep the fleet in"
            " Neo4j, which any number of processes may serve",
        ) from None


async def _answer(
    engine: Engine, settings: Settings, listener: socket.socket, telemetry: Telemetry
) -> None:
    telemetry.watch(engine)
    readiness = Readiness(engine, stale_seconds=settings.api.stale_seconds)
    app = make_app(
        engine, api=settings.api, auth=settings.auth, telemetry=telemetry, readiness=readiness
    )

    def started() -> None:
        click.echo(f"serving at {url_of(listener)}        {at_revision(engine.view)}")

    await Server(app, settings.api, readiness, started=started).serve([listener])


def _given(settings: Settings, host: str | None, port: int | None) -> Settings:
    given = {"host": host, "port": port}
    api = settings.api.model_copy(update={k: v for k, v in given.items() if v is not None})
    return settings.model_copy(update={"api": api})


def _secrets(settings: Settings) -> list[str]:
    """What no log line may hold."""
    tokens = settings.auth.tokens.get_secret_value().split()
    given = [settings.neo4j.password, settings.telemetry.metrics_token]
    return [each.get_secret_value() for each in given] + [each.split(":")[-1] for each in tokens]
