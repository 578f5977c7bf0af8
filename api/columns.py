"""Plain columns: fields that are read for many clusters, or other rows, in one pass.

A column is a function of a view, the rows asked for and the field's arguments. The schema's
resolver of one row and the executor's table of a thousand call the same function, so there is one
place where a field is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graph.model.view import FleetView

COLUMN = "column"
"""The key of a field's column in its metadata."""


@dataclass(frozen=True, slots=True)
class Column:
    """One field of many rows. A field that may not be null has no None in it."""

    read: Callable[..., Sequence[Any]]
    """Of a view and some rows, with the field's arguments, one value for each, as it travels."""
    cells: Callable[..., Sequence[Sequence[Any]]] | None = None
    """Of a view, with the field's arguments, where the values lie by cluster number; see
    ``graph.model.view.Column``."""
    named: bool = False
    """Whether a cell is a member of an enum, which travels by its name."""
    identifies: bool = False
    """Whether it is a global id: then ``read`` takes the ``id_suffix`` of its rows."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one view, not yet taken apart: the executor may read them column by column."""

    view: FleetView
    numbers: Sequence[Any]
    """The clusters by number, or the rows themselves."""
    row: Any
    """Makes the object of one of them, for whoever goes through them one by one."""
    kept: bool = True
    """Whether an encoded row may be remembered by its number."""
    id_suffix: str = ""
    """What the ids in the rows end with; see ``api.schema.ref``."""

    def __iter__(self) -> Iterator[Any]:
        return (self.row(number) for number in self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)
