"""Late-bound values: what differs per cluster, where it is missing, and where layers disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from graph.composition.late import split
from graph.composition.stack import Stack
from graph.effective.reach import Reach
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.names import ClusterNumber
from graph.model.referring import labels_in
from graph.model.values import Value
from graph.model.view import FleetView
from graph.model.workload import Application, LateBound, Layer


def strongest(late: LateBound, stack: Stack, cluster: ClusterNumber, reach: Reach) -> Layer | None:
    """The layer that gives a cluster its value; None when the source does."""
    for layer in reversed(stack.late.get(late.key, ())):
        if cluster in reach.layers[layer.name]:
            return layer
    return None


def given(layer: Layer, late: LateBound) -> Value:
    """The value a layer gives to a late-bound key."""
    return split(layer.values, (late.key,))[1][late.key]


def unbound(
    application: Application, stack: Stack, placed: ClusterSet, reach: Reach, view: FleetView
) -> ClusterSet:
    """Those of ``placed`` without a value for some late-bound key."""
    found = [_missing(late, stack, placed, reach, view) for late in application.late_bound]
    return ClusterSet.union(found) if found else EMPTY


def torn(stack: Stack, placed: ClusterSet, reach: Reach) -> ClusterSet:
    """Those of ``placed`` to which layers that nothing orders give different late-bound values."""
    found = [
        both
        for key, layers in stack.late.items()
        for one, other in _disputed(key, layers, placed, reach)
        if (both := _reach(one, reach) & _reach(other, reach) & placed)
        and not stack.order.decides(one.name, other.name)
    ]
    return ClusterSet.union(found) if found else EMPTY


def _disputed(
    key: str, layers: Sequence[Layer], placed: ClusterSet, reach: Reach
) -> Iterator[tuple[Layer, Layer]]:
    """Pairs that reach a common cluster and differ.

    There may be one layer per cluster, so pairs are looked at only where two reach the same one.
    """
    seen, twice = EMPTY, EMPTY
    for layer in layers:
        here = _reach(layer, reach) & placed
        twice = twice | (seen & here)
        seen = seen | here
    if twice:
        meeting = [each for each in layers if _reach(each, reach).meets(twice)]
        for one, other in combinations(meeting, 2):
            if given_text(one, key) != given_text(other, key):
                yield one, other


def given_text(layer: Layer, key: str) -> str:
    """The value a layer gives, such that equal ones have equal text: true is not 1."""
    return repr(split(layer.values, (key,))[1][key])


def _missing(
    late: LateBound, stack: Stack, placed: ClusterSet, reach: Reach, view: FleetView
) -> ClusterSet:
    """Those of ``placed`` with no value for ``late``: neither from its source nor from a layer."""
    missing = placed
    if late.source:
        filled = placed
        for key in labels_in(late):
            filled = filled & view.labelled(key)
        missing = placed - filled
    for layer in stack.late.get(late.key, ()) if missing else ():
        missing = missing - _reach(layer, reach)
    return missing


def _reach(layer: Layer, reach: Reach) -> ClusterSet:
    return reach.layers[layer.name]


def same_values(one: Mapping[str, Value], other: Mapping[str, Value]) -> bool:
    """Whether two sets of values are the same; true is not 1."""
    return one == other and repr(one) == repr(other)
