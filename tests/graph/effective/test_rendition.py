"""Renditions: told what differs, a renderer holds what the state says, whatever has happened."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from effective_checks import advanced, snapshot_of
from graph.effective.key import overlay_key
from graph.effective.portion import Blocked, Bounds, Overlays, Pointers, Portion, Removals
from graph.effective.rendition import Cause, rendition
from graph.effective.spelling import portions
from graph.effective.state import State, begin
from graph.effective.step import advance
from graph.model.command import UpdateCluster
from graph.model.inventory import Capacity, ClusterKind, Reconciler
from graph.model.names import Revision
from graph.model.workload import Choice, FieldTarget, LateBound
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    SetLayer,
)
from renderers import Model, model_of
from small import give, small
from twin import Twin
from workload_fleets import random_workload_changes, random_workloads

FLEETS = {"test": 40, "campaign": 4_000}
STEPS = 15
TINY = Bounds(items_max=3, bytes_max=400)


def told(was: State | None, now: State, bounds: Bounds = TINY) -> list[Portion]:
    return list(portions(rendition(was, now), bounds))


@pytest.mark.volume
@pytest.mark.timeout(12 * 3600)
def test_whoever_is_told_what_differs_holds_what_the_state_says(scale: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(FLEETS[scale]):
        live_through(seed, seen)
    for what in (*Cause, "blocked", "held", "kept overlay", "quiet"):
        assert seen[what] > FLEETS[scale] // 10, f"{what} is too rare: {seen}"


def live_through(seed: int, seen: Counter[str]) -> None:
    """Three renderers: told of every step, now and then, and at the end anew."""
    rng = Random(seed)
    twin = Twin.of(random_workloads(rng))
    snapshot = snapshot_of(twin)
    first = state = seldom_at = begin(snapshot)
    always, seldom = Model(), Model()
    for model in (always, seldom):
        believe(model, None, state, seen)
    for step in range(STEPS):
        changes = random_workload_changes(rng, twin, Revision(step + 2), operations_max=4)
        twin.apply(changes)
        snapshot = advanced(snapshot, changes)
        before, state = state, advance(state, snapshot, changes)
        believe(always, before, state, seen)
        if rng.random() < 0.3:
            # as one that comes back and whose state is worked out anew
            then = begin(seldom_at.view) if rng.random() < 0.5 else seldom_at
            believe(seldom, then, state, seen)
            seldom_at = state
    back = Model()
    believe(back, None, state, seen)
    believe(back, state, first, seen)


def believe(model: Model, was: State | None, now: State, seen: Counter[str]) -> None:
    found = told(was, now)
    model.take(found, now)
    said, should = model.told(), model_of(now)
    for part, expected in should.items():
        assert said[part] == expected, part
    assert not model.dangling()
    seen["quiet"] += not found
    seen["held"] += bool(model.held)
    seen["kept overlay"] += bool(model.kept)
    for portion in found:
        seen["blocked"] += isinstance(portion, Blocked)
        if isinstance(portion, Removals):
            seen.update(each.cause for each in portion.lines)


def asking(tag: int) -> DefineApplication:
    return DefineApplication("till", "shop", values={"tag": tag}, requests=Capacity(500, 1))


def test_of_what_is_blocked_only_the_line_stays_and_its_overlay_follows_those_who_run_it() -> None:
    fleet, model = small(), Model()
    state: State | None = None
    steps: list[dict[str, object]] = []
    for commands in (
        (DefineNamespace("shop"), asking(1), Assign("shops", Choice("shop"), "/geo/us/tx")),
        (UpdateCluster("austin-1", capacity=Capacity(100, 100)),),
        (asking(2),),
        (UpdateCluster("austin-2", capacity=Capacity(100, 100)),),
        (asking(3),),
    ):
        give(fleet, *commands)
        was, state = state, begin(snapshot_of(fleet))
        model.take(told(was, state), state)
        held = {**model.overlays, **model.kept}
        key = overlay_key("till", frozenset())
        digest = held["till", key][1]
        lines = {**model.lines, **model.held}
        assert {pair[1]: lines[pair][1] for pair in lines if pair[0] == "till"} == {
            "austin-1": key,
            "austin-2": key,
        }
        steps.append({"held": len(model.held), "kept": len(model.kept), "digest": digest})
    first, blocked, shared, all_blocked, waiting = steps
    assert [each["held"] for each in steps] == [0, 1, 1, 2, 2]
    assert [each["kept"] for each in steps] == [0, 0, 0, 1, 1], "dropped, and kept by held lines"
    assert first["digest"] == blocked["digest"] != shared["digest"], "as those who run it"
    assert shared["digest"] == all_blocked["digest"] == waiting["digest"], "nobody runs the third"


def pointed(found: list[Portion]) -> dict[str, list[str]]:
    """The applications whose line is told, by cluster."""
    return {
        pointer.cluster: [line.application for line in pointer.lines]
        for portion in found
        if isinstance(portion, Pointers)
        for pointer in portion.pointers
    }


def shop(*late_bound: LateBound) -> Twin:
    """Two applications on both clusters of Texas, and a third that is blocked on one of them."""
    fleet = small()
    give(
        fleet,
        DefineNamespace("shop"),
        DefineApplication("menu", "shop", late_bound=late_bound),
        DefineApplication("board", "shop"),
        DefineApplication("oven", "shop", late_bound=(LateBound("lane"),)),
        SetLayer("lane-two", "cluster austin-2", {"lane": 2}, "oven"),
        Assign("shops", Choice("shop"), "/geo/us/tx"),
    )
    return fleet


@pytest.mark.parametrize(
    "other",
    [
        UpdateCluster("austin-1", reconciler=Reconciler.ARGOCD),
        UpdateCluster("austin-1", reconciler=Reconciler.KUSTOMIZE),
        UpdateCluster("austin-1", kind=ClusterKind.HOST, reconciler=Reconciler.ANSIBLE),
    ],
)
def test_all_that_runs_on_a_cluster_is_told_again_when_it_is_reconciled_otherwise(
    other: UpdateCluster,
) -> None:
    fleet = shop()
    was = begin(snapshot_of(fleet))
    give(fleet, other)
    found = told(was, begin(snapshot_of(fleet)), Bounds())
    assert pointed(found) == {"austin-1": ["board", "menu"]}, "and oven, being blocked, has no say"
    assert [type(portion) for portion in found] == [Pointers]


def test_the_lines_of_an_application_are_told_again_when_its_values_fill_other_fields() -> None:
    host = LateBound("host", "{cluster}", (FieldTarget("Ingress/menu", "/spec/host"),))
    fleet = shop(host)
    was = begin(snapshot_of(fleet))
    elsewhere = replace(host, fields=(FieldTarget("Ingress/menu", "/spec/rules/0/host"),))
    give(fleet, DefineApplication("menu", "shop", late_bound=(elsewhere,)))
    now = begin(snapshot_of(fleet))
    assert pointed(told(was, now, Bounds())) == {"austin-1": ["menu"], "austin-2": ["menu"]}
    give(fleet, DefineApplication("menu", "shop", title="Menu", late_bound=(elsewhere,)))
    assert not pointed(told(now, begin(snapshot_of(fleet)), Bounds())), "a title is in no line"


def test_overlays_are_told_again_when_an_application_has_another_cluster_scoped_object() -> None:
    fleet = shop()
    was = begin(snapshot_of(fleet))
    give(fleet, DefineApplication("board", "shop", cluster_scoped=("ClusterRole/board",)))
    found = told(was, begin(snapshot_of(fleet)), Bounds())
    written = [
        each.application for part in found if isinstance(part, Overlays) for each in part.overlays
    ]
    assert written == ["board"]
    assert not pointed(found)


def test_nothing_is_told_of_what_is_the_same() -> None:
    for seed in range(20):
        snapshot = snapshot_of(Twin.of(random_workloads(Random(seed))))
        one, other = begin(snapshot), begin(snapshot)
        assert told(one, one) == told(one, other) == []
        assert not rendition(one, other)


def test_the_same_states_are_told_alike_however_they_were_reached() -> None:
    for seed in range(30):
        rng = Random(seed)
        twin = Twin.of(random_workloads(rng))
        first = state = begin(snapshot_of(twin))
        snapshot = first.view
        for step in range(4):
            changes = random_workload_changes(rng, twin, Revision(step + 2))
            twin.apply(changes)
            snapshot = advanced(snapshot, changes)  # type: ignore[arg-type]
            state = advance(state, snapshot, changes)
        fresh = begin(snapshot)
        assert told(None, state) == told(None, fresh)
        assert told(first, state) == told(begin(first.view), fresh)


def test_a_portion_is_never_larger_than_its_bounds_unless_one_thing_alone_is() -> None:
    snapshot = snapshot_of(Twin.of(random_workloads(Random(3), clusters=60)))
    whole = told(None, begin(snapshot), Bounds(10_000, 10_000_000))
    assert {type(each) for each in whole} == {type(each) for each in told(None, begin(snapshot))}
    assert len(whole) == len({(type(each)) for each in whole})
    for portion in told(None, begin(snapshot), Bounds(5, 10_000_000)):
        assert items(portion) <= 5 or things(portion) == 1


def things(portion: Portion) -> int:
    return sum(len(getattr(portion, each)) for each in type(portion).__dataclass_fields__)


def items(portion: Portion) -> int:
    """Names, lines and overlays in a portion."""
    found = 0
    for name in type(portion).__dataclass_fields__:
        for each in getattr(portion, name):
            inner = getattr(each, "lines", None) or getattr(each, "clusters", None)
            found += len(inner) if isinstance(inner, tuple) else 1
    return found
