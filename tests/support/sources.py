"""Fleets that are rendered: one in this process, one behind a real API, given the same commands.

Both are made from the same commands in the same batches, so they are at the same revisions and say
the same; only their cursors differ, for these tell histories apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from api_process import batch, begun, calling
from engines import give, ticking
from graph.engine import Engine
from graph.model.command import Command
from graph.store.embedded import EmbeddedStore
from renderer.message import Complete, Message
from renderer.settings import SourceSettings
from renderer.source.engine import EngineSource
from renderer.source.port import Source
from renderer.source.socket import SocketSource
from small_door import small_door

WAIT_SECONDS = 60
"""Longest wait for a step before a test fails."""


@dataclass(frozen=True)
class Fleet:
    """Something to follow, and a way to change it."""

    source: Source
    apply: Callable[..., Awaitable[int]]
    """One batch, with its ``reason``; the revision it made."""
    engine: Engine | None = None
    """Where it is this process that has one."""


async def step(messages: AsyncGenerator[Message]) -> list[Message]:
    """One step: all up to its end."""
    found: list[Message] = []
    async with asyncio.timeout(WAIT_SECONDS):
        async for message in messages:
            found.append(message)
            if isinstance(message, Complete):
                return found
    raise AssertionError("what is followed has ended")


async def first_step(source: Source, after: str | None = None) -> list[Message]:
    """The first step behind a cursor."""
    async with aclosing(source.follow(after)) as messages:
        return await step(messages)


def end_of(told: list[Message]) -> Complete:
    """How a step ended."""
    last = told[-1]
    assert isinstance(last, Complete)
    return last


def without_cursor(told: list[Message]) -> list[Message]:
    """A step, comparable between histories."""
    return [*told[:-1], replace(end_of(told), cursor="")]


@asynccontextmanager
async def empty_engine(directory: Path) -> AsyncIterator[Engine]:
    """An engine over a store of its own, with nothing in it."""
    store = await EmbeddedStore.open(directory / "here.db", write=True, create=True)
    engine = await Engine.open(store, now=ticking())
    try:
        yield engine
    finally:
        await engine.close()


def applying(engine: Engine) -> Callable[..., Awaitable[int]]:
    """How the fleet of an engine is changed."""

    async def apply(*commands: Command, reason: str = "because", loss: int | None = None) -> int:
        receipt = await give(engine, *commands, reason=reason, loss=loss)
        return receipt.revision

    return apply


@asynccontextmanager
async def in_process(directory: Path) -> AsyncIterator[Fleet]:
    """A fleet of this process."""
    async with empty_engine(directory) as engine:
        yield Fleet(EngineSource(engine, reasons_max=10), applying(engine), engine)


@asynccontextmanager
async def over_a_socket(directory: Path) -> AsyncIterator[Fleet]:
    """A fleet behind the API of this process, on a real port."""
    async with empty_engine(directory) as engine, small_door(engine) as door:
        settings = SourceSettings(url=door.ws_url, reasons_max=10)
        yield Fleet(SocketSource(settings), applying(engine), engine)


@asynccontextmanager
async def served(
    directory: Path, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Fleet]:
    """A fleet behind a process that serves it."""
    url = f"sqlite:///{directory / 'there.db'}"
    async with (
        begun(url, directory, environment or {}, arguments=["--create"]) as server,
        calling(server) as api,
    ):

        async def apply(
            *commands: Command, reason: str = "because", loss: int | None = None
        ) -> int:
            sent: dict[str, Any] = batch(*commands, reason=reason)
            if loss is not None:
                sent["expectedLoss"] = loss
            answer = await api.send(sent)
            assert answer["__typename"] == "Applied", answer
            return int(answer["revision"])

        settings = SourceSettings(url=server.ws_url, reasons_max=10)
        yield Fleet(SocketSource(settings), apply)


OPENERS: dict[str, Callable[[Path], AbstractAsyncContextManager[Fleet]]] = {
    "engine": in_process,
    "socket": over_a_socket,
}
