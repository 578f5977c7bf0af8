"""The worker: follows a source and keeps an output equal to it, until it is told to stop.

What is published is all it knows. It may end at any moment, by a signal or without one, and the
next one goes on from the newest commit. A commit under way is finished; what is not complete is
left. Whatever may succeed later is tried again, after waits that grow and differ between workers.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from graph.model.errors import Conflict, ResyncRequired, TrellisError, Unavailable
from renderer.message import Complete, Message
from renderer.settings import RenderSettings, SourceSettings
from renderer.story import RETRIED, UNDONE
from renderer.tree import Head
from renderer.work.batch import Batch
from renderer.work.publishing import Publishing, Standing
from renderer.work.stream import Stream, listening

_log = logging.getLogger(__name__)


def _unwatched(message: Message) -> None:
    """Nobody looks."""


@dataclass(slots=True)
class Backoff:
    """Waits that double, vary by half, and begin again after a success."""

    first_seconds: float
    seconds_max: float
    _failures: int = 0

    def next(self) -> float:
        """How long to wait this time."""
        wait = min(self.seconds_max, self.first_seconds * 2.0 ** min(self._failures, 30))
        self._failures += 1
        return wait * random.uniform(0.5, 1.0)  # noqa: S311 - it keeps workers apart, no secret

    def reset(self) -> None:
        """It has worked."""
        self._failures = 0


class Worker:
    """Keeps an output equal to a source."""

    def __init__(
        self,
        publishing: Publishing,
        settings: RenderSettings,
        source: SourceSettings,
        *,
        watch: Callable[[Message], None] = _unwatched,
        upkeep: Callable[[], object] | None = None,
        anew: bool = False,
    ) -> None:
        self._publishing = publishing
        self._settings = settings
        self._backoff = Backoff(source.retry_seconds, source.retry_seconds_max)
        self._watch = watch
        self._upkeep = upkeep
        self._take_over = anew
        """Whether the output is to be given to this history."""
        self._resync = False
        """Whether the source can no longer say what differs from the head."""
        self._failed = True
        """Whether something could not be rendered, as far as is known."""
        self._pending = False
        """Whether a template was stopped because others waited."""
        self._examined = ""
        """The newest commit of which everything that owners pushed was looked at."""

    async def run(self) -> NoReturn:
        """Follow without end; only what no wait can mend is raised."""
        while True:
            try:
                await self._session()
            except ResyncRequired as error:
                _warn("rendering everything again", error)
                if self._resync:
                    await asyncio.sleep(self._backoff.next())
                self._resync = True
            except Conflict as error:
                _log.info("another worker was first: %s", error.message)
                self._publishing.measures.overtaken()
                await asyncio.sleep(self._quiet_seconds * random.random())  # noqa: S311 - as above
            except (Unavailable, OSError) as error:
                wait_seconds = self._backoff.next()
                self._publishing.measures.failed()
                _warn(f"trying again in {wait_seconds:.1f} s", error)
                await asyncio.sleep(wait_seconds)

    @property
    def _quiet_seconds(self) -> float:
        return self._settings.batch_milliseconds / 1000

    async def _session(self) -> None:
        standing = await self._publishing.start(resync=self._resync, take_over=self._take_over)
        async with listening(self._publishing.source.follow(standing.after)) as stream:
            await self._follow(stream, standing)

    async def _follow(self, stream: Stream, standing: Standing) -> None:
        head, fresh, batch = standing.head, standing.fresh, None
        cursor = standing.after
        tend_at = time.monotonic()
        if not self._is_pushed_to(head):
            tend_at += self._settings.retry_seconds
        try:
            while True:
                message = await stream.next(self._wait_seconds(batch, tend_at))
                if message is not None:
                    batch = batch or await self._publishing.begin(
                        head, fresh=fresh, discarded=standing.discarded if fresh else None
                    )
                    await self._take(batch, message)
                if batch is None:
                    if cursor is not None:
                        head = await self._tend(head, cursor)
                    tend_at = time.monotonic() + self._pause_seconds
                elif message is None or self._is_due(batch):
                    head, cursor = await self._publish(batch)
                    batch, fresh = None, False
                    tend_at = min(tend_at, time.monotonic() + self._pause_seconds)
        finally:
            if batch is not None:
                await batch.end()

    def _wait_seconds(self, batch: Batch | None, tend_at: float) -> float | None:
        if batch is None:
            return max(0.0, tend_at - time.monotonic())
        return batch.wait_seconds(self._quiet_seconds, self._settings.batch_seconds_max)

    def _is_due(self, batch: Batch) -> bool:
        """Whether it is published now, though more may wait already."""
        return (batch.fresh and batch.complete is not None) or self._wait_seconds(batch, 0) == 0

    async def _take(self, batch: Batch, message: Message) -> None:
        self._watch(message)
        if isinstance(message, Complete):
            await self._publishing.finish(batch, message)
            self._backoff.reset()
        else:
            await batch.take(message)

    async def _publish(self, batch: Batch) -> tuple[Head, str]:
        published = await self._publishing.publish(batch)
        self._resync = self._resync and not batch.fresh
        self._take_over = False
        self._note(batch, published.head)
        return published.head, published.complete.cursor

    @property
    def _pause_seconds(self) -> float:
        """How long to wait before the next look: not at all where a template may be tried now."""
        return 0.0 if self._pending else self._settings.retry_seconds

    def _is_pushed_to(self, head: Head) -> bool:
        """Whether owners may have pushed something that was not looked at yet."""
        if head.pushed is None:
            return True
        return bool(head.pushed) and head.commit != self._examined

    def _note(self, batch: Batch, head: Head) -> None:
        self._examined = head.commit
        self._pending = batch.planned is not None and batch.planned.pending
        self._failed = batch.planned is None or any(each.reason == "failed" for each in batch.held)

    async def _tend(self, head: Head, cursor: str) -> Head:
        """Nothing was said for a while: look whether others wrote, and try again what failed."""
        standing = await self._publishing.look()
        if standing.fresh or standing.head.cursor != head.cursor:
            raise Conflict("the output has moved on", hint="it is gone on from there")
        if self._upkeep is not None:
            await self._publishing.keep_up(self._upkeep)
        head = standing.head
        if not (self._failed or head.restored or self._is_pushed_to(head)):
            return head
        batch = await self._publishing.begin(head, fresh=False)
        try:
            await batch.retry(Complete(cursor, int(cursor.partition(".")[0]), 0))
            subject = UNDONE if head.restored else RETRIED
            published = await self._publishing.publish(batch, subject=subject)
        finally:
            await batch.end()
        self._note(batch, published.head)
        return published.head


def _warn(what: str, error: Exception) -> None:
    told = error.message if isinstance(error, TrellisError) else str(error)
    hint = f" ({error.hint})" if isinstance(error, TrellisError) and error.hint else ""
    _log.warning("%s%s; %s", told, hint, what)
