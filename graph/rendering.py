"""What runs where, followed by whoever renders it.

A renderer comes with the cursor it completed last, or with none. It is told what differs between
the state there and the newest one, as one step however many changesets lie between; then it goes
on with the log. Where the state at its cursor can no longer be known it has to start again: never
a guess.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from graph.effective.state import State
from graph.effective.step import advance
from graph.feed import Feed, elsewhere
from graph.following import Following
from graph.model.change import Changeset, Cursor, net
from graph.model.command import LOSS_MAX
from graph.model.errors import ResyncRequired, Unavailable
from graph.states import States
from graph.store.port import Store
from graph.timeline import Timeline


@dataclass(frozen=True, slots=True)
class RenderingStep:
    """From one state to another, and what was accepted to be lost on the way."""

    was: State | None
    """None where there is nothing before."""
    now: State
    accepted_loss: int
    history: int
    """Which history it is of: a record may be replaced, and then numbers mean other clusters."""
    store: str
    """The identity of the store it is of."""

    @property
    def since(self) -> Cursor | None:
        """Where it begins; None where there is nothing before."""
        return None if self.was is None else replace(self.was.view.cursor, store=self.store)

    @property
    def cursor(self) -> Cursor:
        """How far it goes, as a renderer keeps it: with the identity of the store."""
        return replace(self.now.view.cursor, store=self.store)


@dataclass(frozen=True, slots=True)
class Rendering:
    """Follows the states of one engine."""

    following: Following
    store: Store
    timeline: Timeline
    feed: Feed
    states: States

    async def begin(self, after: Cursor | None) -> RenderingStep:
        """From where a renderer left, or from nothing, to about the newest state."""
        history, store = self.feed.restarts, await self.store.identity()
        was = None
        if after is not None:
            if after.store and after.store != store:
                raise elsewhere(after)
            was = await self.states.soon(await self.following.snapshot(after))
        now = await self.states.soon(self.timeline.head)
        loss = 0 if was is None else await self.accepted_loss(was.view.cursor, now.view.cursor)
        self._check(history)
        return RenderingStep(was, now, loss, history, store)

    async def between(self, here: RenderingStep, there: RenderingStep) -> RenderingStep:
        """From where one step ended to where another did, which is not behind."""
        loss = await self.accepted_loss(here.now.view.cursor, there.now.view.cursor)
        return RenderingStep(here.now, there.now, loss, there.history, there.store)

    def go_on(self, last: RenderingStep, changeset: Changeset) -> RenderingStep:
        """From where a step ended to the newest state, now that ``changeset`` is there.

        Nothing is waited for. Of what was accepted to be lost only what is known is told: too
        little holds something up, too much would let it pass.
        """
        self._check(last.history)
        was, view = last.now, self.timeline.head
        recent = self.feed.after(was.view.cursor)
        loss = accepted_loss((changeset,) if recent is None else recent)
        now = self.states.held(view.cursor)
        if now is None and recent is not None:
            changes = net(change for each in recent for change in each.changes)
            now = self.states.keep(advance(was, view, changes))
        if now is None:  # to work it out here would keep everybody waiting
            raise Unavailable(
                "what runs where at the newest revision is not worked out yet",
                hint="follow again from the cursor that was completed last",
            )
        return RenderingStep(was, now, loss, last.history, last.store)

    async def accepted_loss(self, after: Cursor, until: Cursor) -> int:
        """What the changesets from ``after`` to ``until`` accepted to lose."""
        recent = self.feed.after(after)
        if recent is not None:
            return accepted_loss(each for each in recent if each.revision <= until.revision)
        total = 0
        async for changeset in self.store.changesets(after=after):
            if changeset.revision > until.revision:
                break
            total += changeset.accepted_loss
        return min(total, LOSS_MAX)

    def _check(self, history: int) -> None:
        if self.feed.restarts != history:
            raise ResyncRequired("the record was replaced", hint="start again from a snapshot")


def accepted_loss(changesets: Iterable[Changeset]) -> int:
    """What changesets accepted to lose, in all."""
    return min(sum(each.accepted_loss for each in changesets), LOSS_MAX)
