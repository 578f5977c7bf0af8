"""The index, its evaluation and its history against the twin, on random fleets and changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import pytest

from changes import Selectors, random_changes, random_fleet
from graph.index.builder import build, edit
from graph.index.snapshot import Snapshot
from graph.model.change import Change
from graph.model.names import Revision
from graph.targeting.evaluate import count, evaluate
from twin import START, Twin, same_fleet, twin_select

COMPARISONS = {"test": 100_000, "campaign": 10_000_000}
STEPS = 10
SELECTORS_A_STEP = 100


@dataclass(slots=True)
class Tally:
    """What was compared, so that a run that compares too little fails."""

    selectors: int = 0
    chosen: int = 0
    fleets: int = 0
    changes: int = 0


@pytest.mark.volume
@pytest.mark.timeout(6 * 3600)
def test_every_selector_chooses_what_the_twin_chooses_after_every_change(scale: str) -> None:
    tally = Tally()
    seed = 0
    while tally.selectors < COMPARISONS[scale]:
        live_through(seed, tally)
        seed += 1
    assert tally.selectors >= COMPARISONS[scale]
    assert tally.fleets == seed * (STEPS + 1)
    assert tally.changes > tally.fleets, "the change sequences were empty"
    assert tally.chosen > tally.selectors, "the selectors chose next to nothing"
    print(
        f"{tally.selectors:,} selectors over {tally.fleets:,} fleets, "
        f"{tally.changes:,} changes, {tally.chosen:,} clusters chosen"
    )


def live_through(seed: int, tally: Tally) -> None:
    """One random fleet through a few random changesets, compared at every one of them."""
    rng = Random(seed)
    facts = random_fleet(rng)
    twin = Twin.of(facts)
    snapshot = rebuilt = build(facts, cursor=START, numbers=twin.numbers)
    compare(seed, "the first fleet", snapshot, twin)
    tally.fleets += 1
    for step in range(STEPS):
        changes = random_changes(rng, twin, Revision(step + 2))
        twin.apply(changes)
        after = advanced(snapshot, changes)
        compare(seed, f"step {step}", after, twin)
        compare(seed, f"step {step}, an earlier snapshot", snapshot, rebuilt)
        rebuilt_after = build(twin.entities(), cursor=START, numbers=twin.numbers)
        compare(seed, f"step {step}, built from scratch", after, rebuilt_after)
        undone = [change.undone() for change in changes]
        back = advanced(after, undone) if step % 2 else advanced(snapshot, changes, undone)
        compare(seed, f"step {step}, undone", back, rebuilt, ignoring=("numbers",))
        snapshot, rebuilt = after, rebuilt_after
        tally.fleets += 1
        tally.changes += len(changes)
        compare_selectors(seed, rng, snapshot, twin, tally)


def advanced(snapshot: Snapshot, *changesets: Sequence[Change]) -> Snapshot:
    draft = edit(snapshot)
    for changes in changesets:
        draft.apply(changes)
    return draft.freeze(START)


def compare(
    seed: int,
    what: str,
    one: Snapshot,
    other: Snapshot | Twin,
    *,
    ignoring: tuple[str, ...] = (),
) -> None:
    difference = same_fleet(one, other, ignoring=ignoring)
    assert difference is None, f"seed {seed}, {what}: {difference}"


def compare_selectors(seed: int, rng: Random, snapshot: Snapshot, twin: Twin, tally: Tally) -> None:
    selectors = Selectors.over(rng, twin)
    for _ in range(SELECTORS_A_STEP):
        selector = selectors.tree(3)
        wanted = twin_select(selector, twin)
        found = evaluate(selector, snapshot)
        assert set(found) == wanted, f"seed {seed}: {selector}"
        assert count(selector, snapshot) == len(wanted), f"seed {seed}: count of {selector}"
        tally.selectors += 1
        tally.chosen += len(wanted)
