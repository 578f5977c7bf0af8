"""What a change does to what runs, against two naive evaluations side by side."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from effective_checks import advanced, snapshot_of
from graph.composition.problem import Reason
from graph.effective.moves import Move, moves
from graph.effective.state import State, begin
from graph.effective.step import advance
from graph.model.names import Revision
from naive_workload import Naive, Outcome, Standing, text
from twin import Twin
from workload_fleets import random_workload_changes, random_workloads

CHANGESETS = {"test": 400, "campaign": 40_000}
STEPS = 20
NOT_THERE = Outcome(Standing.UNASSIGNED)


@pytest.mark.volume
@pytest.mark.timeout(12 * 3600)
def test_moves_are_the_difference_of_two_naive_states(scale: str) -> None:
    compared = seen = seed = 0
    while compared < CHANGESETS[scale]:
        rng = Random(seed)
        twin = Twin.of(random_workloads(rng))
        state, naive = begin(snapshot_of(twin)), Naive.of(twin.copy())
        for step in range(STEPS):
            changes = random_workload_changes(rng, twin, Revision(step + 2), operations_max=4)
            twin.apply(changes)
            after = advanced(state.view, changes)
            now, naive_now = advance(state, after, changes), Naive.of(twin.copy())
            quick = {move.application: move for move in moves(state, now)}
            slow = {move.application: move for move in moves(state, begin(after))}
            for one, way in ((quick, "from the step"), (slow, "from two states")):
                difference = against_naive(one, naive, naive_now, state, now)
                assert difference is None, f"seed {seed}, step {step}, {way}: {difference}"
            seen += len(quick)
            compared += 1
            state, naive = now, naive_now
        seed += 1
    assert seen > compared // 2, "hardly anything moved"


def against_naive(
    found: dict[str, Move], was: Naive, now: Naive, before: State, after: State
) -> str | None:
    for name in was.outcomes.keys() | now.outcomes.keys():
        move = found.get(name)
        expected = naive_move(name, was, now)
        for part, clusters in expected.items():
            told = set() if move is None else _part(move, part)
            if told != clusters:
                return f"{name} {part}: {told} against {clusters}"
        if move is not None:
            shown = {
                each for each in move.reconfigured if not _defined_anew(name, before, after, move)
            }
            wrong = shown - reconfigured(name, was, now)
            missing = reconfigured(name, was, now) - set(move.reconfigured)
            if wrong or missing:
                return f"{name} reconfigured: {wrong} told and are not, {missing} are and untold"
        elif reconfigured(name, was, now):
            return f"{name}: nothing told, {reconfigured(name, was, now)} differ"
    return None


def naive_move(name: str, was: Naive, now: Naive) -> dict[str, set[int]]:
    before, after = was.outcomes.get(name, {}), now.outcomes.get(name, {})
    numbers = before.keys() | after.keys()
    pairs = [(each, before.get(each, NOT_THERE), after.get(each, NOT_THERE)) for each in numbers]
    expected = {
        "gained": {at for at, old, new in pairs if new.effective and not _placed(old)},
        "lost": {at for at, old, new in pairs if _placed(old) and not _placed(new)},
        "freed": {
            at for at, old, new in pairs if _placed(old) and not old.effective and new.effective
        },
    }
    for reason in Reason:
        if reason in (Reason.SCHEMA, Reason.CONFLICT):
            continue  # where layers conflict the naive values are not defined
        expected[reason.value] = {
            at for at, old, new in pairs if reason in new.reasons and reason not in old.reasons
        }
    return expected


def reconfigured(name: str, was: Naive, now: Naive) -> set[int]:
    """Placed before and now, in doubt about no value, with other values."""
    before, after = was.outcomes.get(name, {}), now.outcomes.get(name, {})
    return {
        at
        for at in before.keys() & after.keys()
        if _placed(before[at])
        and _placed(after[at])
        and not _doubtful(before[at])
        and not _doubtful(after[at])
        and _told(before[at]) != _told(after[at])
    }


def _doubtful(outcome: Outcome) -> bool:
    return Reason.CONFLICT in outcome.reasons


def _told(outcome: Outcome) -> tuple[Any, Any]:
    return text(outcome.values), text(outcome.late)


def _placed(outcome: Outcome) -> bool:
    return outcome.standing is Standing.PLACED


def _defined_anew(name: str, before: State, after: State, move: Move) -> bool:
    """Whether more than values may have changed: then everybody is reconfigured."""
    return before.definitions[name] is not after.definitions[name] or any(
        Reason.CONFLICT in state.placements[name].blocked for state in (before, after)
    )


def _part(move: Move, part: str) -> set[int]:
    if part in {reason.value for reason in Reason}:
        return set(move.blocked.get(Reason(part), ()))
    return set(getattr(move, part))
