"""What effective state must not hang on: names of layers, the order of commands, the way there."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from effective_checks import advanced, between, snapshot_of
from graph.decide.batch import check_batch, decide_batch
from graph.decide.revert import Everything, decide_revert, plan_revert
from graph.effective.state import State, begin
from graph.effective.step import advance
from graph.model.change import Change
from graph.model.command import Batch
from graph.model.errors import TrellisError
from graph.model.names import Revision
from graph.model.ref import Ref
from graph.model.workload import Layer
from naive_workload import text
from twin import Twin
from workload_commands import Wish, all_commands, independent_wishes
from workload_fleets import random_workload_changes, random_workloads, renamed

FLEETS = {"test": 100, "campaign": 5_000}


@pytest.mark.volume
@pytest.mark.timeout(12 * 3600)
def test_the_name_of_a_layer_decides_nothing(scale: str) -> None:
    disputed = 0
    for seed in range(FLEETS[scale]):
        rng = Random(seed)
        facts = random_workloads(rng)
        layers = [entity.name for entity in facts if isinstance(entity, Layer)]
        others = rng.sample(layers, len(layers))
        names = dict(zip(layers, others, strict=True))
        one = begin(snapshot_of(Twin.of(facts)))
        other = begin(snapshot_of(Twin.of(renamed(facts, names))))
        assert nameless(one, lambda name, names=names: names[name]) == nameless(other), seed
        disputed += sum("conflict" in found.blocked for found in one.placements.values())
    assert disputed > FLEETS[scale] // 3, "hardly any layers that nothing orders"


def nameless(state: State, name: Callable[[str], str] = str) -> dict[str, object]:
    """Everything a state says, with each layer called ``name`` of its name."""
    found: dict[str, object] = {"oversubscribed": set(state.oversubscribed)}
    for application, each in state.placements.items():
        stack = state.definitions[application].stack
        found[application] = {
            frozenset(map(name, names)): (
                set(clusters),
                text(stack.compose(names).values),
                {problem.reason for problem in each.problems.get(names, ())},
                {
                    (clash.path, frozenset((name(clash.one), name(clash.other))))
                    for clash in stack.compose(names).conflicts
                },
            )
            for names, clusters in each.configurations.items()
        }
        found[f"{application} sets"] = (
            each.assigned, each.prohibited, each.lacking, each.placed, each.effective, each.blocked
        )  # fmt: skip
    return found


@pytest.mark.volume
@pytest.mark.timeout(12 * 3600)
def test_the_order_of_independent_commands_in_a_batch_does_not_matter(scale: str) -> None:
    accepted = 0
    for seed in range(FLEETS[scale]):
        rng = Random(seed)
        twin = Twin.of(random_workloads(rng))
        wishes = independent_wishes(rng, twin)
        outcomes = [decided(twin, order) for order in (wishes, wishes[::-1], shuffled(rng, wishes))]
        assert all(outcome == outcomes[0] for outcome in outcomes), f"seed {seed}: {outcomes}"
        if isinstance(outcomes[0], tuple):
            accepted += len(wishes) > 1
            together = after(twin, outcomes[0])
            apart = one_by_one(twin, shuffled(rng, wishes))
            difference = between(together, apart)
            assert difference is None, f"seed {seed}, one by one: {difference}"
    assert accepted > FLEETS[scale] // 4, f"only {accepted:,} batches were accepted"


def decided(twin: Twin, wishes: list[Wish]) -> tuple[Change, ...] | type[TrellisError]:
    """The changes of the batch in this order, or how it was refused."""
    batch = Batch(all_commands(wishes), "ana", "because")
    check_batch(batch)
    try:
        return decide_batch(batch, twin, twin.copy())
    except TrellisError as refusal:
        return type(refusal)


def shuffled(rng: Random, wishes: list[Wish]) -> list[Wish]:
    return rng.sample(wishes, len(wishes))


def after(twin: Twin, changes: tuple[Change, ...]) -> State:
    snapshot = snapshot_of(twin)
    return advance(begin(snapshot), advanced(snapshot, changes), changes)


def one_by_one(twin: Twin, wishes: list[Wish]) -> State:
    """The state when every wish is a batch of its own."""
    twin = twin.copy()
    snapshot = snapshot_of(twin)
    state = begin(snapshot)
    for wish in wishes:
        changes = decide_batch(Batch(wish.commands, "ana", "because"), twin, twin.copy())
        twin.apply(changes)
        snapshot = advanced(snapshot, changes)
        state = advance(state, snapshot, changes)
    return state


@pytest.mark.volume
@pytest.mark.timeout(12 * 3600)
def test_a_revert_restores_effective_state_exactly(scale: str) -> None:
    moved = restored = 0
    for seed in range(FLEETS[scale]):
        rng = Random(seed)
        then = Twin.of(random_workloads(rng))
        start = begin(snapshot_of(then))
        now, touched = then.copy(), set[Ref]()
        for step in range(rng.randint(1, 6)):
            changes = random_workload_changes(rng, now, Revision(step + 2))
            now.apply(changes)
            touched |= {change.ref for change in changes}
        snapshot = snapshot_of(now)
        state = begin(snapshot)
        moved += between(state, start) is not None
        plan = plan_revert(Everything(), then, now, touched, now.copy)
        if plan.left:  # a name went to another application or namespace, which is final
            assert all(line.endswith(" now") for line in plan.left), f"seed {seed}: {plan.left}"
            continue
        restored += 1
        changes = decide_revert(plan.command, now, Revision(9))
        back = advance(state, advanced(snapshot, changes), changes)
        difference = between(back, start)
        assert difference is None, f"seed {seed}: {difference}"
    assert moved > FLEETS[scale] // 2, "the changes hardly changed the state"
    assert restored > FLEETS[scale] // 2, "hardly anything could be restored"
