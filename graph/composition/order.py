"""Which layer is stronger.

First by where a layer applies: everywhere, one group, a selector, one cluster. Among groups by the
precedence of their hierarchies. Inside a class, or inside one hierarchy, by rank; there, at equal
rank, an ancestor is weaker than its descendant. Nothing else orders two layers: not their names,
and not how deep unrelated groups lie.

Layers have to be merged one after the other all the same. What the rules leave open is settled by
the layer's place and then by its text, so that not even the order of a merged list, or a leaf two
layers clash about, hangs on a name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from graph.model.names import GroupNumber
from graph.model.selector import Everything, IsCluster, Under
from graph.model.view import FleetView, lineage
from graph.model.workload import Layer


class Strength(IntEnum):
    """The classes of layers, weakest first."""

    EVERYWHERE = 0
    GROUP = 1
    SELECTOR = 2
    CLUSTER = 3


def strength_of(layer: Layer) -> Strength:
    """The class of a layer: what its selector is decides it."""
    match layer.selector:
        case Everything():
            return Strength.EVERYWHERE
        case Under():
            return Strength.GROUP
        case IsCluster():
            return Strength.CLUSTER
        case _:
            return Strength.SELECTOR


@dataclass(frozen=True, slots=True)
class _Where:
    """A group's place: what the rules ask about it."""

    hierarchy: str
    precedence: int
    above: frozenset[GroupNumber]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a layer applies, as the rules see it."""

    strength: Strength
    rank: int
    number: int = 0
    """Of its group or cluster."""
    group: _Where | None = None

    @property
    def rung(self) -> tuple[int, int]:
        """Layers of different rungs are ordered; those of one rung may not be."""
        if self.group is not None:
            return (self.strength, self.group.precedence)
        return (self.strength, self.rank)


_Key = tuple[int, int, int, int, int, str, str]
"""What layers are sorted by."""


@dataclass(frozen=True, slots=True)
class Order:
    """The order of some layers in one view. Make it with ``Order.of``."""

    weakest_first: tuple[Layer, ...]
    _places: Mapping[str, _Place]
    _rungs: Mapping[str, tuple[int, int]]
    _keys: Mapping[str, _Key]

    @staticmethod
    def of(
        layers: Iterable[Layer],
        view: FleetView,
        known: Order | None = None,
        moved: Collection[GroupNumber] = (),
    ) -> Order:
        """The order of ``layers``, each of which has a name of its own.

        ``known`` is an order of some of them, while every group but those ``moved`` was where it is
        now: it saves looking at these again.
        """
        layers = list(layers)
        held = {} if known is None else {layer.name: layer for layer in known.weakest_first}
        wheres: dict[GroupNumber, _Where] = {}
        places: dict[str, _Place] = {}
        keys: dict[str, _Key] = {}
        rungs: dict[str, tuple[int, int]] = {}
        for layer in layers:
            name = layer.name
            if known is not None and held.get(name) is layer and known._stays(name, moved):
                places[name], keys[name] = known._places[name], known._keys[name]
                rungs[name] = known._rungs[name]
            else:
                place = places[name] = _place(layer, view, wheres)
                keys[name], rungs[name] = _sorting(layer, place), place.rung
        ordered = tuple(sorted(layers, key=lambda layer: keys[layer.name]))
        return Order(ordered, places, rungs, keys)

    def _stays(self, name: str, moved: Collection[GroupNumber]) -> bool:
        """Whether a layer does not lie on a group that moved."""
        place = self._places[name]
        return not moved or place.group is None or place.number not in moved

    def decides(self, one: str, other: str) -> bool:
        """Whether the rules say which of two layers is stronger."""
        return _decided(self._places[one], self._places[other])

    def moved(self, before: Order) -> frozenset[str]:
        """The layers of both that may stand otherwise to others than they did ``before``.

        Two layers that did not move stand to each other as they did: a group can come under another
        parent, and a pair become undecided, while ``weakest_first`` stays as it was.
        """
        then = before._places
        return frozenset(
            name
            for name, place in self._places.items()
            if name in then and then[name] is not place and then[name] != place
        )

    def undecided(self, ordered: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The pairs of ``ordered``, names in the order of ``weakest_first``, not decided."""
        rungs = self._rungs
        for at, one in enumerate(ordered, start=1):
            rung = rungs[one]
            for other in ordered[at:]:
                if rungs[other] != rung:
                    break  # rungs lie together, so no later one is on it either
                if not self.decides(one, other):
                    yield one, other


def _place(layer: Layer, view: FleetView, wheres: dict[GroupNumber, _Where]) -> _Place:
    strength = strength_of(layer)
    match layer.selector:
        case Under(number):
            if number not in wheres:
                wheres[number] = _where(number, view)
            return _Place(strength, layer.rank, number, wheres[number])
        case IsCluster(number):
            return _Place(strength, layer.rank, number)
        case _:
            return _Place(strength, layer.rank)


def _where(number: GroupNumber, view: FleetView) -> _Where:
    group, *above = lineage(view, number)
    hierarchy = view.hierarchy(group.hierarchy)
    precedence = 0 if hierarchy is None else hierarchy.precedence
    return _Where(group.hierarchy, precedence, frozenset(each.number for each in above))


def _sorting(layer: Layer, place: _Place) -> _Key:
    precedence, depth = (
        (0, 0) if place.group is None else (place.group.precedence, len(place.group.above))
    )
    return (
        place.strength,
        precedence,
        layer.rank,
        depth,
        place.number,
        layer.values.text,
        layer.name,
    )


def _decided(one: _Place, other: _Place) -> bool:
    if one.rung != other.rung:
        return True
    if one.group is None or other.group is None:
        return False
    if one.group.hierarchy != other.group.hierarchy:
        return False  # of one precedence: a store older than the order of hierarchies
    if one.rank != other.rank:
        return True
    return one.number in other.group.above or other.number in one.group.above
