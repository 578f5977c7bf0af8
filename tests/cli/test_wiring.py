"""Settings reach the store they are about."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, socket

import pytest

from cli.settings import Settings, read_settings
from cli.wiring import open_store
from graph.model.errors import NotFound, Unavailable
from graph.store.port import Claim, Entry
from neo4j_server import server

START = datetime(2026, 1, 1, tzinfo=UTC)


async def is_kept_after(days: int, settings: Settings) -> bool:
    """Whether a receipt is still there when the next one is written ``days`` later."""
    store = await open_store(settings, write=True, create=True)
    try:
        head = (await store.head()).cursor
        for key, now in (("first", START), ("next", START + timedelta(days=days))):
            await store.commit([Entry(None, Claim("ann", key, "d"))], expected=head, now=now)
        return await store.kept("ann", "first") is not None
    finally:
        await store.close()


@pytest.mark.parametrize(("days", "kept"), [(2, True), (3, False)])
async def test_the_embedded_store_keeps_receipts_as_long_as_set(
    days: int, kept: bool, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'fleet.db'}"
    settings = read_settings({"TRELLIS_STORE_URL": url, "TRELLIS_STORE_RECEIPTS_KEPT_DAYS": "2"})
    assert await is_kept_after(days, settings) is kept


@pytest.fixture
def neo4j_settings() -> dict[str, str]:
    """The environment of a process that uses the session's server, which is empty."""
    shared = server()
    shared.wipe()
    return {
        "TRELLIS_STORE_URL": shared.url,
        "TRELLIS_NEO4J_USER": shared.user,
        "TRELLIS_NEO4J_PASSWORD": shared.password,
    }


@pytest.mark.neo4j
@pytest.mark.parametrize(("days", "kept"), [(2, True), (3, False)])
async def test_neo4j_keeps_receipts_as_long_as_set(
    days: int, kept: bool, neo4j_settings: dict[str, str]
) -> None:
    settings = read_settings(neo4j_settings | {"TRELLIS_STORE_RECEIPTS_KEPT_DAYS": "2"})
    assert await is_kept_after(days, settings) is kept


@pytest.mark.neo4j
async def test_an_empty_database_is_left_empty_unless_told(
    neo4j_settings: dict[str, str],
) -> None:
    settings = read_settings(neo4j_settings)
    for write in (False, True):
        with pytest.raises(NotFound, match="holds no record"):
            await open_store(settings, write=write, create=False)


@pytest.fixture
def silent() -> Iterator[int]:
    """A port where somebody listens and never answers."""
    with socket(AF_INET, SOCK_STREAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield int(listener.getsockname()[1])


async def test_a_server_that_never_answers_is_waited_for_as_long_as_set(silent: int) -> None:
    settings = read_settings(
        {
            "TRELLIS_STORE_URL": f"bolt://127.0.0.1:{silent}",
            "TRELLIS_NEO4J_READ_SECONDS": "0.3",
        }
    )
    started = time.monotonic()
    with pytest.raises(Unavailable, match="did not answer in time"):
        await open_store(settings, write=False, create=False)
    unset = 10
    assert 0.3 <= time.monotonic() - started < unset
