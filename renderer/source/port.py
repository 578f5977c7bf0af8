"""Where changes come from, as the worker sees it.

Q1  ``follow`` says whole steps in order: none twice, none left out, each ended by ``Complete``.
Q2  Without ``after`` the first step is everything, as if there had been nothing before.
Q3  A cursor that cannot be gone on from raises ``ResyncRequired``; a source that cannot be reached
    raises ``Unavailable``; the worker decides what then.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from graph.model.change import Relation
from graph.model.publication import Report
from renderer.message import Message, Reason


@dataclass(frozen=True, slots=True)
class Located:
    """What cursors are in a source's history."""

    revision: int
    """How far the source has come."""
    relations: tuple[Relation, ...]
    """In the order of the cursors."""


class Source(Protocol):
    """Says what is to be rendered, and is told what was published."""

    def follow(self, after: str | None) -> AsyncGenerator[Message]:
        """Everything behind ``after``; then whatever comes, without end."""
        ...

    async def reasons(self, after: str | None, until: int) -> Sequence[Reason]:
        """Why the revisions behind a cursor are there, oldest first; the newest of too many."""
        ...

    async def locate(self, cursors: Sequence[str], commit: str) -> Located:
        """How cursors relate to the source's history; ``commit`` is where the first one is."""
        ...

    async def report(self, report: Report) -> None:
        """Say what was published."""
        ...
