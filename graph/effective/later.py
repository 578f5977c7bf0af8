"""A mapping that is put together when somebody reads it.

Who only wants to know what a change would do never reads most of the state it would lead to.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")


class Later(Mapping[K, V]):
    """What ``make`` makes, at most once but for threads that read at the same time."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], Mapping[K, V]]) -> None:
        self._make: Callable[[], Mapping[K, V]] | None = make
        self._made: Mapping[K, V] = {}

    def settled(self) -> Mapping[K, V]:
        """The mapping itself."""
        make = self._make
        if make is not None:
            self._made = settled(make())
            self._make = None  # after it is there: another thread may be reading
        return self._made

    def __getitem__(self, key: K) -> V:
        return self.settled()[key]

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, /, default: V | D) -> V | D: ...
    def get(self, key: K, /, default: V | D | None = None) -> V | D | None:
        """As of a dict, and as fast; so are the others."""
        return self.settled().get(key, default)

    def __iter__(self) -> Iterator[K]:
        return iter(self.settled())

    def __len__(self) -> int:
        return len(self.settled())

    def __contains__(self, key: object) -> bool:
        return key in self.settled()

    def keys(self) -> KeysView[K]:
        """Its keys."""
        return self.settled().keys()

    def values(self) -> ValuesView[V]:
        """Its values."""
        return self.settled().values()

    def items(self) -> ItemsView[K, V]:
        """Both."""
        return self.settled().items()


class Beside(Mapping[K, V]):
    """One mapping before another that has the same keys and more."""

    __slots__ = ("_first", "_rest")

    def __init__(self, first: Mapping[K, V], rest: Mapping[K, V]) -> None:
        self._first = first
        self._rest = rest

    def __getitem__(self, key: K) -> V:
        return self._first[key] if key in self._first else self._rest[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._rest)

    def __len__(self) -> int:
        return len(self._rest)


def settled(held: Mapping[K, V]) -> Mapping[K, V]:
    """What is held, put together: what is put off is never put off twice."""
    return held.settled() if isinstance(held, Later) else held
