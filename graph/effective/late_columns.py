"""Late-bound values of many clusters at once, and where they differ between two states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from graph.composition.late import fill_many
from graph.composition.stack import Stack
from graph.effective.definition import Definition
from graph.effective.late import given, given_text, same_values
from graph.effective.reach import Reach
from graph.effective.state import State
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.names import ClusterNumber
from graph.model.referring import labels_in
from graph.model.values import Value
from graph.model.view import CHUNK_BITS, Column, FleetView
from graph.model.workload import LateBound, Layer

T = TypeVar("T")

Late = dict[str, Value]
"""The late-bound values of one cluster, by key."""


class Seen(Protocol):
    """What late-bound values are taken from: a state, or the ground it stands on."""

    @property
    def reach(self) -> Reach:
        """What every layer reaches."""
        ...

    @property
    def view(self) -> FleetView:
        """The clusters with their names and labels."""
        ...


def late_columns(
    definition: Definition, state: Seen, among: ClusterSet
) -> dict[ClusterNumber, Late]:
    """The late-bound values of some clusters, in one pass; a key without one is left out."""
    found: dict[ClusterNumber, Late] = {number: {} for number in among}
    for late in definition.application.late_bound:
        rest = among
        for layer in reversed(definition.stack.late.get(late.key, ())):
            here = rest & state.reach.layers[layer.name]
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
    late: LateBound, state: Seen, clusters: ClusterSet, found: dict[ClusterNumber, Late]
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


@dataclass(frozen=True, slots=True)
class Binding:
    """What gives an application its late-bound values at one time."""

    definition: Definition
    seen: Seen
    torn: ClusterSet
    """Where layers that nothing orders disagree."""


def rebound(name: str, was: State, now: State, stayed: ClusterSet) -> ClusterSet:
    """Those of ``stayed``, which had an application before and have it now, with other values."""
    before, after = (
        Binding(state.definitions[name], state, state.places[name].torn) for state in (was, now)
    )
    return bound_anew(before, after, stayed, now.touched if now.since is was.mark else None)


def bound_anew(
    before: Binding, after: Binding, stayed: ClusterSet, touched: ClusterSet | None
) -> ClusterSet:
    """As ``rebound``; ``touched`` are all that may be labelled otherwise, if that is known."""
    old, new = before.definition, after.definition
    if not stayed or (not old.late_bound and not new.late_bound):
        return EMPTY
    if old is new or old.application.late_bound == new.application.late_bound:
        stayed = stayed & ClusterSet.union(_may_differ(before, after, touched))
    if not stayed:
        return EMPTY
    had, has = late_columns(old, before.seen, stayed), late_columns(new, after.seen, stayed)
    return ClusterSet.of([each for each in stayed if not same_values(had[each], has[each])])


def _may_differ(
    before: Binding, after: Binding, touched: ClusterSet | None
) -> Iterator[ClusterSet]:
    """Clusters whose values may differ though the late-bound keys are the same."""
    old, new = before.definition, after.definition
    then, now = before.seen.reach.layers, after.seen.reach.layers
    for name in old.late if old is new else old.late & new.late:
        had, has = then[name], now[name]
        if had is not has:
            yield had ^ has
    for key in new.late_labels:
        one, other = before.seen.view.label_column(key), after.seen.view.label_column(key)
        if one is not other:
            yield differing(one, other) if touched is None else touched
    if old.stack is not new.stack:
        changed = frozenset(_given_otherwise(old.stack, new.stack))
        yield from (then[name] for name in changed & old.late)
        yield from (now[name] for name in changed & new.late)
        # where nothing orders two layers, another text may order them otherwise
        yield from (before.torn, after.torn)


def _given_otherwise(before: Stack, after: Stack) -> Iterator[str]:
    """Layers that came, went, are ordered otherwise, or give a late-bound key another value."""
    moved = after.order.moved(before.order)
    for key, layers in after.late.items():
        had = {layer.name: layer for layer in before.late[key]}
        has = {layer.name: layer for layer in layers}
        for name in had.keys() | has.keys():
            if name in moved or not _give_alike(had.get(name), has.get(name), key):
                yield name


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
