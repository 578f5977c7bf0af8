"""Publishing: where it is gone on from, one commit after the other, and who is told.

A commit carries the newest revision in it. Where nothing differs there is none, and that the output
is as new as that revision is told all the same.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph.model.change import Cursor
from graph.model.errors import TrellisError
from graph.model.publication import HeldBack, Report
from graph.trace import Trace, untraced
from renderer.message import Complete, Reason
from renderer.source.port import Source
from renderer.story import body_of, subject_of
from renderer.tree import Head, Publisher, Told
from renderer.work import history
from renderer.work.batch import Batch
from renderer.work.measures import Measures
from renderer.work.planning import Plan
from renderer.work.stamp import Stamp
from renderer.work.thread import Thread

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where to go on."""

    head: Head
    fresh: bool
    """Whether everything is to be written, as if nothing were known of the head."""
    after: str | None
    """The cursor to follow from; None for a snapshot."""
    discarded: bytes | None = None
    """What is written down when the output is given to another history; None: it is not."""


@dataclass(frozen=True, slots=True)
class Published:
    """What came out."""

    head: Head
    complete: Complete
    changes: Mapping[str, bool]
    """Files that differ from the head before: True written, False gone."""
    commit: bool
    """Whether there was one."""
    restored: tuple[str, ...] = ()
    """Files that somebody else had changed, and that are as they were again."""
    held: tuple[HeldBack, ...] = ()
    """What is not published as it should be."""


def _never(head: Head) -> bool:
    """What is there can be gone on from."""
    return False


class Publishing:
    """One output of one source."""

    def __init__(
        self,
        source: Source,
        publisher: Publisher,
        plan: Plan,
        stamp: Stamp,
        *,
        name: str,
        measures: Measures,
        trace: Trace = untraced,
        adopt: bool = False,
        stale: Callable[[Head], bool] = _never,
    ) -> None:
        self.source = source
        self.measures = measures
        self._publisher = publisher
        self._plan = plan
        self._stamp = stamp
        self._name = name
        self._trace = trace
        self._adopt = adopt
        self._stale = stale
        self._thread = Thread()
        self._reached: tuple[str, str] | None = None
        """A commit, and the cursor up to which nothing differs from it."""

    async def start(self, *, resync: bool = False, take_over: bool = False) -> Standing:
        """Where to go on, once it is certain that what is there is of the source's history.

        ``resync``: from a snapshot. ``take_over``: likewise, whatever history it is of (H4).
        """
        standing = await self.look(fresh=resync or take_over)
        if take_over:
            discarded = await history.take_over(self.source, standing.head)
            return replace(standing, discarded=discarded)
        await history.check_history(self.source, standing.head, self._name)
        return standing

    async def look(self, *, fresh: bool = False) -> Standing:
        """The head as it is kept, and how to go on from it; ``fresh``: from a snapshot."""
        head = await self._thread.do(self._publisher.head)
        known = self._reached is not None and self._reached[0] == head.commit
        same = known or self._stamp.continues(head.stamp, adopt=self._adopt)
        if head.restored:
            _say(
                "files that the worker owns were edited by somebody else; restoring them",
                paths=len(head.restored),
            )
        fresh = fresh or not same or head.cursor is None or self._stale(head)
        return Standing(head, fresh, None if fresh else self._cursor(head))

    async def begin(self, head: Head, *, fresh: bool, discarded: bytes | None = None) -> Batch:
        """The next commit on ``head``."""
        if fresh:
            _say("rendering everything", commit=head.commit)
        return await Batch.begin(
            self._thread,
            self._publisher,
            self._plan,
            head,
            fresh=fresh,
            discarded=discarded,
            trace=self._trace,
        )

    async def finish(self, batch: Batch, complete: Complete, *, confirm: str = "") -> None:
        """The end of a step."""
        self.measures.heard(complete.revision)
        with self.measures.timed("plan"):
            await batch.finish(complete, confirm=confirm)

    async def publish(self, batch: Batch, *, subject: str = "") -> Published:
        """Commit a batch and tell of it; ``Conflict`` if another came first."""
        complete = batch.complete
        assert complete is not None, "a batch is published when a step is finished"
        if batch.fresh and not batch.takes_over:  # it took a while, and its store may be another
            await history.check_history(self.source, batch.head, self._name)
        with self.measures.timed("publish"), self._trace("publish", revision=complete.revision):
            changes = await batch.changes()
            head = None
            if changes or batch.head.restored:
                head = await batch.commit(await self._told(batch, complete, changes, subject))
            await batch.end()
        self._adopt = False  # from now on whoever has other settings is a stranger
        published = Published(
            head or batch.head,
            complete,
            changes,
            head is not None,
            batch.head.restored,
            batch.held,
        )
        self._reached = (published.head.commit, complete.cursor)
        await self._tell(published)
        return published

    async def keep_up(self, work: Callable[[], object]) -> None:
        """Do some upkeep of where it is published, while nothing else is done there."""
        await self._thread.do(work)

    def close(self) -> None:
        """No more."""
        self._thread.close()

    def _cursor(self, head: Head) -> str | None:
        if self._reached is not None and self._reached[0] == head.commit:
            return self._reached[1]
        return head.cursor

    async def _told(
        self, batch: Batch, complete: Complete, changes: Mapping[str, bool], subject: str
    ) -> Told:
        reasons: Sequence[Reason] = ()
        if batch.takes_over:
            subject = f"Give the output to another history, at its revision {complete.revision:,}"
        elif batch.fresh:
            subject = subject or f"Render everything at revision {complete.revision:,}"
        if not batch.fresh:
            reasons = await self._reasons(batch.head.cursor, complete.revision)
        return Told(
            subject or subject_of(reasons, complete.revision),
            body_of(reasons, changes, batch.held, batch.head.restored),
            complete.cursor,
            str(self._stamp),
        )

    async def _reasons(self, after: str | None, until: int) -> Sequence[Reason]:
        try:
            return await self.source.reasons(after, until)
        except TrellisError as error:  # the files are what counts
            _say(
                "the commit goes without the reasons of its changes",
                level=logging.WARNING,
                reason=error.message,
            )
            return ()

    async def _tell(self, published: Published) -> None:
        complete, held = published.complete, published.held
        written = sum(published.changes.values())
        removed = len(published.changes) - written
        self.measures.published(complete.revision, written, removed, len(held))
        if published.commit:
            _say(
                "published",
                revision=complete.revision,
                commit=published.head.commit,
                written=written,
                removed=removed,
                held=len(held),
            )
        if not published.head.commit:  # nothing was ever published, for there is nothing
            return
        cursor = Cursor.parse(complete.cursor)
        told = Report(self._name, cursor, published.head.commit, held)
        try:
            await self.source.report(told)
        except TrellisError as error:  # it is published all the same, and the next report says so
            _say(
                "the API did not keep the publication report; the next one is sent as usual",
                level=logging.WARNING,
                reason=error.message,
            )


def _say(message: str, *, level: int = logging.INFO, **fields: Any) -> None:
    _log.log(level, message, extra={"fields": fields})
