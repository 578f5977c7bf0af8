"""Layers by what they lie on, so that a cluster finds those that reach it.

Most layers lie on one group or on one cluster. Which of them reach a cluster is read off the groups
above it, and no layer has to be asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph.effective.lens import Bits, Few
from graph.model.change import Change, Entity
from graph.model.names import GroupNumber
from graph.model.selector import Everything, IsCluster, Under
from graph.model.view import FleetView
from graph.model.workload import Layer

Anchored = tuple[str, str]
"""The application that a layer is for, and the layer."""
On = Mapping[int, frozenset[Anchored]]
"""Layers by the number of the group or cluster they lie on."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """The layers of a workload that are not everywhere."""

    groups: On
    clusters: On
    free: frozenset[str]
    """Those that do not lie on a group: they have to be asked whom they reach."""

    @staticmethod
    def of(layers: Iterable[Layer]) -> Anchors:
        """The anchors of these layers."""
        return _put(Anchors({}, {}, frozenset()), (), layers)

    def after(self, changes: Sequence[Change]) -> Anchors:
        """The anchors once these objects are others."""
        gone = {layer.name: layer for layer in _layers(change.before for change in changes)}
        come = {layer.name: layer for layer in _layers(change.after for change in changes)}
        for name in gone.keys() & come.keys():
            if _lie_alike(gone[name], come[name]):
                del gone[name], come[name]
        return _put(self, gone.values(), come.values()) if gone or come else self

    def reaching(self, few: Few, view: FleetView) -> dict[str, list[tuple[str, Bits]]]:
        """The anchored layers that reach some of a few clusters, and which; by application."""
        found: dict[str, list[tuple[str, Bits]]] = {}
        for group, bits in _lines(few, view).items():
            for application, name in self.groups.get(group, ()):
                found.setdefault(application, []).append((name, bits))
        for cluster in few.clusters if self.clusters else ():
            for application, name in self.clusters.get(cluster, ()):
                found.setdefault(application, []).append((name, few.bit(cluster)))
        return found


def is_anchored(layer: Layer) -> bool:
    """Whether it lies on one group or on one cluster."""
    return isinstance(layer.selector, Under | IsCluster)


def _lie_alike(one: Layer, other: Layer) -> bool:
    return one.application == other.application and one.selector == other.selector


def _layers(states: Iterable[Entity | None]) -> Iterator[Layer]:
    return (each for each in states if isinstance(each, Layer))


def _put(anchors: Anchors, gone: Iterable[Layer], come: Iterable[Layer]) -> Anchors:
    groups, clusters, free = dict(anchors.groups), dict(anchors.clusters), set(anchors.free)
    for layer in gone:
        match layer.selector:
            case Under(number):
                _drop(groups, number, layer)
            case IsCluster(number):
                _drop(clusters, number, layer)
            case _:
                pass
        free.discard(layer.name)
    for layer in come:
        match layer.selector:
            case Under(number):
                _add(groups, number, layer)
            case IsCluster(number):
                _add(clusters, number, layer)
                free.add(layer.name)
            case Everything():
                pass
            case _:
                free.add(layer.name)
    return Anchors(groups, clusters, frozenset(free))


def _add(held: dict[int, frozenset[Anchored]], number: int, layer: Layer) -> None:
    held[number] = held.get(number, frozenset()) | {(layer.application, layer.name)}


def _drop(held: dict[int, frozenset[Anchored]], number: int, layer: Layer) -> None:
    rest = held.pop(number) - {(layer.application, layer.name)}
    if rest:
        held[number] = rest


def _lines(few: Few, view: FleetView) -> dict[GroupNumber, Bits]:
    """The groups that a few clusters are in, at any depth, with who is in them."""
    level: dict[GroupNumber, Bits] = {}
    for cluster in few.clusters & view.everything():
        bit = few.bit(cluster)
        for at in view.memberships(cluster):
            level[at] = level.get(at, 0) | bit
    found = dict(level)
    while level:
        above: dict[GroupNumber, Bits] = {}
        for at, bits in level.items():
            group = view.group(at)
            if group is not None and group.parent is not None:
                above[group.parent] = above.get(group.parent, 0) | bits
        for at, bits in above.items():
            found[at] = found.get(at, 0) | bits
        level = above
    return found
