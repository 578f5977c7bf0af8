"""A state through a scope: what is told is what there is, intersected, and names nothing hidden."""

from __future__ import annotations

import re
from random import Random

import pytest

from changes import random_coverage, random_scope
from effective_checks import snapshot_of
from graph.composition.problem import Reason
from graph.effective.account import REACHING, applications_on, reaching, settings_on
from graph.effective.configuration import configurations
from graph.effective.explain import clauses, why
from graph.effective.reading import Reading, Status, blocked_for, having
from graph.effective.state import State, begin
from graph.model.ref import Ref
from graph.scoped import ScopedView
from graph.states import read_through
from told import kitchen, names, reading_of
from twin import Twin
from workload_fleets import random_workloads

FLEETS = {"test": 40, "campaign": 2_000}
WORD = re.compile(r"[a-z0-9-]+")


def test_each_status_has_its_clusters() -> None:
    reading = reading_of(kitchen())
    placement, fleet = reading.placement("grill"), reading.view.everything()
    assert names(reading, having(placement, Status.EFFECTIVE, fleet)) == ["austin-1"]
    assert names(reading, having(placement, Status.LACKING, fleet)) == ["austin-2", "york-1"]
    assert having(placement, Status.UNASSIGNED, fleet) == fleet - placement.assigned
    board = reading.placement("board")
    assert names(reading, having(board, Status.BLOCKED, fleet)) == ["austin-2", "york-1"]
    assert names(reading, blocked_for(board, Reason.DEPENDENCY)) == ["austin-2", "york-1"]
    assert not blocked_for(board, Reason.SCHEMA)


def test_an_application_that_is_not_there_is_nowhere() -> None:
    reading = reading_of(kitchen())
    assert reading.definition("nobody") is None
    assert not reading.placement("nobody").assigned


@pytest.mark.volume
def test_through_a_scope_everything_is_intersected_and_nothing_hidden_is_named(scale: str) -> None:
    hidden = 0
    for seed in range(FLEETS[scale]):
        rng = Random(seed)
        twin = Twin.of(random_workloads(rng))
        snapshot = snapshot_of(twin)
        state = begin(snapshot)
        scope = random_scope(rng, twin)
        for covered in (None, random_coverage(rng)):
            reading = read_through(state, ScopedView(snapshot, scope, covered=covered))
            check_intersected(state, reading)
            hidden += check_named(twin, reading)
    assert hidden > FLEETS[scale], "hardly anything was hidden"


def check_intersected(state: State, reading: Reading) -> None:
    visible, workload = reading.view.everything(), reading.view.workload
    for name in reading.view.workload.applications:
        whole, part = state.placements[name], reading.placement(name)
        for field in ("assigned", "prohibited", "lacking", "placed", "effective"):
            assert getattr(part, field) == getattr(whole, field) & visible, field
        parts = {each.names: each.clusters for each in configurations(reading, name)}
        shown: dict[frozenset[str], set[int]] = {}
        for layers, clusters in whole.configurations.items():
            if seen := set(clusters & visible):
                shown.setdefault(layers & frozenset(workload.layers), set()).update(seen)
        assert {layers: set(clusters) for layers, clusters in parts.items()} == shown


def check_named(twin: Twin, reading: Reading) -> int:
    """Every word of what is told that is the name of a layer or application may be seen."""
    workload = reading.view.workload
    gone = {*twin.workload.layers} - {*workload.layers}
    gone |= {*twin.workload.applications} - {*workload.applications}
    gone |= {*twin.workload.prohibitions} - {*workload.prohibitions}
    gone |= {*twin.workload.assignments} - {*workload.assignments}
    for cluster in reading.view.everything():
        for account in applications_on(reading, cluster):
            assert account.name in workload.applications
            words = told_of(account, reading)
            assert not words & gone, (account.name, words & gone)
        assert {leaf.layer for leaf in settings_on(reading, cluster).leaves} <= {*workload.layers}
        for kind in REACHING:
            for name in reaching(reading, cluster, kind):
                assert reading.shows(Ref(kind, name))
    return len(gone)


def told_of(account, reading: Reading) -> set[str]:
    """Every word of what is told about one application on one cluster."""
    found = why(account.definition, account.cluster, reading)
    texts = [found.summary, str(found.newest.key)]
    for obstacle in (*account.obstacles(), *found.obstacles):
        texts += (obstacle.message, *(str(ref.key) for ref in obstacle.about))
    for each in (*found.assignments, *found.prohibitions):
        texts += (str(each.ref.key), each.through)
        told = clauses(each, account.cluster, reading)
        if told is not None:
            texts.append(told.reason.text)
    texts += (each.application for each in found.dependencies)
    values = account.told()
    if values is not None:
        texts += (leaf.layer for leaf in values.leaves)
    texts += (late.layer for late in account.late())
    return {word for text in texts for word in WORD.findall(text)}
