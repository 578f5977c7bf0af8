"""Effective state as the product tells it beside the naive one, and two states side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graph.composition.problem import Reason
from graph.effective.late_columns import late_columns
from graph.effective.state import State
from graph.index.builder import build, edit
from graph.index.snapshot import Snapshot
from graph.model.change import Change
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.names import ClusterNumber
from naive_workload import Naive, Standing, is_named, text
from twin import START, Twin

Answers = Iterator[tuple[str, object, object]]


def snapshot_of(twin: Twin) -> Snapshot:
    """The index of these facts."""
    return build(twin.entities(), cursor=START, numbers=twin.numbers)


def advanced(snapshot: Snapshot, changes: Sequence[Change]) -> Snapshot:
    """The index after one changeset."""
    draft = edit(snapshot)
    draft.apply(changes)
    return draft.freeze(START)


def against_naive(state: State, naive: Naive) -> str | None:
    """The first difference between the product's state and the naive one; None if there is none."""
    return _first(_beside_naive(state, naive))


def between(one: State, other: State) -> str | None:
    """The first difference between two states of one fleet; None if there is none."""
    return _first(_beside(one, other))


def broken_partition(state: State) -> str | None:
    """An application whose clusters do not add up; None if all do."""
    for name, found in state.placements.items():
        parts = list(found.configurations.values())
        if not all(parts) or sum(map(len, parts)) != len(found.placed):
            return f"{name}: configurations overlap or are empty"
        if ClusterSet.union(parts) != found.placed:
            return f"{name}: configurations do not cover what is placed"
        standings = (found.prohibited, found.lacking, found.placed)
        if sum(map(len, standings)) != len(found.assigned):
            return f"{name}: prohibited, lacking and placed overlap"
        if ClusterSet.union(standings) != found.assigned:
            return f"{name}: prohibited, lacking and placed are not what is assigned"
        blocked = ClusterSet.union(found.blocked.values())
        if not blocked <= found.placed or found.placed - blocked != found.effective:
            return f"{name}: effective is not what is placed and not blocked"
    return None


def _first(answers: Answers) -> str | None:
    for what, one, other in answers:
        if one != other:
            return f"{what}: {one!r} against {other!r}"
    return None


def _beside(one: State, other: State) -> Answers:
    yield "applications", set(one.placements), set(other.placements)
    for name, found in one.placements.items():
        for part in type(found).__dataclass_fields__:
            yield f"{name} {part}", getattr(found, part), getattr(other.placements[name], part)
    yield "fleet configurations", one.fleet_configurations, other.fleet_configurations
    yield "oversubscribed", one.oversubscribed, other.oversubscribed
    for place in range(max(one.view.numbers.cluster, other.view.numbers.cluster)):
        number = ClusterNumber(place)
        yield f"asked of {number}", one.asked_of(number), other.asked_of(number)
    yield "reach", one.reach, other.reach
    yield "order", one.order, other.order


def _beside_naive(state: State, naive: Naive) -> Answers:
    yield "applications", set(state.placements), set(naive.outcomes)
    for name, found in state.placements.items():
        yield f"{name} assigned", set(found.assigned), naive.assigned(name)
        for standing, clusters in (
            (Standing.PROHIBITED, found.prohibited),
            (Standing.LACKING, found.lacking),
            (Standing.PLACED, found.placed),
        ):
            yield f"{name} {standing.value}", set(clusters), naive.standing_at(name, standing)
        yield f"{name} configurations", _sets(found.configurations), naive.configurations(name)
        yield f"{name} blocked", _judged(_sets(found.blocked)), _judged(naive.blocked(name))
        yield f"{name} effective", set(found.effective), naive.effective(name)
        yield from _values_beside_naive(state, naive, name)
        yield from _late_beside_naive(state, naive, name)
    for number, demand in naive.demand.items():
        yield f"asked of {number}", state.asked_of(ClusterNumber(number)), demand
    yield "oversubscribed", set(state.oversubscribed), naive.oversubscribed


def _values_beside_naive(state: State, naive: Naive, name: str) -> Answers:
    stack = state.definitions[name].stack
    for names, clusters in state.placements[name].configurations.items():
        outcome = naive.outcomes[name][next(iter(clusters))]
        composed = stack.compose(names)
        pairs = {
            (min(each.one, each.other), max(each.one, each.other)) for each in composed.conflicts
        }
        yield f"{name} clashes of {sorted(names)}", pairs, set(outcome.clashes)
        if not outcome.clashes:
            one, other = by_name(composed.values), by_name(outcome.values)
            yield f"{name} values of {sorted(names)}", text(one), text(other)


def _late_beside_naive(state: State, naive: Naive, name: str) -> Answers:
    definition, found = state.definitions[name], state.placements[name]
    clear = found.placed - found.blocked.get(Reason.CONFLICT, EMPTY)
    for number, values in late_columns(definition, state, clear).items():
        yield f"{name} late-bound of {number}", values, naive.outcomes[name][number].late


def _sets(found: Mapping[Any, ClusterSet]) -> dict[Any, set[int]]:
    return {key: set(clusters) for key, clusters in found.items()}


def _judged(blocked: Mapping[Reason, set[int]]) -> dict[Reason, set[int]]:
    """Without the schema where layers conflict: there nothing says what the values are."""
    unclear = blocked.get(Reason.CONFLICT, set())
    found = {**blocked, Reason.SCHEMA: blocked.get(Reason.SCHEMA, set()) - unclear}
    return {reason: clusters for reason, clusters in found.items() if clusters}


def by_name(value: Any) -> Any:
    """``value`` with lists that merge by name as maps: layers nothing orders leave theirs open."""
    if isinstance(value, Mapping):
        return {key: by_name(each) for key, each in value.items()}
    if is_named(value):
        return {item["name"]: by_name(item) for item in value}
    return value
