"""Rows: one pass over the columns, and encoded rows remembered for the newest revision alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from api.columns import Rows
from api.execution.rows import ROW_BYTES, SIGNATURES_MAX, RowMemory
from graph.model.change import Cursor
from graph.model.names import Revision


@dataclass(frozen=True)
class View:
    """As much of a view as rows look at."""

    cursor: Cursor


def view(revision: int, chain: str = "0" * 16) -> Any:
    return View(Cursor(Revision(revision), chain))


class Fresh:
    """Makes rows, and tells which were asked of it."""

    def __init__(self, word: str = "row") -> None:
        self.word = word
        self.asked: list[list[int]] = []

    def __call__(self, numbers: Any) -> list[dict[str, Any]]:
        self.asked.append(list(numbers))
        return [{"number": number, "is": self.word} for number in numbers]


def rows(at: Any, *numbers: int, kept: bool = True) -> Rows:
    return Rows(at, numbers, lambda number: number, kept)


def decoded(found: list[Any]) -> Any:
    return orjson.loads(orjson.dumps(found))


def test_a_row_is_encoded_at_its_second_use_and_read_back_at_its_third():
    memory, fresh, at = RowMemory(10_000), Fresh(), view(1)
    wanted = [{"number": 1, "is": "row"}, {"number": 2, "is": "row"}]
    for _ in range(3):
        assert decoded(memory.of("kind", rows(at, 1, 2), fresh)) == wanted
    assert fresh.asked == [[1, 2], [1, 2]]


def test_only_the_rows_that_are_missing_are_made():
    memory, fresh, at = RowMemory(10_000), Fresh(), view(1)
    memory.of("kind", rows(at, 1), fresh)
    memory.of("kind", rows(at, 1, 2), fresh)
    found = memory.of("kind", rows(at, 3, 2, 1), fresh)
    assert [each["number"] for each in decoded(found)] == [3, 2, 1]
    assert fresh.asked == [[1], [1, 2], [3]]


def test_rows_of_other_columns_are_other_rows():
    memory, at = RowMemory(10_000), view(1)
    for _ in range(3):
        assert decoded(memory.of("one", rows(at, 1), Fresh("one")))[0]["is"] == "one"
        assert decoded(memory.of("other", rows(at, 1), Fresh("other")))[0]["is"] == "other"


def test_a_new_revision_forgets_every_row():
    memory = RowMemory(10_000)
    for _ in range(3):
        memory.of("kind", rows(view(1), 1), Fresh("old"))
    assert decoded(memory.of("kind", rows(view(2), 1), Fresh("new")))[0]["is"] == "new"


def test_another_history_at_the_same_revision_forgets_as_well():
    memory = RowMemory(10_000)
    for _ in range(3):
        memory.of("kind", rows(view(1, "a" * 16), 1), Fresh("one"))
    assert decoded(memory.of("kind", rows(view(1, "b" * 16), 1), Fresh("two")))[0]["is"] == "two"


def test_an_earlier_revision_is_neither_shown_the_newest_rows_nor_remembered():
    memory = RowMemory(10_000)
    for _ in range(3):
        memory.of("kind", rows(view(2), 1), Fresh("new"))
    assert decoded(memory.of("kind", rows(view(1), 1), Fresh("old")))[0]["is"] == "old"
    assert decoded(memory.of("kind", rows(view(2), 1), Fresh("not asked")))[0]["is"] == "new"


def test_the_memory_is_bounded_in_bytes():
    taken = len(orjson.dumps({"number": 1, "is": "row"})) + ROW_BYTES
    memory, fresh, at = RowMemory(2 * taken), Fresh(), view(1)
    for _ in range(3):
        memory.of("kind", rows(at, 1, 2), fresh)
    assert memory.bytes_kept == 2 * taken
    for _ in range(3):
        found = memory.of("kind", rows(at, 2, 3), fresh)
        assert [each["number"] for each in decoded(found)] == [2, 3]
    assert fresh.asked == [[1, 2], [1, 2], *[[2, 3]] * 3]
    assert memory.bytes_kept == 2 * taken


def test_wide_rows_take_the_room_of_many():
    memory, fresh, at = RowMemory(5_000), Fresh("x" * 3_000), view(1)
    for numbers in ((1,), (1,), (2,), (1, 2), (2, 1)):
        found = memory.of("kind", rows(at, *numbers), fresh)
        assert [each["number"] for each in decoded(found)] == list(numbers)
    assert fresh.asked == [[1], [1], [2], [2], [2]], "the second never fits beside the first"
    assert 3_000 < memory.bytes_kept < 5_000
    memory.of("kind", rows(view(2), 1), fresh)
    assert memory.bytes_kept == 0


def test_the_memory_is_bounded_in_kinds():
    memory, at, fresh = RowMemory(10_000_000), view(1), Fresh()
    for place in range(SIGNATURES_MAX + 1):
        memory.of(place, rows(at, 1), Fresh())
    for _ in range(3):
        memory.of(SIGNATURES_MAX, rows(at, 1), fresh)
    assert fresh.asked == [[1]] * 3


@pytest.mark.parametrize("bytes_max", [0, 10_000])
def test_rows_that_have_no_number_are_never_remembered(bytes_max):
    memory, fresh, at = RowMemory(bytes_max), Fresh(), view(1)
    for _ in range(3):
        memory.of("kind", rows(at, 1, kept=False), fresh)
    assert fresh.asked == [[1]] * 3


def test_rows_are_a_list_to_whoever_goes_through_them():
    found = Rows(view(1), (3, 1), lambda number: number * 10)
    assert list(found) == [30, 10]
    assert len(found) == 2
