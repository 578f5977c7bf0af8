"""The pieces a snapshot file is made of, one after the other, each with its length before it.

What is written in one order is read in the same order; there is no directory.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeVar, cast

import orjson

from graph.model.cluster_set import EMPTY, ClusterSet

T = TypeVar("T")

_LENGTH = struct.Struct("<Q")


class BlockWriter:
    """Puts blocks one behind the other."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def body(self) -> bytes:
        """Everything written."""
        return b"".join(self._parts)

    def raw(self, data: bytes) -> None:
        """Any bytes."""
        self._parts += (_LENGTH.pack(len(data)), data)

    def json(self, value: object) -> None:
        """What JSON can say."""
        self.raw(orjson.dumps(value))

    def numbers(self, values: Iterable[int]) -> None:
        """Numbers that fit in 32 bits."""
        numbers = array("I", values)
        if sys.byteorder == "big":
            numbers.byteswap()
        self.raw(numbers.tobytes())

    def sets(self, values: Iterable[ClusterSet]) -> None:
        """Sets; the empty one takes no room."""
        data = [found.to_bytes() if found else b"" for found in values]
        self.numbers(map(len, data))
        self.raw(b"".join(data))

    def column(
        self,
        values: Sequence[T],
        plain: Callable[[T], object],
        identity: Callable[[T], Hashable] | None = None,
    ) -> None:
        """Many values of which few are distinct: those as JSON, then one number each.

        ``identity`` tells apart those that cannot be hashed.
        """
        keys: Sequence[Hashable] = values if identity is None else list(map(identity, values))
        codes: dict[Hashable, int] = {}
        numbers = [codes.setdefault(key, len(codes)) for key in keys]
        first = dict(zip(reversed(numbers), reversed(values), strict=True))
        self.json([plain(first[code]) for code in range(len(codes))])
        self.numbers(numbers)


class BlockReader:
    """Takes blocks off in the order they were put."""

    __slots__ = ("_at", "_body")

    def __init__(self, body: memoryview) -> None:
        self._body = body
        self._at = 0

    def raw(self) -> memoryview:
        """The next block."""
        (length,) = _LENGTH.unpack_from(self._body, self._at)
        start = self._at + _LENGTH.size
        self._at = start + length
        return self._body[start : self._at]

    def json(self) -> Any:
        """The next block, as ``BlockWriter.json`` was given it."""
        return orjson.loads(self.raw())

    def numbers(self) -> array[int]:
        """The next block, as ``BlockWriter.numbers`` was given it."""
        numbers = array("I", bytes(self.raw()))
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers

    def sets(self) -> list[ClusterSet]:
        """The next blocks, as ``BlockWriter.sets`` was given them."""
        ends = accumulate(self.numbers(), initial=0)
        data = bytes(self.raw())
        return [
            ClusterSet.from_bytes(data[start:end]) if start < end else EMPTY
            for start, end in pairwise(ends)
        ]

    def column(self, value: Callable[[Any], T]) -> list[T]:
        """The next blocks, as ``BlockWriter.column`` got them; equal values are one object."""
        distinct = [value(plain) for plain in cast("list[Any]", self.json())]
        codes = self.numbers()
        if len(distinct) == 1:
            return distinct * len(codes)
        return [distinct[code] for code in codes]  # twice as fast as map here
