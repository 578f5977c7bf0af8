"""Effective states, kept while the fleet changes.

The newest follows every changeset at the cost of what it changed, once somebody has asked for it;
a fleet that nobody asks about its workload never pays for it. Earlier ones are kept for those who
compare, and worked out anew when they are not at hand.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from graph.effective.reading import Reading
from graph.effective.state import State, begin
from graph.effective.step import advance
from graph.model.change import Change, Changeset, Cursor, net
from graph.model.view import FleetView
from graph.scoped import ScopedView, readable

Since = Callable[[Cursor], Sequence[Changeset] | None]
"""What came after a cursor, up to the head; None if memory does not reach back to it."""


class States:
    """What runs where, at the revisions somebody asked for.

    The newest is kept apart, so that readers of the past do not push it out. Whatever is at hand
    leads on to later revisions as far as ``since`` knows what happened in between.
    """

    def __init__(self, kept_max: int, since: Since) -> None:
        self._kept_max = kept_max
        self._since = since
        self._newest: State | None = None
        self._kept: OrderedDict[Cursor, State] = OrderedDict()
        self._making: dict[Cursor, asyncio.Future[State]] = {}
        self._turn = asyncio.Lock()

    def held(self, cursor: Cursor) -> State | None:
        """The state at ``cursor``, if it is at hand."""
        if self._newest is not None and self._newest.view.cursor == cursor:
            return self._newest
        found = self._kept.get(cursor)
        if found is not None:
            self._kept.move_to_end(cursor)
        return found

    def of(self, view: FleetView) -> State:
        """The state of ``view``, which is the whole fleet at its cursor."""
        found = self.held(view.cursor)
        if found is not None:
            return found
        way = self._way_to(view.cursor)
        return self.keep(begin(view) if way is None else advance(way.was, view, way.changes))

    async def soon(self, view: FleetView) -> State:
        """As ``of``; what is not at hand is worked out beside the event loop, once for all."""
        cursor = view.cursor
        found = self.held(cursor)
        if found is not None:
            return found
        making = self._making.get(cursor)
        if making is None:
            making = asyncio.ensure_future(self._make(view))
            self._making[cursor] = making
            making.add_done_callback(lambda _: self._making.pop(cursor, None))
        return await asyncio.shield(making)  # whoever stops waiting does not stop the others

    def keep(self, state: State) -> State:
        """Have ``state`` at hand."""
        return self._keep(state, newest=self._is_head(state.view.cursor))

    def follow(self, after: FleetView, changes: Sequence[Change], known: State | None) -> None:
        """Go on from the head to ``after``, before it is the head.

        ``known`` is its state, if that is known. Otherwise the newest at hand leads there, also
        if it was late and has missed some changesets.
        """
        was = self._newest
        if known is not None:
            self._keep(replace(known, view=after), newest=True)
        elif was is not None and (missed := self._since(was.view.cursor)) is not None:
            if missed:
                changes = net([*_changes(missed), *changes])
            self._keep(advance(was, after, changes), newest=True)

    def restart(self) -> None:
        """Begin again: what was kept belongs to another history."""
        self._newest = None
        self._kept.clear()

    async def _make(self, view: FleetView) -> State:
        was_head = self._is_head(view.cursor)
        made = await self._made(view)
        # late, it still is the newest, unless the record was replaced or it has missed too much
        return self._keep(made, newest=was_head and self._since(view.cursor) is not None)

    async def _made(self, view: FleetView) -> State:
        way = self._way_to(view.cursor)
        if way is None:
            async with self._turn:  # what is being worked out now may lead here
                way = self._way_to(view.cursor)
                if way is None:
                    return await asyncio.to_thread(begin, view)
        return await asyncio.to_thread(advance, way.was, view, way.changes)

    def _keep(self, state: State, *, newest: bool) -> State:
        """Have ``state`` at hand; what is ``newest`` beside the others, unless one is newer.

        What differs from the one before has been told by then, and is not kept along.
        """
        state = replace(state, stride=None)
        was, cursor = self._newest, state.view.cursor
        if newest and (was is None or was.view.cursor.revision <= cursor.revision):
            self._newest, aside = state, was
        else:
            aside = state
        if aside is not None:
            self._kept[aside.view.cursor] = aside
        while len(self._kept) > self._kept_max:
            self._kept.popitem(last=False)
        return state

    def _is_head(self, cursor: Cursor) -> bool:
        return self._since(cursor) == ()

    def _way_to(self, cursor: Cursor) -> _Way | None:
        """From the nearest earlier state at hand; None if none is known to lead there."""
        at_hand = [*self._kept.values(), *([] if self._newest is None else [self._newest])]
        for was in sorted(at_hand, key=_revision, reverse=True):
            steps = cursor.revision - _revision(was)
            between = (self._since(was.view.cursor) or ())[:steps] if steps > 0 else ()
            if between and between[-1].cursor == cursor:
                return _Way(was, net(_changes(between)))
        return None


@dataclass(frozen=True, slots=True)
class _Way:
    """A state at hand, and what happened from there on."""

    was: State
    changes: tuple[Change, ...]


def _changes(changesets: Iterable[Changeset]) -> Iterator[Change]:
    return (change for each in changesets for change in each.changes)


def _revision(state: State) -> int:
    return state.view.cursor.revision


def whole_of(view: FleetView) -> FleetView:
    """The whole fleet that a view is a part of."""
    return view.base if isinstance(view, ScopedView) else view


def read_through(state: State, view: FleetView) -> Reading:
    """``state`` as far as ``view``, which is of the same revision, shows it."""
    if not isinstance(view, ScopedView):
        return Reading(state, view)
    return Reading(
        state,
        view,
        view.everything(),
        view.covered is None,
        lambda selector: readable(selector, view),
    )
