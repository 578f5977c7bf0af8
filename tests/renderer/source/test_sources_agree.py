"""One revision is told in one way: the engine of the process and the real wire say the same.

Equal is not enough, for 512 equals 512.0 and is written otherwise. So what is told is compared as
text, in which the type of every value and the order of every map shows; then the files, as bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from awkward_fleets import awkward_fleet
from engines import ticking
from graph.engine import Engine
from graph.model.change import Change, Changeset, Cursor, net
from graph.model.names import Revision
from graph.store.embedded import EmbeddedStore
from graph.store.port import Entry
from history import History, at
from outputs import Output
from renderer.settings import SourceSettings
from renderer.source.engine import EngineSource
from renderer.source.port import Source
from renderer.source.socket import SocketSource
from small_door import small_door
from sources import first_step
from twin import Twin
from workload_fleets import random_workload_changes

FLEETS = {"test": 10, "campaign": 1_000}
CHANGESETS = 3
TINY = {"rendering_items": 3, "rendering_bytes": 1_000}
"""Settings of an API that says little at once."""


@pytest.mark.volume
@pytest.mark.timeout(6 * 3600)
async def test_the_wire_says_what_the_engine_says(tmp_path: Path, scale: str) -> None:
    told: Counter[str] = Counter()
    for seed in range(FLEETS[scale]):
        async with recorded(tmp_path / f"{seed}.db", Random(f"awkward {seed}")) as (engine, past):
            async with small_door(engine) as door:
                here, there = EngineSource(engine), SocketSource(SourceSettings(url=door.ws_url))
                for after in (None, *past):
                    await compare(f"seed {seed} after {after}", here, there, after, told)
            async with small_door(engine, **TINY) as door:
                there = SocketSource(SourceSettings(url=door.ws_url))
                await compare_files(f"seed {seed}", here, there)
    expected = {"Defined", "Settings", "Overlays", "Pointers", "Blocked", "Removals", "Complete"}
    assert told.keys() == expected


async def compare(
    what: str, here: Source, there: Source, after: str | None, told: Counter[str]
) -> None:
    one, other = [await first_step(source, after) for source in (here, there)]
    assert list(map(repr, one)) == list(map(repr, other)), what
    told.update(type(each).__name__ for each in one)


async def compare_files(what: str, here: Source, there: Source) -> None:
    with ExitStack() as stack:
        one, other = (Output(source, stack) for source in (here, there))
        for output in (one, other):
            await output.errands.once()
        assert one.files.files == other.files.files, what
        assert (await other.errands.verify()).whole, what


@asynccontextmanager
async def recorded(file: Path, rng: Random) -> AsyncIterator[tuple[Engine, list[str]]]:
    """An engine over a random history, and the cursors of its earlier revisions."""
    store = await EmbeddedStore.open(file, write=True, create=True)
    history, twin, past = await History.of(store), Twin(), list[str]()
    changes = net(Change(None, entity) for entity in awkward_fleet(rng))
    for number in range(1, CHANGESETS + 2):
        if changes:
            twin.apply(changes)
            revision = Revision(history.cursor.revision + 1)
            made = Changeset(revision, at(revision), "ann", "because", changes)
            past.append(str(history.cursor))
            await history.commit(Entry(made))
        changes = random_workload_changes(rng, twin, Revision(number + 1))
    engine = await Engine.open(store, now=ticking())
    try:
        yield engine, [each for each in past if Cursor.parse(each).revision]
    finally:
        await engine.close()
