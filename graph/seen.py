"""Who sees what, remembered: the access of actors, and the views their scopes show.

Grants are today's, whatever revision is read. What they give an actor is remembered until a grant
changes, a view through a scope as long as it is asked for, and what a scope shows of a changeset's
clusters until a group changes. Each memory is bounded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import TypeVar

from graph.access import Access, access_of
from graph.model.access import Actor, Grant, Role
from graph.model.change import Change, Cursor
from graph.model.inventory import Group
from graph.model.view import FleetView
from graph.scoped import ScopedView
from graph.settings import GraphSettings

VERDICTS_KEPT_MAX = 4_096
"""Changesets of which it is remembered what a scope shows, over all scopes; a byte a change."""

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class Seen:
    """The scopes in use, and what each shows."""

    def __init__(self, settings: GraphSettings) -> None:
        self._kept_max = settings.scopes_kept_max
        self._access: OrderedDict[Actor, Access] = OrderedDict()
        self._views: OrderedDict[tuple[str, Cursor], ScopedView] = OrderedDict()
        self._verdicts: OrderedDict[tuple[str, Cursor], bytes] = OrderedDict()
        self.places = 0
        """How often groups have changed: verdicts found before are no longer to be kept."""

    def access(self, actor: Actor, newest: FleetView) -> Access:
        """What today's grants give ``actor``."""
        found = self._access.get(actor)
        if found is None:
            found = access_of(actor, newest.grants())
            return _kept(self._access, actor, found, self._kept_max)
        self._access.move_to_end(actor)
        return found

    def view(self, access: Access, view: FleetView) -> FleetView:
        """``view`` as far as ``access`` shows it; refused to whoever may see nothing at all."""
        access.need(Role.READER)
        return view if access.sees_all else self.through(access, view)

    def through(self, access: Access, view: FleetView) -> ScopedView:
        """``view`` through the scope of a reader."""
        key = access.key, view.cursor
        found = self._views.get(key)
        if found is None:
            found = scoped(view, access)
            return _kept(self._views, key, found, self._kept_max)
        self._views.move_to_end(key)
        return found

    def verdicts(self, access: Access, changeset: Cursor) -> bytes | None:
        """What was found about a changeset's clusters; None if that is not remembered."""
        return self._verdicts.get((access.key, changeset))

    def keep(self, access: Access, changeset: Cursor, verdicts: bytes, places: int) -> None:
        """Remember what was found while groups were as when ``places`` was read."""
        if places == self.places:
            _kept(self._verdicts, (access.key, changeset), verdicts, VERDICTS_KEPT_MAX)

    def advance(self, changes: Iterable[Change]) -> None:
        """Take in what changed."""
        states = (each.before if each.after is None else each.after for each in changes)
        kinds = set(map(type, states))
        if Grant in kinds:
            self._access.clear()
        if Group in kinds:
            self._verdicts.clear()
            self.places += 1

    def restart(self) -> None:
        """Forget all: the record was replaced."""
        self._access.clear()
        self._views.clear()
        self._verdicts.clear()
        self.places += 1


def scoped(view: FleetView, access: Access) -> ScopedView:
    """``view`` as a reader sees it: through their scope, and as far as they are covered."""
    return ScopedView(view, access.need(Role.READER), covered=access.coverage)


def _kept(memory: OrderedDict[_K, _V], key: _K, value: _V, kept_max: int) -> _V:
    """``value``, remembered as the one asked for last."""
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > kept_max:
        memory.popitem(last=False)
    return value
