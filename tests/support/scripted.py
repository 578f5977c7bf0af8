"""A source that says what a test tells it to, when it tells it: steps, and how a stream ends.

    source = ScriptedSource()
    source.say(pointers("york-1"), revision=1)
    source.end(Unavailable("gone"))

Whoever follows is first told all that is behind their cursor as one step, then step by step. Every
step is a list of messages whose end is made of its revision.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from graph.effective.portion import Line, Pointer, Pointers
from graph.model.change import Relation
from graph.model.errors import ResyncRequired
from graph.model.inventory import ClusterKind, Reconciler
from graph.model.publication import Report
from renderer.message import Complete, Message, Reason
from renderer.source.port import Located


def cursor(revision: int) -> str:
    """The cursor of a revision."""
    return f"{revision}.{'0' * 16}"


def pointers(*names: str, lines: Sequence[Line] = ()) -> Pointers:
    """Clusters, told."""
    return Pointers(
        tuple(
            Pointer(name, ClusterKind.KUBERNETES, Reconciler.FLUX, None, (), tuple(lines))
            for name in names
        )
    )


@dataclass
class ScriptedSource:
    """Says what it is told to say."""

    steps: dict[int, list[Message]] = field(default_factory=dict)
    reports: list[Report] = field(default_factory=list)
    followed: list[str | None] = field(default_factory=list)
    """Cursors that were followed from."""
    unknown: set[str] = field(default_factory=set)
    """Cursors that cannot be gone on from."""
    endings: list[Exception] = field(default_factory=list)
    """How the next streams end, instead of waiting for more."""
    away: Exception | None = None
    """What whoever follows is refused with."""
    refusing: Exception | None = None
    """What reports and questions are refused with."""
    relations: dict[str, Relation] = field(default_factory=dict)
    """What cursors are in its history, unless they are places in it."""
    located: list[tuple[str, ...]] = field(default_factory=list)
    """Cursors that were asked about."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, *messages: Message, revision: int) -> None:
        """A step."""
        self.steps[revision] = [*messages, Complete(cursor(revision), revision, 0)]
        self._news.set()
        self._news = asyncio.Event()

    async def follow(self, after: str | None) -> AsyncGenerator[Message]:
        """As a source does."""
        self.followed.append(after)
        if self.away is not None:
            raise self.away
        if after in self.unknown:
            raise ResyncRequired("too old", hint="start again")
        at = 0 if after is None else int(after.partition(".")[0])
        behind = sorted(each for each in self.steps if each > at)
        for revision in behind:
            for message in self.steps[revision][:-1]:
                yield message
        at = max([at, *behind])
        yield Complete(cursor(at), at, 0)
        while True:
            news = self._news
            for revision in sorted(each for each in self.steps if each > at):
                for message in self.steps[revision]:
                    yield message
                at = revision
            if self.endings:
                raise self.endings.pop(0)
            await news.wait()

    async def reasons(self, after: str | None, until: int) -> Sequence[Reason]:
        """Why each step is there."""
        if self.refusing is not None:
            raise self.refusing
        since = 0 if after is None else int(after.partition(".")[0])
        told = sorted(each for each in self.steps if since < each <= until)
        return [Reason(each, "ana", f"why {each}") for each in told]

    async def locate(self, cursors: Sequence[str], commit: str) -> Located:
        """What cursors are in its history."""
        self.located.append(tuple(cursors))
        found = tuple(self.relations.get(each, Relation.CONTAINED) for each in cursors)
        return Located(max(self.steps, default=0), found)

    async def report(self, report: Report) -> None:
        """Remember it."""
        if self.refusing is not None:
            raise self.refusing
        self.reports.append(report)
