"""Effective state against the naive evaluator and against itself, on random fleets and changes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pytest

from effective_checks import advanced, against_naive, between, broken_partition, snapshot_of
from graph.composition.problem import Reason
from graph.effective.state import State, begin
from graph.effective.step import advance
from graph.model.names import Revision
from naive_workload import Naive, Standing
from twin import Twin
from workload_fleets import random_workload_changes, random_workloads

CHANGESETS = {"test": 5_000, "campaign": 200_000}
STEPS = 25
MANY_AT_ONCE = 20
"""Operations in the changesets that change a good part of the fleet."""


@dataclass(slots=True)
class Tally:
    """What was seen, so that a run in which something never happened fails."""

    changesets: int = 0
    changes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])

    def take(self, naive: Naive) -> None:
        for outcomes in naive.outcomes.values():
            for outcome in outcomes.values():
                self.outcomes[outcome.standing.value] += 1
                self.outcomes["effective"] += outcome.effective
                self.outcomes.update(reason.value for reason in outcome.reasons)
                self.outcomes["several layers"] += len(outcome.layers) > 1


@pytest.mark.volume
@pytest.mark.timeout(12 * 3600)
def test_every_state_is_the_naive_one_however_it_was_reached(scale: str) -> None:
    tally = Tally()
    seed = 0
    while tally.changesets < CHANGESETS[scale]:
        live_through(seed, tally)
        seed += 1
    assert tally.changes > tally.changesets
    total = sum(tally.outcomes[standing.value] for standing in Standing)
    for outcome in (*Standing, *Reason):
        seen = tally.outcomes[outcome.value]
        assert seen > total // 200, f"{outcome} is too rare: {seen:,} of {total:,}"
    assert tally.outcomes["effective"] > total // 20
    assert tally.outcomes["several layers"] > total // 20
    print(f"{tally.changesets:,} changesets, {tally.changes:,} changes, {dict(tally.outcomes)}")


def live_through(seed: int, tally: Tally) -> None:
    """One random fleet through random changesets, compared after every one of them."""
    rng = Random(seed)
    twin = Twin.of(random_workloads(rng))
    snapshot = snapshot_of(twin)
    state = fresh = begin(snapshot)
    compare(seed, "the first state", state, fresh, twin, tally)
    for step in range(STEPS):
        operations_max = MANY_AT_ONCE if step % 8 == 7 else 3
        changes = random_workload_changes(
            rng, twin, Revision(step + 2), operations_max=operations_max
        )
        before, earlier = snapshot, state
        twin.apply(changes)
        snapshot = advanced(snapshot, changes)
        state, fresh = advance(earlier, snapshot, changes), begin(snapshot)
        compare(seed, f"step {step}", state, fresh, twin, tally)
        back = advance(state, before, [change.undone() for change in changes])
        difference = between(back, earlier)
        assert difference is None, f"seed {seed}, step {step} undone: {difference}"
        tally.changesets += 1
        tally.changes += len(changes)


def compare(seed: int, what: str, state: State, fresh: State, twin: Twin, tally: Tally) -> None:
    naive = Naive.of(twin)
    for against, difference in (
        ("from scratch", between(state, fresh)),
        ("naive", against_naive(state, naive)),
        ("adding up", broken_partition(state)),
    ):
        assert difference is None, f"seed {seed}, {what}, {against}: {difference}"
    tally.take(naive)
