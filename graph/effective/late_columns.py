"""Late-bound values of many clusters at once, and where they differ between two states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from graph.composition.late import fill_many
from graph.composition.stack import Stack
from graph.effective.definition import Definition
from graph.effective.late import given, given_text, same_values
from graph.effective.state import State
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.names import ClusterNumber
from graph.model.ref import Kind, Ref
from graph.model.referring import labels_in
from graph.model.values import Value
from graph.model.view import CHUNK_BITS, Column
from graph.model.workload import LateBound, Layer

T = TypeVar("T")

Late = dict[str, Value]
"""The late-bound values of one cluster, by key."""


def late_columns(
    definition: Definition, state: State, among: ClusterSet
) -> dict[ClusterNumber, Late]:
    """The late-bound values of some clusters, in one pass; a key without one is left out."""
    found: dict[ClusterNumber, Late] = {number: {} for number in among}
    for late in definition.application.late_bound:
        rest = among
        for layer in reversed(definition.stack.late.get(late.key, ())):
            here = rest & state.reach.sets[Ref(Kind.LAYER, layer.name)]
            if here:
                value = given(layer, late)
                for number in here:
                    found[number][late.key] = value
                rest = rest - here
                if not rest:
                    break
        _fill(late, state, rest, found)
    return found


def _fill(
    late: LateBound, state: State, clusters: ClusterSet, found: dict[ClusterNumber, Late]
) -> None:
    """Give clusters the value that the source of ``late`` makes for them."""
    if not late.source or not clusters:
        return
    view, numbers = state.view, clusters.numbers()
    labels = {key: view.label_column(key).many(numbers) for key in labels_in(late)}
    values = fill_many(late, view.columns.name.many(numbers), labels)
    for number, value in zip(clusters, values, strict=True):
        if value is not None:
            found[number][late.key] = value


def rebound(name: str, was: State, now: State, stayed: ClusterSet) -> ClusterSet:
    """Those of ``stayed``, which had an application before and have it now, with other values."""
    old, new = was.definitions[name], now.definitions[name]
    if not old.late_bound and not new.late_bound:
        return EMPTY
    if old is new or old.application.late_bound == new.application.late_bound:
        stayed = stayed & _may_differ(name, was, now)
    if not stayed:
        return EMPTY
    before, after = late_columns(old, was, stayed), late_columns(new, now, stayed)
    return ClusterSet.of([each for each in stayed if not same_values(before[each], after[each])])


def _may_differ(name: str, was: State, now: State) -> ClusterSet:
    """Clusters whose values may differ though the late-bound keys are the same."""
    old, new = was.definitions[name], now.definitions[name]
    then, sets = was.reach.sets, now.reach.sets
    found = [then[ref] ^ sets[ref] for ref in old.late & new.late if then[ref] is not sets[ref]]
    found += _relabelled(new, was, now)
    if old.stack is not new.stack:
        changed = frozenset(_given_otherwise(old.stack, new.stack))
        found += (then[ref] for ref in changed & old.late)
        found += (sets[ref] for ref in changed & new.late)
        # where nothing orders two layers, another text may order them otherwise
        found += (state.places[name].torn for state in (was, now))
    return ClusterSet.union(found)


def _relabelled(definition: Definition, was: State, now: State) -> Iterator[ClusterSet]:
    """Clusters with another label, as far as the late-bound keys take their values from one."""
    for key in definition.late_labels:
        before, after = was.view.label_column(key), now.view.label_column(key)
        if before is not after:
            yield now.touched if now.since is was.mark else differing(before, after)


def _given_otherwise(before: Stack, after: Stack) -> Iterator[Ref]:
    """Layers that came, went, are ordered otherwise, or give a late-bound key another value."""
    moved = after.order.moved(before.order)
    for key, layers in after.late.items():
        had = {layer.name: layer for layer in before.late[key]}
        has = {layer.name: layer for layer in layers}
        for name in had.keys() | has.keys():
            if name in moved or not _give_alike(had.get(name), has.get(name), key):
                yield Ref(Kind.LAYER, name)


def _give_alike(one: Layer | None, other: Layer | None, key: str) -> bool:
    if one is None or other is None:
        return False
    return one is other or given_text(one, key) == given_text(other, key)


def differing(before: Column[T], after: Column[T]) -> ClusterSet:
    """Where two versions of a column differ; parts they share are not looked at."""
    found: list[int] = []
    shared = min(len(before.chunks), len(after.chunks))
    for at in range(max(len(before.chunks), len(after.chunks))):
        one: Sequence[T] = before.chunks[at] if at < len(before.chunks) else ()
        other: Sequence[T] = after.chunks[at] if at < len(after.chunks) else ()
        if at < shared and one is other:
            continue
        start = at << CHUNK_BITS
        for place in range(max(len(one), len(other))):
            if place >= len(one) or place >= len(other) or _differ(one[place], other[place]):
                found.append(start + place)
    return ClusterSet.of(found)


def _differ(one: object, other: object) -> bool:
    """Whether two cells differ; true is not 1."""
    return one != other or type(one) is not type(other)
