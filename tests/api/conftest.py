"""A fleet, and the same fleet served: for what is tested through the door."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from doors import Served, opened, served
from graph.engine import Engine
from issuer import Issuer, issuing


@pytest.fixture(scope="session")
def an_issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Issuer]:
    with issuing(tmp_path_factory.mktemp("issuer")) as running:
        yield running


@pytest.fixture
async def fleet(tmp_path) -> AsyncIterator[Engine]:
    async with opened(tmp_path) as engine:
        yield engine


@pytest.fixture
async def door(fleet: Engine, an_issuer: Issuer) -> AsyncIterator[Served]:
    async with served(fleet, issuer=an_issuer, get_queries=True) as running:
        yield running
