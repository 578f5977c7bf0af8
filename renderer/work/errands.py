"""Errands: what a worker does once, instead of following for ever.

Each takes one step: from where the output is, or from nothing, to about the newest revision.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from graph.model.change import Cursor
from graph.model.errors import Conflict, ResyncRequired, Unavailable
from graph.model.publication import HeldBack
from renderer import paths
from renderer.message import Complete, Message
from renderer.story import RETRIED, UNDONE
from renderer.work.batch import Batch
from renderer.work.publishing import Published, Publishing, Standing
from renderer.work.stream import listening

TRIES_MAX = 5
"""Times an errand is begun because the output moved on meanwhile."""

CATCH_UP_SECONDS = 1.0
"""What a worker that is a little behind is given before it is looked at again."""


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What would be published, and was not."""

    complete: Complete
    changes: Mapping[str, bool]
    """Files that would differ: True written, False gone."""
    why: Mapping[str, str]
    """By path of a file, or of a directory it is in."""
    held: tuple[HeldBack, ...]
    """What would not be published as it should be."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What is published beside what it should be."""

    revision: int
    differences: Mapping[str, bool]
    """Files that rendering from scratch would write (True) or would not have (False)."""
    restored: tuple[str, ...]
    """Files that somebody else changed."""
    held: tuple[HeldBack, ...] = ()
    """What is not published as it should be."""

    @property
    def whole(self) -> bool:
        """Whether there is nothing to complain about."""
        return not self.differences and not self.restored


class Errands:
    """What can be done once."""

    def __init__(self, publishing: Publishing, watch: Callable[[Message], None]) -> None:
        self._publishing = publishing
        self._watch = watch

    async def once(self, *, confirm: str = "", anew: bool = False) -> Published:
        """Publish up to about now; with ``confirm``, also the wave of that application."""
        subject = f"Let go of what {confirm} was to lose, as confirmed" if confirm else ""
        resync = False
        for _ in range(TRIES_MAX):
            try:
                stepped = self._stepped(resync=resync, take_over=anew, confirm=confirm)
                async with stepped as (_, batch):
                    said = subject or _subject_of(batch)
                    return await self._publishing.publish(batch, subject=said)
            except ResyncRequired:
                resync = True
            except Conflict:
                pass
        raise _busy()

    async def rehearse(self) -> Rehearsed:
        """What ``once`` would do."""
        try:
            return await self._rehearse(resync=False)
        except ResyncRequired:
            return await self._rehearse(resync=True)

    async def verify(self) -> Verified:
        """Render everything and compare it with what is published."""
        behind = 0
        for each in range(TRIES_MAX):
            if each:
                await asyncio.sleep(CATCH_UP_SECONDS)
            async with self._stepped(resync=True) as (standing, batch):
                changes = await batch.changes()
                complete = batch.complete
            assert complete is not None, "the step is finished"
            owned = {path: new for path, new in changes.items() if paths.is_owned(path)}
            head = standing.head
            if not owned or _revision(head.cursor) >= complete.revision:
                return Verified(complete.revision, owned, head.restored, batch.held)
            behind = complete.revision - _revision(head.cursor)
        raise Unavailable(
            f"what is published is {behind:,} revisions behind, and cannot be compared",
            hint="publish first: trellis render --once",
        )

    async def _rehearse(self, *, resync: bool) -> Rehearsed:
        async with self._stepped(resync=resync) as (_, batch):
            complete, planned = batch.complete, batch.planned
            assert complete is not None and planned is not None, "the step is finished"
            return Rehearsed(complete, await batch.changes(), planned.why, planned.held)

    @asynccontextmanager
    async def _stepped(
        self, *, resync: bool, take_over: bool = False, confirm: str = ""
    ) -> AsyncGenerator[tuple[Standing, Batch]]:
        """One step, planned; nothing is left of it unless it is published."""
        standing = await self._publishing.start(resync=resync, take_over=take_over)
        batch = await self._publishing.begin(
            standing.head, fresh=standing.fresh, discarded=standing.discarded
        )
        try:
            async with listening(self._publishing.source.follow(standing.after)) as stream:
                while batch.complete is None:
                    message = await stream.next()
                    assert message is not None, "it is waited for"
                    self._watch(message)
                    if isinstance(message, Complete):
                        await self._publishing.finish(batch, message, confirm=confirm)
                        await _try_again(batch, message)
                    else:
                        await batch.take(message)
            yield standing, batch
        finally:
            await batch.end()


async def _try_again(batch: Batch, complete: Complete) -> None:
    """What failed before may not now; a snapshot tried everything."""
    if batch.fresh:
        return
    again = replace(complete, accepted_loss=0)
    if any(each.reason == "failed" for each in batch.held):
        await batch.retry(again)
    while batch.planned is not None and batch.planned.pending:
        await batch.retry(again)


def _subject_of(batch: Batch) -> str:
    """The subject, where no change of the fleet is behind it."""
    complete = batch.complete
    assert complete is not None, "the step is finished"
    if batch.fresh or _revision(batch.head.cursor) != complete.revision:
        return ""
    return UNDONE if batch.head.restored else RETRIED


def _revision(cursor: str | None) -> int:
    return 0 if cursor is None else Cursor.parse(cursor).revision


def _busy() -> Conflict:
    return Conflict(
        f"another worker was first {TRIES_MAX} times in a row",
        hint="let that one go on: it publishes the same",
    )
