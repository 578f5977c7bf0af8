"""Configurations as numbers: every layer is one bit, and a configuration the bits of its layers.

A set of names is dear to make, and dear to look up: it is compared name by name unless it is the
very object that was put in. So one is made of another by flipping bits, and there is one object for
each. To be shared between the stacks that follow each other, it is never changed but for that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

Names = frozenset[str]
"""The layers of a configuration: they are its name."""

REMEMBERED_MAX = 4_096
"""Configurations of one application; more are forgotten and made again."""
SPARE_BITS = 64
"""Bits of layers that are gone, before everything is numbered anew."""


class Numbering:
    """The bits of some layers, and the configurations made of them."""

    __slots__ = ("_own", "bits", "named")

    bits: Mapping[str, int]
    named: Mapping[int, Names]
    """The configuration of any bits."""

    def __init__(self, layers: Collection[str]) -> None:
        self.bits = {name: 1 << at for at, name in enumerate(layers)}
        self._own: dict[Names, Names] = {}
        self.named = _Named(self)

    def covering(self, layers: Collection[str]) -> Numbering:
        """A numbering of these layers, in which every bit means what it means here."""
        new = [name for name in layers if name not in self.bits]
        if not new:
            return self
        made = Numbering((*self.bits, *new))
        made._own.update(self._own)
        return made

    def renewed(self, layers: Collection[str]) -> Numbering:
        """The same, or another one where most bits are of layers that are gone."""
        worn = len(self.bits) > 2 * len(layers) + SPARE_BITS
        return Numbering(layers) if worn else self.covering(layers)

    def own(self, names: Names) -> Names:
        """The one object for a configuration."""
        found = self._own.get(names)
        if found is None:
            if len(self._own) >= REMEMBERED_MAX:
                self._own.clear()
            found = self._own[names] = names
        return found


class _Named(dict[int, Names]):
    """Configurations by their bits, each made when it is first looked up."""

    __slots__ = ("_numbering",)

    def __init__(self, numbering: Numbering) -> None:
        super().__init__()
        self._numbering = numbering

    def __missing__(self, code: int) -> Names:
        if len(self) >= REMEMBERED_MAX:
            self.clear()
        bits = self._numbering.bits.items()
        names = self._numbering.own(frozenset([name for name, bit in bits if bit & code]))
        self[code] = names
        return names
