"""The only chooser of adapters: a store URL becomes a store, and a store an engine.

What a worker publishes to, and what it follows, is chosen here as well.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import fields
from pathlib import Path
from urllib.parse import urlsplit

from cli.settings import Settings
from graph.engine import Engine
from graph.model.errors import Invalid, NotFound
from graph.model.names import quoted
from graph.settings import GraphSettings
from graph.start import Progress
from graph.store.embedded import EmbeddedStore
from graph.store.port import Store
from graph.trace import Trace, untraced
from renderer.source.port import Source
from renderer.tree import Publisher

EMBEDDED = "sqlite"
NEO4J = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
SNAPSHOT_SUFFIX = ".snapshot"
ARCHIVE_SUFFIX = ".archive"
CHECKPOINT_SUFFIX = ".checkpoints"
"""Beside a store file lie its snapshot file, archive and checkpoints, under its name and these."""
DELEGATES_SUFFIX = ".delegates"
"""And what its owner says about who may act for others."""


@asynccontextmanager
async def open_engine(
    settings: Settings,
    *,
    write: bool = False,
    create: bool = False,
    bounds: GraphSettings | None = None,
    progress: Progress = lambda _: None,
    trace: Trace = untraced,
) -> AsyncGenerator[Engine]:
    """An engine over the store the settings name, closed at the end whatever happens."""
    store = await open_store(settings, write=write, create=create, trace=trace)
    try:
        engine = await Engine.open(
            store,
            settings=bounds or settings.graph,
            snapshot_file=snapshot_file(settings),
            archive=archive_directory(settings),
            checkpoints=checkpoint_directory(settings),
            progress=progress,
            trace=trace,
        )
    except BaseException:
        await store.close()
        raise
    try:
        yield engine
    finally:
        await engine.close()


@asynccontextmanager
async def open_embedded(settings: Settings, *, write: bool) -> AsyncGenerator[EmbeddedStore]:
    """The store file itself, for what only a file can do: backup and restore."""
    if _scheme(settings.store.url) != EMBEDDED:
        raise Invalid(
            "backup and restore are for the embedded store",
            hint="back up a Neo4j server with its own neo4j-admin",
        )
    if write and not embedded_path(settings.store.url).exists():
        raise NotFound(
            f"no store at {embedded_path(settings.store.url)}",
            hint="check the path; where there is to be a new one, copy a backup: it is a store",
        )
    store = await _open_file(settings, write=write, create=False)
    try:
        yield store
    finally:
        await store.close()


def embedded_path(url: str) -> Path:
    """The file of an embedded store: ``sqlite:///fleet.db``, ``sqlite:////var/lib/fleet.db``."""
    path = url.removeprefix(f"{EMBEDDED}:///")
    if path == url or not path:
        raise Invalid(
            f"{quoted(url)} names no file",
            hint="write sqlite:///fleet.db, or sqlite:////var/lib/fleet.db for an absolute path",
        )
    return Path(path)


def snapshot_file(settings: Settings) -> Path | None:
    """Where the index is kept between two starts."""
    return _beside(settings, settings.store.snapshot_file, SNAPSHOT_SUFFIX)


def archive_directory(settings: Settings) -> Path | None:
    """Where compacted changesets are kept."""
    return _beside(settings, settings.store.archive_directory, ARCHIVE_SUFFIX)


def checkpoint_directory(settings: Settings) -> Path | None:
    """Where earlier revisions of the index are kept."""
    return _beside(settings, settings.store.checkpoint_directory, CHECKPOINT_SUFFIX)


def store_file(settings: Settings) -> Path | None:
    """The file of an embedded store, whatever links lead there; None for a server."""
    if _scheme(settings.store.url) != EMBEDDED:
        return None
    return Path(os.path.realpath(embedded_path(settings.store.url)))


def delegates_file(settings: Settings) -> Path | None:
    """Where the owner of an embedded store lists who may act for others."""
    return _beside(settings, "", DELEGATES_SUFFIX)


def _beside(settings: Settings, given: str, suffix: str) -> Path | None:
    if given:
        return Path(given)
    path = store_file(settings)
    return None if path is None else path.with_name(path.name + suffix)


