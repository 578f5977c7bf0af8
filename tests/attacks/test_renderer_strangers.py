"""Workers that would undo each other: of a newer format, of other settings, of nobody knows what.

None of them writes a single commit, unless it was told to make its settings count; and then it is
the other one that stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from api_process import Api, begun, calling, eventually
from changing_fleet import FLEET, OWNERS, Changes
from renderer.publish.git import GitPublisher
from renderer.tree import Told
from renderer_process import Record, applied, caught_up, rendering, run
from repositories import git

pytestmark = pytest.mark.asyncio(loop_scope="module")

OTHERS = {"TRELLIS_FORMAT_FLUX_NAMESPACE": "elsewhere"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    directory = tmp_path_factory.mktemp("strangers")
    store = f"sqlite:///{directory / 'trellis.db'}"
    async with begun(store, directory, {}, arguments=["--create"]) as server, calling(server) as it:
        await applied(it, *FLEET)
        yield it


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record.made(tmp_path / "fleet.git", OWNERS)


def stamped(record: Record, stamp: str, revision: str = "1.0000000000000000") -> str:
    """A worker with another stamp publishes."""
    publisher = GitPublisher.open(str(record.repository), now=lambda: 1_700_000_000)
    draft = publisher.begin(publisher.head())
    draft.write("fleet/mark", stamp.encode())
    made = draft.commit(Told("Render", "", revision, stamp))
    publisher.close()
    assert made is not None
    return made.commit


@pytest.mark.parametrize(
    ("stamp", "words"),
    [
        ("3.0123456789ab", ("--once",)),
        ("999999999.0123456789ab", ("--adopt",)),
        ("nonsense", ("--once", "--adopt")),
    ],
)
async def test_a_newer_format_and_what_is_none_is_left_alone(
    api: Api, record: Record, stamp: str, words: tuple[str, ...]
) -> None:
    theirs = stamped(record, stamp)
    directory = record.repository.parent
    said = run(api.server.url, record.path, directory, *words, expect=1)
    assert stamp.partition(".")[0] in said
    assert record.tip == theirs


async def test_other_settings_stop_before_anything_is_written(api: Api, record: Record) -> None:
    url, directory = api.server.url, record.repository.parent
    changes = Changes("settings")
    with rendering(url, record.path, directory) as ours:
        await caught_up(api, ours)
        first = record.tip
        said = run(url, record.path, directory, "--once", expect=1, **OTHERS)
        assert "other settings" in said and "--adopt" in said
        with rendering(url, record.path, directory, OTHERS) as theirs:
            assert await asyncio.to_thread(theirs.wait) == 1
        assert record.tip == first
        await changes.send(api)
        await caught_up(api, ours)
        second = record.tip
        with rendering(url, record.path, directory, OTHERS, arguments=["--adopt"]) as theirs:
            await moved(record, second)
            third = record.tip
            await changes.send(api)
            assert await asyncio.to_thread(ours.wait) == 1, "now it is the other one that stops"
            await caught_up(api, theirs)
            assert theirs.stop() == 0
    made_by = git(
        record.repository,
        "log",
        "--reverse",
        "--format=%(trailers:key=Trellis-Renderer,valueonly,separator=%x20)",
        "main",
    ).split()
    assert len(set(made_by)) == 2
    turn = made_by.index(made_by[-1])
    assert set(made_by[:turn]).isdisjoint(made_by[turn:]), "they did not take turns"
    assert record.tip != third


async def moved(record: Record, since: str) -> None:
    """Wait until somebody has published."""

    async def state() -> bool:
        return record.tip != since

    await eventually(state)
