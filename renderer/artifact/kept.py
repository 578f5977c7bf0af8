"""What was worked out before, as much of it as fits: what nobody asked for the longest goes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")

ENTRY_BYTES = 512
"""What an entry takes beside its content, about."""


class Kept(Generic[_K, _V]):
    """Values by key, up to a number of bytes."""

    def __init__(self, bytes_max: int, size_of: Callable[[_V], int]) -> None:
        self._bytes_max = bytes_max
        self._size_of = size_of
        self._entries: OrderedDict[_K, _V] = OrderedDict()
        self.bytes = 0
        """How much is kept."""

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: _K) -> _V | None:
        """What is kept under ``key``; it was asked for, so it stays longer."""
        found = self._entries.get(key)
        if found is not None:
            self._entries.move_to_end(key)
        return found

    def put(self, key: _K, value: _V) -> None:
        """Keep ``value``, and let go of what does not fit beside it."""
        self.drop(key)
        self._entries[key] = value
        self.bytes += self._size_of(value) + ENTRY_BYTES
        while self.bytes > self._bytes_max and len(self._entries) > 1:
            self.drop(next(iter(self._entries)))

    def drop(self, key: _K) -> None:
        """Let go of what is kept under ``key``."""
        found = self._entries.pop(key, None)
        if found is not None:
            self.bytes -= self._size_of(found) + ENTRY_BYTES
