"""A served fleet for every attack, over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from doors import Served, opened, served
from graph.engine import Engine
from issuer import Issuer, issuing


@pytest.fixture(scope="session")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Issuer]:
    with issuing(tmp_path_factory.mktemp("issuer")) as running:
        yield running


@pytest.fixture
async def engine(tmp_path) -> AsyncIterator[Engine]:
    async with opened(tmp_path) as engine:
        yield engine


@pytest.fixture
async def door(engine: Engine, issuer: Issuer) -> AsyncIterator[Served]:
    async with served(engine, issuer=issuer) as running:
        yield running
