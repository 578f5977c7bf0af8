"""The sample fleet in both stores, loaded through the engine once a run and shared.

Whoever changes the fleet puts it back. A server is looked for where the tests look for one: a URL
from the environment, a Docker engine, a local process from Maven Central.
"""

from __future__ import annotations

import asyncio
import atexit
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from bench.servers import Server, find_server
from bench.timing import Spent, Watch
from cli.sample import sample
from graph.engine import Engine
from graph.model.command import COMMANDS_MAX, Batch
from graph.store.embedded import EmbeddedStore
from graph.store.neo4j import Neo4jStore

ACTOR = "bench"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What loading took."""

    commands: int
    spent: Spent
    """In this process; the work of a Neo4j server is in the wall clock alone."""


@dataclass(frozen=True, slots=True)
class EmbeddedFleet:
    """A loaded store file, with the snapshot file and checkpoints the engine left beside it."""

    path: Path
    snapshot: Path
    checkpoints: Path
    loaded: Loaded

    @asynccontextmanager
    async def engine(self) -> AsyncGenerator[Engine]:
        """An engine that may write."""
        store = await EmbeddedStore.open(self.path)
        async with _engine(store, self.snapshot, self.checkpoints) as engine:
            yield engine


@dataclass(frozen=True, slots=True)
class Neo4jFleet:
    """A loaded server."""

    server: Server
    loaded: Loaded

    @asynccontextmanager
    async def engine(self) -> AsyncGenerator[Engine]:
        """An engine that may write."""
        async with _engine(await _open(self.server)) as engine:
            yield engine


def copied(fleet: EmbeddedFleet) -> EmbeddedFleet:
    """The same fleet in files of its own."""
    place = directory()
    path, snapshot = (Path(shutil.copy(each, place)) for each in (fleet.path, fleet.snapshot))
    checkpoints = Path(shutil.copytree(fleet.checkpoints, place / fleet.checkpoints.name))
    return EmbeddedFleet(path, snapshot, checkpoints, fleet.loaded)


def directory() -> Path:
    """A place for this run's files, gone with the process."""
    made = Path(tempfile.mkdtemp(prefix="trellis-bench-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def embedded(clusters: int) -> EmbeddedFleet:
    """The sample fleet in an embedded store."""
    path = directory() / "fleet.db"
    snapshot, checkpoints = path.with_suffix(".snapshot"), path.with_suffix(".checkpoints")
    checkpoints.mkdir()

    async def load() -> Loaded:
        async with _engine(await EmbeddedStore.open(path), snapshot, checkpoints) as engine:
            return await _load(engine, clusters)

    return EmbeddedFleet(path, snapshot, checkpoints, asyncio.run(load()))


MEASURED_MIN = 10_000
"""Clusters from which a run is a measurement and not a look whether it works."""


@cache
def neo4j(clusters: int) -> Neo4jFleet | str:
    """The sample fleet in a real Neo4j, or why there is none."""
    found = find_server(measured=clusters >= MEASURED_MIN)
    if isinstance(found, str):
        return found
    found.wipe()

    async def load() -> Loaded:
        async with _engine(await _open(found)) as engine:
            return await _load(engine, clusters)

    return Neo4jFleet(found, asyncio.run(load()))


async def _open(found: Server) -> Neo4jStore:
    return await Neo4jStore.open(found.url, user=found.user, password=found.password)


@asynccontextmanager
async def _engine(
    store: EmbeddedStore | Neo4jStore,
    snapshot: Path | None = None,
    checkpoints: Path | None = None,
) -> AsyncGenerator[Engine]:
    engine = await Engine.open(store, snapshot_file=snapshot, checkpoints=checkpoints)
    try:
        yield engine
    finally:
        await engine.close()


async def _load(engine: Engine, clusters: int) -> Loaded:
    """The commands are made before the watch starts."""
    batches = list(_batches(clusters))
    commands = sum(len(batch.commands) for batch in batches)
    watch = Watch()
    for batch in batches:
        await engine.execute(batch)
    spent = watch.spent()
    print(f"  {commands:,} commands loaded in {spent.wall:,.1f} s", flush=True)
    return Loaded(commands, spent)


def _batches(clusters: int) -> Iterator[Batch]:
    stream = iter(sample(clusters))
    while commands := tuple(islice(stream, COMMANDS_MAX)):
        yield Batch(commands, ACTOR, "the sample fleet")
