from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from graph.store.port import Store
from history import BUSINESS, History
from stores import ADAPTERS, Adapter, Opener


@pytest.fixture(params=[pytest.param(each, id=each.name, marks=each.marks) for each in ADAPTERS])
def adapter(request: pytest.FixtureRequest) -> Adapter:
    """The adapter under test."""
    found = request.param
    assert isinstance(found, Adapter)
    return found


@pytest.fixture
async def open_store(adapter: Adapter, tmp_path: Path) -> AsyncIterator[Opener]:
    """Open the test's own record, empty at first, as often as wanted."""
    opener = await adapter.empty(tmp_path)
    opened: list[Store] = []

    async def open_and_remember(*, write: bool = True) -> Store:
        opened.append(await opener(write=write))
        return opened[-1]

    yield open_and_remember
    for store in opened:
        await store.close()


@pytest.fixture
async def store(open_store: Opener) -> Store:
    """An empty record, open for writing."""
    return await open_store()


@pytest.fixture
async def restart(store: Store, open_store: Opener) -> Callable[[], Awaitable[Store]]:
    """Close the record and open it again."""

    async def close_and_open() -> Store:
        await store.close()
        return await open_store()

    return close_and_open


@pytest.fixture
async def history(store: Store) -> History:
    """The record with the small business in it, at revision 1."""
    history = await History.of(store)
    await history.put(*BUSINESS)
    return history
