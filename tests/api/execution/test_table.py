"""A table is the rows one would have read one by one."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from api.columns import Column
from api.execution.table import Table
from graph.model.view import CHUNK_MASK


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


def chunked(values: Sequence[Any]) -> list[list[Any]]:
    size = CHUNK_MASK + 1
    return [list(values[start : start + size]) for start in range(0, len(values), size)]


def column(values: Sequence[Any], *, named: bool = False, cells: bool = True) -> Column:
    def read(_: Any, numbers: Sequence[int], **__: Any) -> list[Any]:
        found = [values[number] if number < len(values) else None for number in numbers]
        return [each.name if isinstance(each, Enum) else each for each in found]

    where = chunked(values)
    return Column(read, (lambda _, **__: where) if cells else None, named)


TEXTS = [f"t{number}" for number in range(600)]
SIZES = [Size.LARGE if number % 3 else Size.SMALL for number in range(600)]


def test_a_row_is_a_dictionary_in_the_order_of_its_keys():
    table = Table(
        ("b", "a", "__typename", "size"),
        (column(TEXTS), column(TEXTS, cells=False), "Thing", column(SIZES, named=True)),
    )
    rows = table.rows(None, [599, 0, 256], [{}] * 4)
    assert rows == [
        {"b": f"t{n}", "a": f"t{n}", "__typename": "Thing", "size": SIZES[n].name}
        for n in (599, 0, 256)
    ]
    assert list(rows[0]) == ["b", "a", "__typename", "size"]


def test_no_rows_one_column_and_nothing_but_a_constant_are_no_special_cases():
    assert Table(("a",), (column(TEXTS),)).rows(None, [], [{}]) == []
    assert Table(("a",), (column(TEXTS, cells=False),)).rows(None, [7], [{}]) == [{"a": "t7"}]
    assert Table(("a",), ("Thing",)).rows(None, [1, 2], [{}]) == [{"a": "Thing"}] * 2


def test_a_cluster_beyond_what_a_column_ever_held_reads_what_the_column_says():
    table = Table(("a", "b", "c"), (column(TEXTS), column([]), "Thing"))
    assert table.rows(None, [3, 700], [{}] * 3) == [
        {"a": "t3", "b": None, "c": "Thing"},
        {"a": None, "b": None, "c": "Thing"},
    ]


def test_arguments_reach_their_column():
    def read(_: Any, numbers: Sequence[int], *, key: str) -> list[str]:
        return [f"{key}{number}" for number in numbers]

    table = Table(("a", "b"), (Column(read), Column(read)))
    assert table.rows(None, [1], [{"key": "x"}, {"key": "y"}]) == [{"a": "x1", "b": "y1"}]


def test_a_key_or_constant_that_is_a_form_is_only_itself():
    table = Table(("value", "cell"), ("value", "cell"))
    assert table.rows(None, [5], [{}, {}]) == [{"value": "value", "cell": "cell"}]
