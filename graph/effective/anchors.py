"""Layers by what they lie on.

Most layers lie on one group or on one cluster. Whom those on a group reach is read off the group,
and no layer has to be asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph.model.change import Change, Entity
from graph.model.selector import Everything, Under
from graph.model.workload import Layer

Anchored = tuple[str, str]
"""The application that a layer is for, and the layer."""
On = Mapping[int, frozenset[Anchored]]
"""Layers by the number of the group they lie on."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """The layers of a workload that are not everywhere."""

    groups: On
    free: frozenset[str]
    """Those that do not lie on a group: they have to be asked whom they reach."""

    @staticmethod
    def of(layers: Iterable[Layer]) -> Anchors:
        """The anchors of these layers."""
        return _put(Anchors({}, frozenset()), (), layers)

    def after(self, changes: Sequence[Change]) -> Anchors:
        """The anchors once these objects are others."""
        gone = {layer.name: layer for layer in _layers(change.before for change in changes)}
        come = {layer.name: layer for layer in _layers(change.after for change in changes)}
        for name in gone.keys() & come.keys():
            if _lie_alike(gone[name], come[name]):
                del gone[name], come[name]
        return _put(self, gone.values(), come.values()) if gone or come else self


def _lie_alike(one: Layer, other: Layer) -> bool:
    return one.application == other.application and one.selector == other.selector


def _layers(states: Iterable[Entity | None]) -> Iterator[Layer]:
    return (each for each in states if isinstance(each, Layer))


def _put(anchors: Anchors, gone: Iterable[Layer], come: Iterable[Layer]) -> Anchors:
    groups, free = dict(anchors.groups), set(anchors.free)
    for layer in gone:
        match layer.selector:
            case Under(number):
                _drop(groups, number, layer)
            case _:
                free.discard(layer.name)
    for layer in come:
        match layer.selector:
            case Under(number):
                _add(groups, number, layer)
            case Everything():
                pass
            case _:
                free.add(layer.name)
    return Anchors(groups, frozenset(free))


def _add(held: dict[int, frozenset[Anchored]], number: int, layer: Layer) -> None:
    held[number] = held.get(number, frozenset()) | {(layer.application, layer.name)}


def _drop(held: dict[int, frozenset[Anchored]], number: int, layer: Layer) -> None:
    rest = held.pop(number) - {(layer.application, layer.name)}
    if rest:
        held[number] = rest
