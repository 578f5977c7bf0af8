"""The benchmark of the renderer runs on a tiny fleet, with real processes, and checks itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from bench import render, render_pace, render_size
from bench.bars import BARS
from bench.render_changes import HUNDRED, ONE, THOUSANDS, changes, movable
from bench.render_fetch import ARTIFACTS, GIT
from bench.render_fleet import RenderedFleet, rendered_fleet
from bench.render_sources import owners_files
from bench.result import Row
from bench.scale import Measured, Scale
from graph.model.workload import Base, Template

TINY = Scale(clusters=300, applications=12, rounds=1, paced_clusters=300, paced_applications=8)
SIZE = f"100 applications, {60_000:,} clusters"


@pytest.fixture(scope="module")
def fleet() -> RenderedFleet:
    return rendered_fleet(TINY.clusters, TINY.applications)


@pytest.fixture(scope="module")
def measured(fleet: RenderedFleet) -> Iterator[Measured]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "ROUNDS", dict.fromkeys(render.ROUNDS, 1))
        yield render.measured_on(fleet, TINY, SIZE)


def subject(rows: list[Row], start: str, name: str) -> Row:
    return next(row for row in rows if row.measure.startswith(start) and row.subject == name)


def test_most_applications_have_a_base_and_the_others_a_template(fleet):
    sources = [each.source for each in fleet.view.workload.applications.values()]
    assert sum(isinstance(each, Base) for each in sources) == 9
    assert sum(isinstance(each, Template) for each in sources) == 3
    assert fleet.owners == owners_files(fleet.view.workload.applications.values())


def test_there_is_a_change_of_every_size_with_a_way_back(fleet):
    found = changes(fleet.view)
    assert {each.touches for each in found} == {ONE, HUNDRED, THOUSANDS}
    assert all(each.there and each.back and each.there != each.back for each in found)
    assert movable(fleet.view)


def test_the_rows_have_the_names_the_bars_look_for(measured):
    held = [bar for bar in BARS if bar.benchmark == "render"]
    assert len(held) == 8
    lacking = {"one file per assignment"} if render_size.kustomize() is None else set[str]()
    for bar in held:
        assert bar.worst(measured.rows) is not None or bar.subject in lacking, bar.promise


def test_another_version_writes_no_pointer_and_who_is_not_affected_fetches_nothing(measured):
    rows = list(measured.rows)
    assert subject(rows, "pointers written", render.TRELLIS).value == 0
    for row in rows:
        if row.subject == f"{ARTIFACTS}, not affected":
            assert row.value == (1 if row.unit == "requests" else 0)
        elif row.subject == f"{ARTIFACTS}, affected":
            assert row.value > 0


def test_a_store_that_clones_fetches_much_more(measured):
    whole = subject(list(measured.rows), "fetched by a store at any commit", GIT)
    assert whole.ratio is not None
    assert whole.ratio > 1


def test_the_pace_is_measured_for_every_worker_at_every_rate(fleet, monkeypatch):
    monkeypatch.setattr(render_pace, "RATES", (20,))
    rows = render_pace.paced(replace(TINY, pace_seconds=0.3))
    assert len(rows) == len(render_pace.RATES) * 3 * 2
    assert all(row.value > 0 for row in rows)
    subjects = {render_pace.TRELLIS, render_pace.AT_ONCE, render_pace.ANEW}
    assert {row.subject for row in rows} == subjects
