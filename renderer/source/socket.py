"""The API as a source: its `rendering` subscription, its log, and where it is told what came out.

What is followed has a connection of its own. The worker may be slow to take it, and then the API
waits; a question asked over the same connection would wait behind what is not read yet.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from graph.model.errors import Denied, Unavailable
from graph.model.publication import Report
from renderer.message import Message, Reason
from renderer.settings import SourceSettings
from renderer.source.connection import answer, connected
from renderer.source.port import Located
from renderer.source.reasons import Page, reasons_between
from renderer.source.wire import (
    LOCATE,
    REASONS,
    RENDERING,
    REPORT,
    REPORTED,
    located_of,
    message_of,
    page_of,
    report_of,
)


class SocketSource:
    """A fleet that is served elsewhere."""

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings

    async def follow(self, after: str | None) -> AsyncGenerator[Message]:
        """Everything behind ``after``; then whatever comes, without end."""
        async with (
            connected(self._settings) as connection,
            aclosing(connection.operate(RENDERING, {"after": after})) as results,
        ):
            async for data in results:
                yield message_of(data["rendering"])
        raise Unavailable("the API has ended what is followed", hint="it is tried again")

    async def reasons(self, after: str | None, until: int) -> Sequence[Reason]:
        """Why the revisions behind a cursor are there, oldest first; the newest of too many."""
        return await reasons_between(self._page, after, until, self._settings.reasons_max)

    async def locate(self, cursors: Sequence[str], commit: str) -> Located:
        """How cursors relate to the history of the API's fleet."""
        asked = {"cursors": cursors, "commit": commit or None}
        return located_of((await self._ask(LOCATE, asked))["record"])

    async def report(self, report: Report) -> None:
        """Say what was published."""
        data = await self._ask(REPORT, {"input": report_of(report)})
        told = data["reportPublished"]
        if told["__typename"] != REPORTED:
            raise Denied(f"the API says: {told['message']}", hint=told["hint"])

    async def _page(self, behind: str | None, first: int) -> Page:
        found = await self._ask(REASONS, {"first": first, "after": behind})
        return page_of(found["changesets"])

    async def _ask(self, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        async with connected(self._settings) as connection:
            return await answer(connection, query, variables, self._settings.answer_seconds)
