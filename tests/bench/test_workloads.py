"""The benchmark of workloads runs on a tiny fleet, and measures what it says."""

from __future__ import annotations

import asyncio

from bench import workloads
from bench.bars import BARS
from bench.scale import Scale
from bench.workload_changes import SIZES, kinds_of_change
from bench.workload_loop import LOOP, TRELLIS, one_changed_store
from bench.workload_view import workload_view
from graph.effective.state import begin

TINY = Scale(clusters=300, rounds=1, round_seconds=0.001, starts=1, node=False, neo4j=False)
APPLICATIONS = 6


def test_every_kind_of_change_can_be_previewed_and_touches_what_it_says():
    view = workload_view(TINY.clusters, APPLICATIONS)
    kinds = kinds_of_change(view)
    assert {kind.touches for kind in kinds} == set(SIZES)
    engine = workloads.engine_of(view)
    asyncio.run(engine.reading(view))
    for kind in kinds:
        for batch in kind.batches:
            assert workloads.at_once(engine.preview(batch)).changes, kind.name
    asyncio.run(engine.close())


def test_the_rows_have_the_names_the_bars_look_for():
    view = workload_view(TINY.clusters, APPLICATIONS)
    size = f"100 applications, {60_000:,} clusters"
    rows = workloads.measured_on(view, TINY, size).rows
    held = [bar for bar in BARS if bar.benchmark == "workloads"]
    assert len(held) == 5
    assert all(bar.worst(rows) is not None for bar in held)


def test_layers_of_the_fleet_neither_clash_nor_break_a_schema():
    state = begin(workload_view(TINY.clusters, APPLICATIONS))
    assert not any(each.problems for each in state.placements.values())
    assert not state.oversubscribed


def test_both_sides_of_one_changed_store_choose_alike_and_are_measured():
    subjects = [row.subject for row in one_changed_store(TINY)]
    assert subjects == [TRELLIS, LOOP] * 2
