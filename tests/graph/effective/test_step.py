"""The ways to the next state: through any lens, and read early, late or never."""

from __future__ import annotations

from random import Random

import pytest

from effective_checks import advanced, between, snapshot_of
from graph.effective import step as product
from graph.effective.moves import moves
from graph.effective.state import begin
from graph.effective.step import advance
from graph.model.names import Revision
from twin import Twin
from workload_fleets import random_workload_changes, random_workloads

FLEETS = {"test": 40, "campaign": 4_000}
STEPS = 10


@pytest.mark.volume
@pytest.mark.timeout(12 * 3600)
def test_few_clusters_and_many_lead_to_the_same_state(
    scale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = 0
    for seed in range(FLEETS[scale]):
        random = Random(seed)
        twin = Twin.of(random_workloads(random))
        state = begin(snapshot_of(twin))
        for at in range(STEPS):
            changes = random_workload_changes(random, twin, Revision(at + 2), operations_max=3)
            twin.apply(changes)
            after = advanced(state.view, changes)
            monkeypatch.setattr(product, "FEW_MAX", 0)
            many = advance(state, after, changes)
            monkeypatch.undo()
            few = advance(state, after, changes)
            assert list(moves(state, few)) == list(moves(state, many)), f"seed {seed}, step {at}"
            assert between(few, many) is None, f"seed {seed}, step {at}"
            seen += few.stride is not None and bool(few.stride.verdicts)
            state = few
    assert seen > FLEETS[scale]


def test_a_state_that_nobody_read_leads_on_like_any_other() -> None:
    for seed in range(20):
        random = Random(seed)
        twin = Twin.of(random_workloads(random))
        unread = begin(snapshot_of(twin))
        for at in range(STEPS):
            changes = random_workload_changes(random, twin, Revision(at + 2), operations_max=3)
            twin.apply(changes)
            after = advanced(unread.view, changes)
            unread = advance(unread, after, changes)
        assert between(unread, begin(snapshot_of(twin))) is None, f"seed {seed}"
