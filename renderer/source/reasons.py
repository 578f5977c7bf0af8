"""Why revisions are there, looked up in a log that is read newest first, a page at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from graph.model.change import Cursor
from renderer.message import Reason

PAGES_MAX = 5
"""Pages of the log that are looked at for the reasons of one commit."""

_AHEAD = 5
"""How far the log may have gone on beyond ``until`` and still be read in one small page."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the log, newest first."""

    reasons: Sequence[Reason]
    end: str | None
    """Where the next page goes on; None where there is none."""


async def reasons_between(
    page_behind: Callable[[str | None, int], Awaitable[Page]],
    after: str | None,
    until: int,
    most: int,
) -> Sequence[Reason]:
    """Those behind ``after`` up to ``until``, oldest first; the newest of too many.

    A changeset may be large and is read whole for its reason, so at first few are asked for.
    """
    since = 0 if after is None else Cursor.parse(after).revision
    found: list[Reason] = []
    end: str | None = None
    for _ in range(PAGES_MAX):
        few = min(most, until - since + _AHEAD)
        page = await page_behind(end, few if end is None else most)
        found += [each for each in page.reasons if since < each.revision <= until]
        end = page.end
        reached = not page.reasons or page.reasons[-1].revision <= since + 1
        if reached or len(found) >= most or end is None:
            break
    return found[:most][::-1]
