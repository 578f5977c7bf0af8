"""A batch: steps that are planned one after the other and published as one commit."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from graph.model.errors import NotFound
from graph.model.names import quoted
from graph.model.publication import HeldBack
from graph.trace import Trace, untraced
from renderer import paths
from renderer.message import Complete, Message
from renderer.tree import Draft, Head, Publisher, Told
from renderer.work.planning import Plan, Planned, Planning
from renderer.work.thread import Thread


@dataclass(slots=True)
class Batch:
    """A draft and what goes into it. Make it with ``Batch.begin``; end it, whatever happens."""

    head: Head
    fresh: bool
    """Whether it is of a snapshot, which goes alone."""
    _thread: Thread
    _draft: Draft
    _plan: Planning
    _trace: Trace
    takes_over: bool = False
    """Whether it gives the output to another history."""
    complete: Complete | None = None
    """How far it goes; None before the first step is finished."""
    planned: Planned | None = None
    _taking: bool = False
    _ended: bool = False
    _first_seconds: float = 0.0
    _last_seconds: float = 0.0
    _following: ExitStack = field(default_factory=ExitStack)

    @staticmethod
    async def begin(
        thread: Thread,
        publisher: Publisher,
        plan: Plan,
        head: Head,
        *,
        fresh: bool,
        discarded: bytes | None = None,
        trace: Trace = untraced,
    ) -> Batch:
        """The next commit on ``head``; ``discarded`` is written down with it (H4)."""
        draft = await thread.do(publisher.begin, head)
        try:
            if discarded is not None:
                await thread.do(_write_down, draft, discarded)
            planning = await thread.do(plan, head, draft, fresh)
        except BaseException:
            await thread.do(draft.abandon)
            raise
        return Batch(head, fresh, thread, draft, planning, trace, discarded is not None)

    @property
    def held(self) -> tuple[HeldBack, ...]:
        """What is not planned as it should be, as far as is known."""
        return () if self.planned is None else self.planned.held

    async def take(self, message: Message) -> None:
        """A part of a step."""
        if not self._taking:
            self._taking = True
            self._following.enter_context(self._trace("follow"))
        await self._thread.do(self._plan.take, message)

    async def finish(self, complete: Complete, *, confirm: str = "") -> None:
        """The end of a step, with a wave of an application that somebody agreed to."""
        self._following.close()
        with self._trace("plan", revision=complete.revision):
            if confirm:
                await self._confirm(confirm)
            self.planned = await self._thread.do(self._plan.finish, complete)
        self.complete, self._taking = complete, False
        self._last_seconds = time.monotonic()
        self._first_seconds = self._first_seconds or self._last_seconds

    async def retry(self, complete: Complete) -> None:
        """A step in which nothing is said, and what failed is tried again."""
        await self._thread.do(self._plan.retry)
        await self.finish(complete)

    def wait_seconds(self, quiet_seconds: float, seconds_max: float) -> float | None:
        """How long to wait for another step; None while one has begun: that one is waited for."""
        if self._taking or self.complete is None:
            return None
        until = min(self._last_seconds + quiet_seconds, self._first_seconds + seconds_max)
        return max(0.0, until - time.monotonic())

    async def changes(self) -> Mapping[str, bool]:
        """Files that would differ: True written, False gone."""
        return await self._thread.do(self._draft.changes)

    async def commit(self, told: Told) -> Head | None:
        """Make it the head; None where no file differs."""
        found = await self._thread.do(self._draft.commit, told)
        self._ended = True
        return found

    async def end(self) -> None:
        """Leave everything as it was, unless it was committed."""
        self._following.close()
        if not self._ended:
            self._ended = True
            await self._thread.do(self._draft.abandon)

    async def _confirm(self, application: str) -> None:
        if not await self._thread.do(self._plan.confirm, application):
            raise NotFound(
                f"nothing of {quoted(application)} waits to be confirmed",
                hint="what does is listed in .trellis/held.json",
            )


def _write_down(draft: Draft, discarded: bytes) -> None:
    if discarded:
        draft.write(paths.DISCARDED, discarded)
    else:
        draft.remove(paths.DISCARDED)
