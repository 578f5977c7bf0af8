"""What runs where: worked out from nothing, previewed, explained; and what one changed store costs.

A preview is the whole of it: the batch is decided, the next state made, compared with the one
before, and judged. Beside it, in the same run, the state is made from nothing.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import cycle
from typing import Any, TypeVar, cast

from bench.result import ROOT, Row, row
from bench.scale import Measured, Scale
from bench.start import MEGABYTE, TIMEOUT_SECONDS
from bench.stores import directory
from bench.timing import Spent, Watch, Work
from bench.workload_changes import Kind, kinds_of_change
from bench.workload_loop import one_changed_store
from bench.workload_view import workload_view
from graph.effective.explain import why
from graph.effective.reading import Reading
from graph.effective.state import State, begin
from graph.engine import Engine, Preview
from graph.index.snapshot import Snapshot
from graph.model.names import ClusterNumber
from graph.settings import GraphSettings
from graph.store.embedded import EmbeddedStore

FEWER, MORE = 100, 300
"""Applications."""
TRELLIS, ANEW = "Trellis", "everything anew"
FULL_STATE = "full effective state"
EXPLAINED = "why an application is on a cluster, or is not"
ROUNDS_MAX = 9
T = TypeVar("T")


def run(scale: Scale) -> Measured:
    """The bars with a hundred applications, and the same again with three times as many."""
    rows: list[Row] = []
    notes: list[str] = []
    for applications in (FEWER, MORE):
        view = workload_view(scale.clusters, applications)
        measured = measured_on(
            view, scale, f"{applications} applications, {scale.clusters:,} clusters"
        )
        rows += measured.rows
        notes += measured.notes
        rows += _memory(scale.clusters, applications)
        workload_view.cache_clear()
    rows += one_changed_store(scale)
    return Measured(rows, notes)


def measured_on(view: Snapshot, scale: Scale, size: str) -> Measured:
    """Everything on one fleet, called by its ``size``."""
    engine = engine_of(view)
    state = asyncio.run(engine.reading(view)).state
    gc.collect()
    gc.freeze()
    kinds = kinds_of_change(view)
    works: dict[str, Work] = {FULL_STATE: partial(begin, view), EXPLAINED: _explained(state)}
    works |= {kind.name: _previewed(engine, kind) for kind in kinds}
    told = list(_told(engine, kinds, size))
    spent = scale.timed(works, rounds_max=ROUNDS_MAX)
    gc.unfreeze()
    rows = [
        row(f"{FULL_STATE}, {size}", TRELLIS, spent[FULL_STATE].cpu, "s"),
        row(f"{EXPLAINED}, {size}", TRELLIS, spent[EXPLAINED].cpu * 1e6, "us"),
        *(each for kind in kinds for each in _rows(kind, spent, size)),
    ]
    notes = [_shape(state, size), *told]
    asyncio.run(engine.close())
    return Measured(rows, notes)


def _rows(kind: Kind, spent: dict[str, Spent], size: str) -> Iterator[Row]:
    measure = f"preview, {kind.touches}: {kind.name}, {size}"
    ours, anew = spent[kind.name].cpu * 1e6, spent[FULL_STATE].cpu * 1e6
    yield row(measure, TRELLIS, ours, "us")
    yield row(measure, ANEW, anew, "us", over=ours, ratio_to=TRELLIS)


def engine_of(view: Snapshot) -> Engine:
    """An engine that shows ``view``; nothing is read from its store or written to it."""
    store = asyncio.run(EmbeddedStore.open(directory() / "empty.db"))
    return Engine(
        store,
        view,
        settings=GraphSettings(),
        snapshot_file=None,
        archive=None,
        checkpoints=None,
        now=lambda: datetime.now(UTC),
    )


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """The result of work that waits for nobody, without an event loop around it."""
    try:
        work.send(None)
    except StopIteration as done:
        return cast(T, done.value)
    raise AssertionError("it waits for something")


def _previewed(engine: Engine, kind: Kind) -> Work:
    turns = cycle(kind.batches)
    return lambda: at_once(engine.preview(next(turns)))


def _explained(state: State) -> Work:
    """Every application on clusters spread over the fleet, one after the other."""
    reading = Reading(state, state.view)
    numbers = state.view.everything().numbers()
    some = cycle([ClusterNumber(each) for each in numbers[:: max(1, len(numbers) // 97)]])
    definitions = cycle(state.definitions.values())
    return lambda: why(next(definitions), next(some), reading)


def _shape(state: State, size: str) -> str:
    placements = state.placements.values()
    counts = [len(each.configurations) for each in placements]
    return (
        f"{size}: {sum(len(each.placed) for each in placements):,} applications on clusters, "
        f"{len(state.view.workload.layers):,} layers, {sum(counts):,} distinct configurations, "
        f"{max(counts):,} of them of one application"
    )


def _told(engine: Engine, kinds: list[Kind], size: str) -> Iterator[str]:
    for kind in kinds:
        watch = Watch()
        at_once(engine.preview(kind.batches[0]))
        first = watch.spent().cpu * 1_000
        done: list[Preview] = [at_once(engine.preview(batch)) for batch in kind.batches]
        moved = sum(len(each.moves) for each in done) / len(done)
        pointers = sum(len(move.repointed) for each in done for move in each.moves) / len(done)
        yield (
            f"{size}, {kind.name}: {moved:,.3g} applications differ, "
            f"{pointers:,.0f} pointers of clusters; {first:,.3g} ms the first time"
        )


def _memory(clusters: int, applications: int) -> Iterator[Row]:
    """Of the state beside the index, from a fresh process."""
    command = [sys.executable, "-m", "bench.workload_memory", str(clusters), str(applications)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
    )
    if done.returncode:
        raise RuntimeError(f"the child could not be measured: {done.stderr[-2000:]}")
    added = json.loads(done.stdout)["added"] / MEGABYTE
    size = f"{applications} applications, {clusters:,} clusters"
    yield row(f"memory of the effective state, {size}", "resident", added, "MB")