async def open_store(
    settings: Settings, *, write: bool, create: bool, trace: Trace = untraced
) -> Store:
    """The store the settings name; where there is none, one is made only if told so."""
    url = settings.store.url
    scheme = _scheme(url)
    if scheme == EMBEDDED:
        return await _open_file(settings, write=write, create=create)
    if scheme in NEO4J:
        _refuse_secrets(url)
        return await _open_neo4j(settings, create=create, trace=trace)
    raise Invalid(
        f"{quoted(url)} is no store", hint="use sqlite:///path, neo4j://host or bolt://host"
    )


async def _open_file(settings: Settings, *, write: bool, create: bool) -> EmbeddedStore:
    return await EmbeddedStore.open(
        embedded_path(settings.store.url),
        write=write,
        create=create,
        receipts_kept_days=settings.store.receipts_kept_days,
    )


async def _open_neo4j(settings: Settings, *, create: bool, trace: Trace) -> Store:
    # a heavy driver the embedded store never needs
    from graph.store.neo4j import Neo4jStore
    from graph.store.neo4j_connection import Timeouts

    logging.getLogger("neo4j").setLevel(logging.CRITICAL)  # the store says what its tries come to
    return await Neo4jStore.open(
        settings.store.url,
        user=settings.neo4j.user,
        password=settings.neo4j.password.get_secret_value(),
        database=settings.neo4j.database,
        create=create,
        timeouts=Timeouts(
            **{each.name: getattr(settings.neo4j, each.name) for each in fields(Timeouts)}
        ),
        connections_max=settings.neo4j.connections_max,
        receipts_kept_days=settings.store.receipts_kept_days,
        trace=trace,
    )


def _scheme(url: str) -> str:
    return url.partition(":")[0].lower()


def _refuse_secrets(url: str) -> None:
    """A URL is shown, logged and kept in shell histories: it must not carry a password."""
    if "@" in urlsplit(url).netloc:
        raise Invalid(
            "the store URL carries a user or password",
            hint="set TRELLIS_NEO4J_USER and TRELLIS_NEO4J_PASSWORD instead",
        )


@asynccontextmanager
async def open_source(settings: Settings, *, here: bool) -> AsyncGenerator[Source]:
    """What a worker follows: the API the settings name, or the fleet of the store itself."""
    if not here:
        from renderer.source.address import address_of
        from renderer.source.socket import SocketSource

        address_of(settings.source)  # refused now, and not when something was made already
        yield SocketSource(settings.source)
        return
    from renderer.source.engine import EngineSource

    async with open_engine(settings) as engine:
        most = settings.source.reasons_max
        yield EngineSource(engine, reasons_max=most, reporting=False)  # it is opened for reading


def open_output(settings: Settings) -> tuple[Publisher, Callable[[], object] | None]:
    """Where a worker publishes, and the upkeep that needs now and then."""
    kind, _, place = settings.render.output.partition(":")
    if kind == "dir" and place:
        from renderer.publish.directory import DirectoryPublisher

        return DirectoryPublisher.open(Path(place)), None
    if kind == "git" and place:
        return _open_git(settings, *_branch(place))
    raise Invalid(
        f"{quoted(settings.render.output)} is nowhere to publish",
        hint="write git:PATH_OR_URL#BRANCH, or dir:PATH",
    )


def _branch(place: str) -> tuple[str, str]:
    place, hash_, branch = place.rpartition("#")
    return (place, branch) if hash_ else (branch, "main")


def _open_git(
    settings: Settings, place: str, branch: str
) -> tuple[Publisher, Callable[[], object]]:
    from renderer.git.access import Access, Identity, Limits, Signing
    from renderer.publish.git import GitPublisher

    git = settings.git
    signing = None
    if git.signing_key:
        signing = Signing(git.signing_key, git.signing_format, _path(git.signing_home))
    opened = GitPublisher.open(
        place,
        now=lambda: int(time.time()),
        branch=branch,
        mirror=Path(git.mirror),
        identity=Identity(git.name, git.email, signing),
        access=Access(
            git.credential_helper,
            _path(git.key_file),
            _path(git.known_hosts),
            _path(git.ca_file),
        ),
        limits=Limits(
            command_timeout_seconds=git.command_seconds,
            transfer_timeout_seconds=git.transfer_seconds,
            attempts_max=git.tries_max,
        ),
    )
    return opened, opened.tidy


def _path(text: str) -> Path | None:
    return Path(text) if text else None
