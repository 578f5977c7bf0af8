"""A table: rows of plain columns, made in one pass over the cluster numbers.

The pass is one comprehension over dictionary displays that reads every cell where it lies, which
is what Python does fastest. It is compiled from text, once for each set of keys. That text holds
nothing but ``repr`` of keys and constants, which the GraphQL grammar and the schema have already
kept to letters, digits and underscores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from api.columns import Column
from graph.model.view import CHUNK_BITS, CHUNK_MASK, FleetView

Make = Callable[..., list[dict[str, Any]]]

KEYS_KEPT_MAX = 50
"""Keys of a row whose function is remembered; nobody draws more columns than that."""
MAKERS_KEPT_MAX = 500
"""Functions remembered."""
VALUE, CELL, NAME = "value", "cell", "name"
"""Where a column's values come from: a list of their own, the index, the names in the index."""


@dataclass(frozen=True, slots=True)
class Table:
    """The columns asked for, under the keys they are answered under."""

    keys: tuple[str, ...]
    columns: tuple[Column | str, ...]
    """A column, or what stands in every row."""

    def rows(
        self, view: FleetView, numbers: Sequence[Any], arguments: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """One dictionary for each of ``numbers``."""
        pairs = list(zip(self.columns, arguments, strict=True))
        forms = tuple(map(_form, self.columns))
        try:
            make = row_maker(self.keys, forms)
            return make(numbers, *[_source(*pair, view, numbers) for pair in pairs])
        except IndexError:  # a column in which nothing was ever written for these clusters
            plain = tuple(form if isinstance(form, _Constant) else VALUE for form in forms)
            make = row_maker(self.keys, plain)
            return make(numbers, *[_values(*pair, view, numbers) for pair in pairs])


@dataclass(frozen=True, slots=True)
class _Constant:
    """What stands in every row; equal to no word that says where values come from."""

    text: str


Form = str | _Constant


def _form(column: Column | str) -> Form:
    if isinstance(column, str):
        return _Constant(column)
    if column.cells is None:
        return VALUE
    return NAME if column.named else CELL


def _source(
    column: Column | str, given: Mapping[str, Any], view: FleetView, numbers: Sequence[Any]
) -> Sequence[Any]:
    if isinstance(column, str) or column.cells is None:
        return _values(column, given, view, numbers)
    return column.cells(view, **given)


def _values(
    column: Column | str, given: Mapping[str, Any], view: FleetView, numbers: Sequence[Any]
) -> Sequence[Any]:
    return () if isinstance(column, str) else column.read(view, numbers, **given)


def row_maker(keys: tuple[str, ...], forms: tuple[Form, ...]) -> Make:
    """A function of the numbers and one source per key that makes one dictionary per row."""
    return _remembered(keys, forms) if len(keys) <= KEYS_KEPT_MAX else _compiled(keys, forms)


@lru_cache(maxsize=MAKERS_KEPT_MAX)
def _remembered(keys: tuple[str, ...], forms: tuple[Form, ...]) -> Make:
    return _compiled(keys, forms)


def _compiled(keys: tuple[str, ...], forms: tuple[Form, ...]) -> Make:
    sources = [f"s{position}" for position in range(len(keys))]
    listed = [position for position, form in enumerate(forms) if form == VALUE]
    shown = ", ".join(
        f"{key!r}: {_expression(position, form)}"
        for position, (key, form) in enumerate(zip(keys, forms, strict=True))
    )
    each = ", ".join(["n", *(f"v{position}" for position in listed)])
    zipped = ", ".join(["numbers", *(sources[position] for position in listed)])
    loop = f"for ({each},) in zip({zipped})" if listed else "for n in numbers"
    if len(listed) < len(forms):
        loop += f" for a in (n >> {CHUNK_BITS},) for b in (n & {CHUNK_MASK},)"
    source = f"lambda numbers, {', '.join(sources)}: [{{{shown}}} {loop}]"
    made: Make = eval(source, {"zip": zip})  # noqa: S307 - see above
    return made


def _expression(position: int, form: Form) -> str:
    if isinstance(form, _Constant):
        return repr(form.text)
    if form == VALUE:
        return f"v{position}"
    return f"s{position}[a][b]" + ("._name_" if form == NAME else "")
