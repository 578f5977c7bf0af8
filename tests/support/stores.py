"""How tests open each adapter of the store port.

To put another adapter under the contract suite, add it to ``ADAPTERS``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from graph.store.embedded import EmbeddedStore
from graph.store.neo4j import Neo4jStore
from graph.store.port import Store
from neo4j_process import LTS, NEWEST, Line
from neo4j_server import server


class Opener(Protocol):
    """Opens one record, again and again."""

    async def __call__(self, *, write: bool = True) -> Store: ...


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter, and what a test must know to use it."""

    name: str
    empty: Callable[[Path], Awaitable[Opener]]
    """Give an empty record; the directory is the test's own."""
    writers_max: int
    """How many stores may be open for writing on one record at the same time."""
    marks: tuple[pytest.MarkDecorator, ...] = ()


async def empty_embedded(directory: Path) -> Opener:
    async def opener(*, write: bool = True) -> Store:
        return await EmbeddedStore.open(directory / "fleet.db", write=write)

    return opener


def empty_neo4j(line: Line) -> Callable[[Path], Awaitable[Opener]]:
    async def empty(directory: Path) -> Opener:
        where = server(line)
        where.wipe()

        async def opener(*, write: bool = True) -> Store:
            return await Neo4jStore.open(where.url, user=where.user, password=where.password)

        return opener

    return empty


ADAPTERS = (
    Adapter("embedded", empty_embedded, writers_max=1),
    Adapter("neo4j-lts", empty_neo4j(LTS), writers_max=8, marks=(pytest.mark.neo4j,)),
    Adapter("neo4j-newest", empty_neo4j(NEWEST), writers_max=8, marks=(pytest.mark.neo4j,)),
)
