"""The trail of `rendering`: what runs where, from a state to the next, in bounded messages."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Hashable, Iterable, Iterator
from dataclasses import replace

from api.context import Context
from api.schema.names import Cursor as ShownCursor
from api.schema.names import Revision
from api.schema.rendering import RenderingComplete, event_of
from api.schema.trail import Message, Place, Trail
from graph.effective.portion import Bounds
from graph.effective.rendition import Rendition, rendition
from graph.effective.spelling import portions
from graph.model.change import Changeset
from graph.model.errors import Denied
from graph.rendering import RenderingStep


class RenderingTrail(Trail):
    """Everything that is rendered. Refused to whoever sees less than all."""

    paced = True

    def __init__(self, context: Context, after: str | None) -> None:
        if not context.access.sees_all:
            raise Denied(
                "a rendering is of the whole fleet, of which you see a part:"
                " rendered without the rest, stores would be deleted",
                hint="ask an admin for a reader's grant over everything",
            )
        super().__init__(context, after)

    @property
    def key(self) -> Hashable:
        """There is one fleet."""
        return None

    async def begin(self) -> AsyncGenerator[Message]:
        """Everything, or what differs since ``after``; then that this is all."""
        after = self.after
        if after is not None:
            await self._reached(after)
        step = await self.place.context.engine.rendering.begin(after)
        self.place = self._place(step)
        for message in self._said(step, rendition(step.was, step.now), self.place):
            yield message

    async def to(self, goal: Place) -> AsyncGenerator[Message]:
        """What differs between here and ``goal``."""
        here, self.place = self.place, goal
        if here.cursor == goal.cursor:
            return
        assert here.rendered is not None, "it has begun"
        assert goal.rendered is not None, "so has whoever is there"
        rendering = goal.context.engine.rendering
        step = await rendering.between(here.rendered, goal.rendered)
        for message in self._said(step, rendition(step.was, step.now), goal):
            yield message

    def take(self, changeset: Changeset) -> Iterable[Message]:
        """What differs up to the newest state, which may be further than ``changeset``."""
        here = self.place
        if changeset.revision <= here.cursor.revision:
            return ()
        assert here.rendered is not None, "it has begun"
        step = here.context.engine.rendering.go_on(here.rendered, changeset)
        self.place = self._place(step)
        told = rendition(step.was, step.now)
        if not told and not step.accepted_loss and not self._has_been_quiet():
            return ()
        self._spoke_seconds = time.monotonic()
        return self._said(step, told, self.place)

    def _place(self, step: RenderingStep) -> Place:
        context = replace(self._now(), seen=step.now.view)
        return Place(step.now.view.cursor, context, rendered=step)

    def _said(self, step: RenderingStep, told: Rendition, goal: Place) -> Iterator[Message]:
        """One step, a message at a time; the last one says how far it has come."""
        settings, view = goal.context.settings, step.now.view
        since = step.since
        shown = None if since is None else ShownCursor(str(since))
        for portion in portions(told, Bounds(settings.rendering_items, settings.rendering_bytes)):
            value = event_of(portion, goal.context, view, shown)
            yield Message(value, goal.context, goal.cursor.revision, since)
        complete = RenderingComplete(
            cursor=ShownCursor(str(step.cursor)),
            revision=Revision(goal.cursor.revision),
            accepted_loss=step.accepted_loss,
        )
        yield Message(complete, goal.context, goal.cursor.revision, step.cursor)
