"""Rows of an answer, remembered encoded once somebody asks again.

A dashboard that draws the same columns of other pages, or the same page in another query, finds
the rows of the newest revision already as JSON. They are encoded from their second use on, so a
row that is asked for once costs nothing extra.
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


class RowMemory:
    """Encoded rows of the newest revision."""

    def __init__(self, rows_kept_max: int) -> None:
        self._rows_kept_max = rows_kept_max
        self._cursor: Cursor | None = None
        self._seen: set[Hashable] = set()
        self._rows: dict[Hashable, dict[Any, orjson.Fragment]] = {}
        self._kept = 0

    def of(self, signature: Hashable, rows: Rows, fresh: Fresh) -> list[Any]:
        """The rows, remembered or ``fresh``."""
        if not rows.kept:
            return fresh(rows.numbers)
        cursor = rows.view.cursor
        if cursor != self._cursor:
            if self._cursor is not None and cursor.revision < self._cursor.revision:
                return fresh(rows.numbers)  # an earlier revision is not what people repeat
            self._restart(cursor)
        if signature not in self._seen:
            if len(self._seen) < SIGNATURES_MAX:
                self._seen.add(signature)
            return fresh(rows.numbers)
        known = self._rows.setdefault(signature, {})
        try:
            return list(map(known.__getitem__, rows.numbers))
        except KeyError:
            return self._learned(known, rows, fresh)

    def _learned(self, known: dict[Any, orjson.Fragment], rows: Rows, fresh: Fresh) -> list[Any]:
        """The rows, those not yet known encoded now, if there is room for them."""
        missing = [number for number in rows.numbers if number not in known]
        if self._kept + len(missing) > self._rows_kept_max:
            return fresh(rows.numbers)
        made = map(orjson.Fragment, map(orjson.dumps, fresh(missing)))
        known.update(zip(missing, made, strict=True))
        self._kept += len(missing)
        return list(map(known.__getitem__, rows.numbers))

    def _restart(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._seen.clear()
        self._rows.clear()
        self._kept = 0
