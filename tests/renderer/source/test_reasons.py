"""The log, read backwards for reasons."""

from __future__ import annotations

import pytest

from renderer.message import Reason
from renderer.source.reasons import PAGES_MAX, Page, reasons_between

LOG = [Reason(each, "ana", f"why {each}") for each in range(100, 0, -1)]


class Pages:
    """A log in pages of ten at most."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def __call__(self, behind: str | None, first: int) -> Page:
        self.asked.append(first)
        start = 0 if behind is None else int(behind)
        end = start + min(first, 10)
        return Page(LOG[start:end], str(end) if end < len(LOG) else None)


@pytest.mark.parametrize(
    ("after", "until", "most", "expected", "asked"),
    [
        (98, 100, 50, [99, 100], 1),
        (90, 95, 50, [91, 92, 93, 94, 95], 1),
        (89, 92, 50, [90, 91, 92], 2),
        (0, 100, 15, [*range(86, 101)], 2),
        (100, 100, 50, [], 1),
        (10, 20, 50, [], PAGES_MAX),
    ],
)
async def test_no_more_is_read_than_is_needed(after, until, most, expected, asked):
    pages = Pages()
    found = await reasons_between(pages, f"{after}.{'0' * 16}", until, most)
    assert [each.revision for each in found] == expected
    assert len(pages.asked) == asked
    assert pages.asked[0] <= until - after + 5, "a few changes are few to read"
