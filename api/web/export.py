"""Large answers: clusters as a stream of lines, for spreadsheets and other programs.

One view for the whole stream, however long it takes to read; rows are made in pages, so memory
and the event loop see no more than a page at a time. Access is as everywhere: what may not be seen
is not there.
"""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import parse_qs

import orjson

from api.schema import inventory_columns as columns
from graph.engine import Engine
from graph.model.errors import Invalid
from graph.model.names import ClusterNumber, did_you_mean, nearest, quoted
from graph.model.selector import Everything
from graph.model.view import FleetView

Read = Callable[[FleetView, Sequence[ClusterNumber]], Sequence[Any]]
"""Reads one column of some clusters."""

PAGE = 1_000
COLUMNS_MAX = 100
DEFAULT = "name,title,kind,reconciler,timeZone"


def _kinds(view: FleetView, numbers: Sequence[ClusterNumber]) -> Sequence[str]:
    return [each.value for each in view.columns.kind.many(numbers)]


def _reconcilers(view: FleetView, numbers: Sequence[ClusterNumber]) -> Sequence[str]:
    return [each.value for each in view.columns.reconciler.many(numbers)]


_PLAIN: dict[str, Read] = {
    "id": columns.ids,
    "name": columns.names,
    "title": columns.titles,
    "kind": _kinds,
    "reconciler": _reconcilers,
    "timeZone": columns.time_zones,
    "changed": columns.revisions,
}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for a formula at the beginning of a cell."""


@dataclass(frozen=True, slots=True)
class Export:
    """What to export: clusters of one view, and which columns of them."""

    view: FleetView
    numbers: Sequence[ClusterNumber]
    columns: tuple[tuple[str, Read], ...]

    async def ndjson(self) -> AsyncIterator[bytes]:
        """A JSON object a line."""
        names = [name for name, _ in self.columns]
        async for rows in self._pages():
            lines = (orjson.dumps(dict(zip(names, row, strict=True))) for row in rows)
            yield b"\n".join(lines) + b"\n"

    async def csv(self) -> AsyncIterator[bytes]:
        """A head and a line each; no cell is a formula to a spreadsheet."""
        yield csv_lines([[name for name, _ in self.columns]])
        async for rows in self._pages():
            yield csv_lines(rows)

    async def _pages(self) -> AsyncIterator[Sequence[Sequence[Any]]]:
        for start in range(0, len(self.numbers), PAGE):
            part = self.numbers[start : start + PAGE]
            yield list(zip(*[read(self.view, part) for _, read in self.columns], strict=True))
            await asyncio.sleep(0)


def export_of(engine: Engine, view: FleetView, query_string: bytes) -> Export:
    """What a query string asks for: ``where``, a selector's text, and ``columns``."""
    fields = fields_of(query_string, ("where", "columns"))
    selector = engine.parse(fields["where"], view) if "where" in fields else Everything()
    named = tuple((name, _column(name, view)) for name in fields.get("columns", DEFAULT).split(","))
    if len(named) > COLUMNS_MAX:
        raise Invalid(f"{len(named):,} columns", hint=f"ask for at most {COLUMNS_MAX}")
    if len(dict(named)) < len(named):
        raise Invalid("a column is named twice", hint="name each column once")
    chosen = engine.resolve(selector, view)
    numbers = list(view.in_name_order(chosen, ""))
    return Export(view, numbers, named)


def fields_of(query_string: bytes, known: Sequence[str]) -> dict[str, str]:
    """The parameters of a query string; refused if it has others, or one twice."""
    try:
        fields = parse_qs(
            query_string.decode("ascii"), keep_blank_values=True, max_num_fields=10, errors="strict"
        )
    except (ValueError, UnicodeError):
        raise Invalid("the query string cannot be read", hint="percent-encode it") from None
    for name, values in fields.items():
        if name not in known:
            hint = f"use {' and '.join(known)}"
            raise Invalid(f"there is no parameter {quoted(name)}", hint=hint)
        if len(values) > 1:
            raise Invalid(f"{quoted(name)} is there twice", hint="give it once")
    return {name: values[0] for name, values in fields.items()}


def _column(name: str, view: FleetView) -> Read:
    """A plain field, ``label:key``, ``place:hierarchy`` or ``places:hierarchy``."""
    kind, colon, key = name.partition(":")
    if not colon:
        if name in _PLAIN:
            return _PLAIN[name]
        close = did_you_mean(nearest(name, _PLAIN, count=1))
        known = f"columns: {', '.join(_PLAIN)}, label:<key>, place:<hierarchy>, places:<hierarchy>"
        raise Invalid(f"there is no column {quoted(name)}", hint=f"{close} {known}".strip())
    if kind == "label":
        columns.check_label_key(view, key)
        return lambda at, numbers: columns.label_values(at, numbers, key=key)
    if kind == "place":
        columns.check_place(view, key)
        return lambda at, numbers: columns.place(at, numbers, hierarchy=key)
    if kind == "places":
        columns.check_hierarchy(view, key)
        return lambda at, numbers: columns.all_places(at, numbers, hierarchy=key)
    raise Invalid(
        f"there is no column {quoted(name)}",
        hint="write label:<key>, place:<hierarchy> or places:<hierarchy>",
    )


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(cast("list[str]", value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(_FORMULA):
        return "'" + value
    return "" if value is None else value


def csv_lines(rows: Sequence[Sequence[Any]]) -> bytes:
    """Rows as lines of CSV; no cell is a formula to a spreadsheet."""
    text = io.StringIO()
    csv.writer(text).writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue().encode()
