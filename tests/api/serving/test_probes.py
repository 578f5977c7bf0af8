"""What the probes say while the store answers, while it is away, and when the process stops."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from api.serving.probes import Readiness, probe_routes
from engines import give
from graph.engine import Engine
from graph.model.command import CreateHierarchy
from graph.store.embedded import EmbeddedStore


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    store = await EmbeddedStore.open(tmp_path / "fleet.db", write=True, create=True)
    engine = await Engine.open(store)
    yield engine
    await engine.close()


async def probe(readiness: Readiness, path: str) -> httpx.Response:
    transport = httpx.ASGITransport(Starlette(routes=probe_routes(readiness)))
    async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
        return await client.get(path)


async def test_a_process_that_has_its_fleet_is_ready_and_says_its_revision(engine: Engine) -> None:
    readiness = Readiness(engine, stale_seconds=900)
    await give(engine, CreateHierarchy("geo"))
    answer = await probe(readiness, "/readyz")
    assert answer.status_code == 200
    said = answer.json()
    assert said.pop("ageSeconds") >= 0
    assert said == {"ready": True, "revision": 1}
    assert answer.headers["cache-control"] == "no-store"


async def test_a_process_that_has_not_heard_from_its_store_lives_but_is_not_ready(
    engine: Engine,
) -> None:
    readiness = Readiness(engine, stale_seconds=1e-9)
    answer = await probe(readiness, "/readyz")
    assert answer.status_code == 503
    assert answer.json()["ready"] is False
    assert "the store has not answered for" in answer.json()["why"]
    assert (await probe(readiness, "/livez")).json() == {"live": True}


async def test_a_process_that_stops_is_not_ready_but_lives(engine: Engine) -> None:
    readiness = Readiness(engine, stale_seconds=900)
    assert not readiness.draining
    readiness.drain()
    assert readiness.draining
    answer = await probe(readiness, "/readyz")
    assert answer.status_code == 503
    assert answer.json()["why"] == "the process is stopping"
    assert (await probe(readiness, "/livez")).status_code == 200


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
async def test_a_probe_only_looks(path: str, engine: Engine) -> None:
    transport = httpx.ASGITransport(
        Starlette(routes=probe_routes(Readiness(engine, stale_seconds=900)))
    )
    async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
        assert (await client.post(path)).status_code == 405
        assert (await client.head(path)).status_code == 200
