"""Rows of an answer, remembered encoded once somebody asks again.

A dashboard that draws the same columns of other pages, or the same page in another query, finds
the rows of the newest revision already as JSON. They are encoded from their second use on, so a
row that is asked for once costs nothing extra. What is remembered is bounded in bytes, for a row
is as wide as whoever asks for it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import orjson

from api.columns import Rows
from graph.model.change import Cursor

Fresh = Callable[[Sequence[Any]], list[dict[str, Any]]]

SIGNATURES_MAX = 1_000
"""Kinds of row remembered as seen."""
ROW_BYTES = 200
"""What a remembered row takes besides its text."""


class RowMemory:
    """Encoded rows of the newest revision."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._cursor: Cursor | None = None
        self._seen: set[int] = set()
        """Hashes of kinds of row: where two are the same, one is encoded a little early."""
        self._rows: dict[Hashable, dict[Any, orjson.Fragment]] = {}
        self.bytes_kept = 0

    def of(self, signature: Hashable, rows: Rows, fresh: Fresh) -> list[Any]:
        """The rows, remembered or ``fresh``."""
        if not rows.kept:
            return fresh(rows.numbers)
        cursor = rows.view.cursor
        if cursor != self._cursor:
            if self._cursor is not None and cursor.revision < self._cursor.revision:
                return fresh(rows.numbers)  # an earlier revision is not what people repeat
            self._restart(cursor)
        known = self._rows.get(signature)
        if known is None:
            if not self._is_second(hash(signature)):
                return fresh(rows.numbers)
            known = {}
        try:
            return list(map(known.__getitem__, rows.numbers))
        except KeyError:
            return self._learned(signature, known, rows, fresh)

    def _is_second(self, kind: int) -> bool:
        """Whether such rows were asked for before."""
        if kind in self._seen:
            return True
        if len(self._seen) < SIGNATURES_MAX:
            self._seen.add(kind)
        return False

    def _learned(
        self,
        signature: Hashable,
        known: dict[Any, orjson.Fragment],
        rows: Rows,
        fresh: Fresh,
    ) -> list[Any]:
        """The rows, those not yet known encoded now, and remembered if there is room for them."""
        if self.bytes_kept >= self._bytes_max:
            return fresh(rows.numbers)
        missing = [number for number in rows.numbers if number not in known]
        encoded = list(map(orjson.dumps, fresh(missing)))
        made = dict(zip(missing, map(orjson.Fragment, encoded), strict=True))
        taken = sum(map(len, encoded)) + ROW_BYTES * len(made)
        if self.bytes_kept + taken > self._bytes_max:
            return [made[each] if each in made else known[each] for each in rows.numbers]
        known.update(made)
        self._rows[signature] = known
        self.bytes_kept += taken
        return list(map(known.__getitem__, rows.numbers))

    def _restart(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._seen.clear()
        self._rows.clear()
        self.bytes_kept = 0
