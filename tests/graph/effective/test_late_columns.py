"""Where late-bound values differ between two states: all of them, and at the cost of a few."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from effective_checks import advanced, snapshot_of
from graph.effective import late_columns as product
from graph.effective.late import same_values
from graph.effective.late_columns import late_columns, rebound
from graph.effective.moves import moves
from graph.effective.rendition import rendition
from graph.effective.state import State, begin
from graph.effective.step import advance
from graph.model.cluster_set import ClusterSet
from graph.model.command import Command
from graph.model.names import Revision
from graph.model.workload import Choice, LateBound
from graph.model.workload_command import Assign, DefineApplication, DefineNamespace, SetLayer
from small import give, small
from twin import Twin
from workload_fleets import random_workload_changes, random_workloads

FLEETS = {"test": 60, "campaign": 6_000}
STEPS = 12

TILL: tuple[Command, ...] = (
    DefineNamespace("shop"),
    DefineApplication("till", "shop", late_bound=(LateBound("host", "{cluster}"),)),
    Assign("shops", Choice("shop"), "all"),
    SetLayer("texan", "/geo/us/tx", {"host": "tx", "lanes": 1}, "till"),
)


@pytest.mark.volume
@pytest.mark.timeout(12 * 3600)
def test_every_cluster_with_other_values_is_found_and_no_other(scale: str) -> None:
    seen = of_other_layers = 0
    for seed in range(FLEETS[scale]):
        rng = Random(seed)
        twin = Twin.of(random_workloads(rng))
        first = state = begin(snapshot_of(twin))
        snapshot = snapshot_of(twin)
        for step in range(STEPS):
            changes = random_workload_changes(rng, twin, Revision(step + 2), operations_max=6)
            twin.apply(changes)
            snapshot = advanced(snapshot, changes)
            before, state = state, advance(state, snapshot, changes)
            for was, now in ((before, state), (first, state), (before, begin(snapshot))):
                for name in was.definitions.keys() & now.definitions.keys():
                    stayed = was.placements[name].placed & now.placements[name].placed
                    found = rebound(name, was, now, stayed)
                    assert found == one_by_one(name, was, now, stayed), f"{seed}, {step}, {name}"
                    seen += bool(found)
                    of_other_layers += bool(found) and binds_alike(name, was, now)
    assert seen > of_other_layers > FLEETS[scale], "hardly anything was bound otherwise"


def one_by_one(name: str, was: State, now: State, stayed: ClusterSet) -> ClusterSet:
    before = late_columns(was.definitions[name], was, stayed)
    after = late_columns(now.definitions[name], now, stayed)
    return ClusterSet.of([each for each in stayed if not same_values(before[each], after[each])])


def binds_alike(name: str, was: State, now: State) -> bool:
    old, new = was.definitions[name], now.definitions[name]
    return old is not new and old.application.late_bound == new.application.late_bound


@pytest.mark.parametrize(
    ("command", "looked_at", "differ"),
    [
        (SetLayer("one", "cluster austin-1", {"host": "x"}, "till"), {"austin-1"}, {"austin-1"}),
        (SetLayer("one", "cluster austin-1", {"host": "tx"}, "till"), {"austin-1"}, set()),
        (SetLayer("one", "cluster austin-1", {"lanes": 2}, "till"), set(), set()),
        (SetLayer("texan", "/geo/us/tx", {"host": "tx", "lanes": 2}, "till"), set(), set()),
        (
            SetLayer("texan", "/geo/us/ny", {"host": "tx", "lanes": 1}, "till"),
            {"austin-1", "austin-2", "york-1"},
            {"austin-1", "austin-2", "york-1"},
        ),
    ],
)
def test_no_cluster_is_looked_at_that_no_changed_layer_reaches(
    monkeypatch: pytest.MonkeyPatch, command: Command, looked_at: set[str], differ: set[str]
) -> None:
    asked: set[int] = set()

    def watched(definition: Any, state: State, among: ClusterSet) -> Any:
        asked.update(among)
        return late_columns(definition, state, among)

    twin = small()
    give(twin, *TILL)
    was = begin(snapshot_of(twin))
    changes = give(twin, command)
    now = advance(was, advanced(was.view, changes), changes)  # type: ignore[arg-type]
    monkeypatch.setattr(product, "late_columns", watched)
    placed = now.placements["till"].placed
    names = {number: now.view.cluster_name(number) for number in placed}
    found = rebound("till", was, now, placed)
    assert {names[each] for each in found} == differ
    for _ in (*moves(was, now), rendition(was, now)):
        assert {name for number, name in names.items() if number in asked} == looked_at
