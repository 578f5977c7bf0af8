"""Earlier revisions, differences from them and pages of the log, over reading the snapshot file.

The sample fleet is loaded in batches of 10,000 commands, as ``trellis load`` does it, and then
relabelled in many smaller ones; checkpoints are what the writing engine left. Every revision is
read by a timeline that knows the newest alone, and then again. Beside it stands what was done
before there were checkpoints and headers: undo the whole log from the newest revision on, and read
every changeset of a page whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from statistics import median

from bench.result import Row, row
from bench.scale import Measured, Scale
from bench.stores import ACTOR, EmbeddedFleet, copied, embedded
from bench.timing import Watch
from graph.checkpoints import Checkpoints
from graph.engine import Engine
from graph.index.builder import edit
from graph.index.file import read_snapshot
from graph.index.snapshot import Snapshot
from graph.model.command import Batch, UpdateCluster
from graph.model.names import Revision
from graph.settings import GraphSettings
from graph.start import frozen
from graph.store.embedded import EmbeddedStore
from graph.timeline import Timeline

RELABELLED = 40
"""Batches after the load; together they relabel a third of the fleet."""
SELECTOR = "size = large"
FILE = "reading the snapshot file"
FIRST, AGAIN = "Trellis, first", "Trellis, second"
UNDONE = "undone from the newest"
WHOLE = "every changeset whole"


@dataclass(slots=True)
class Seconds:
    """CPU time of each side, one figure a round."""

    file: list[float] = field(default_factory=list[float])
    first: list[float] = field(default_factory=list[float])
    again: list[float] = field(default_factory=list[float])
    before: list[float] = field(default_factory=list[float])


def run(scale: Scale) -> Measured:
    """All of it on one fleet."""
    fleet = copied(embedded(scale.clusters))
    loaded = asyncio.run(_relabel(fleet))
    rows = asyncio.run(_measured(scale, fleet))
    store_bytes = fleet.path.stat().st_size
    sizes = [each.stat().st_size for each in fleet.checkpoints.iterdir()]
    return Measured(
        rows,
        notes=[
            f"the first {loaded} revisions are the load; {len(sizes)} checkpoints of"
            f" {sum(sizes) / 1e6:,.0f} MB beside a store of {store_bytes / 1e6:,.0f} MB"
        ],
    )


async def _measured(scale: Scale, fleet: EmbeddedFleet) -> list[Row]:
    store = await EmbeddedStore.open(fleet.path)
    with frozen():  # as an engine begins
        view = read_snapshot(fleet.snapshot)
    newest = view.cursor.revision
    past = await _revisions(scale, store, fleet, view)
    first = Revision(1)

    async def old_page() -> None:
        for number in range(newest, 0, -1):
            await store.changeset(Revision(number))

    async def old_diff() -> None:
        await _undone(store, view, first)
        await old_page()

    async def page(engine: Engine) -> None:
        found = await engine.changesets(first=newest)
        assert len(found.entries) == newest

    async def diff(engine: Engine) -> None:
        assert (await engine.diff(SELECTOR, await engine.as_of(first))).gained

    pages = await _asked(scale, fleet, store, page, old_page)
    diffs = await _asked(scale, fleet, store, diff, old_diff)
    await store.close()
    size = f"{scale.clusters:,} clusters"
    return [
        *_rows(f"an earlier revision, worst of {newest}, {size}", past, UNDONE, worst=True),
        *_rows(f"an earlier revision, median of {newest}, {size}", past, None),
        *_rows(f"difference since revision 1, {size}", diffs, f"{UNDONE}, {WHOLE}"),
        *_rows(f"page of the log with all {newest} revisions, {size}", pages, WHOLE),
    ]


def _rows(measure: str, spent: Seconds, old: str | None, *, worst: bool = False) -> Iterator[Row]:
    file = median(spent.file)
    figure = max if worst else median
    yield row(measure, FILE, file * 1000, "ms")
    for subject, seconds in ((FIRST, spent.first), (AGAIN, spent.again)):
        yield row(measure, subject, figure(seconds) * 1000, "ms", over=file * 1000, ratio_to=FILE)
    if old is not None:
        before = figure(spent.before) * 1000
        yield row(measure, old, before, "ms", over=file * 1000, ratio_to=FILE)


async def _revisions(
    scale: Scale, store: EmbeddedStore, fleet: EmbeddedFleet, view: Snapshot
) -> Seconds:
    """Every revision, read for the first and for the second time; the oldest the old way too."""
    spent = Seconds()
    settings = GraphSettings()
    for number in range(1, view.cursor.revision):
        rounds = Seconds()
        for _ in range(min(3, scale.rounds)):
            spent.file.append(_cpu_of(lambda: read_snapshot(fleet.snapshot)))
            checkpoints = Checkpoints(fleet.checkpoints, store, settings)
            timeline = Timeline(view, store, settings, checkpoints)
            for seconds in (rounds.first, rounds.again):
                watch = Watch()
                found = await timeline.at(Revision(number))
                seconds.append(watch.spent().cpu)
                assert found.cursor.revision == number
            await timeline.close()
        spent.first.append(median(rounds.first))
        spent.again.append(median(rounds.again))
    for _ in range(min(3, scale.rounds)):
        watch = Watch()
        await _undone(store, view, Revision(1))
        spent.before.append(watch.spent().cpu)
    return spent


async def _asked(
    scale: Scale,
    fleet: EmbeddedFleet,
    store: EmbeddedStore,
    question: Callable[[Engine], Awaitable[None]],
    old: Callable[[], Awaitable[None]],
) -> Seconds:
    """A question to a fresh engine, and once more; and what answered it before."""
    spent = Seconds()
    for _ in range(min(5, scale.rounds)):
        spent.file.append(_cpu_of(lambda: read_snapshot(fleet.snapshot)))
        engine = await Engine.open(
            store, snapshot_file=fleet.snapshot, checkpoints=fleet.checkpoints
        )
        for seconds in (spent.first, spent.again):
            watch = Watch()
            await question(engine)
            seconds.append(watch.spent().cpu)
        watch = Watch()
        await old()
        spent.before.append(watch.spent().cpu)
    return spent


def _cpu_of(work: Callable[[], object]) -> float:
    watch = Watch()
    work()
    return watch.spent().cpu


async def _undone(store: EmbeddedStore, view: Snapshot, revision: Revision) -> Snapshot:
    """The way back before there were checkpoints."""
    draft = edit(view)
    for number in range(view.cursor.revision, revision, -1):
        changeset = await store.changeset(Revision(number))
        draft.apply([each.undone() for each in changeset.changes])
    return draft.freeze((await store.changeset(revision)).cursor)


async def _relabel(fleet: EmbeddedFleet) -> int:
    """Let the log grow after the load; how many revisions it had before."""
    async with fleet.engine() as engine:
        loaded = engine.view.cursor.revision
        names = [engine.view.cluster_name(number) for number in engine.view.everything()]
        size = max(1, len(names) // 3 // RELABELLED)
        for start in range(0, RELABELLED * size, size):
            commands = tuple(
                UpdateCluster(name, labels={"size": "large", "lanes": 4})
                for name in names[start : start + size]
            )
            await engine.execute(Batch(commands, ACTOR, "relabelled"))
    return loaded
