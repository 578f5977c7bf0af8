"""Who sees what, remembered: the access of actors, and the views their scopes show.

Grants are today's, whatever revision is read. What they give an actor is remembered until a grant
changes, and a view through a scope as long as it is asked for. Both memories are bounded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import TypeVar

from graph.access import Access, access_of
from graph.model.access import Actor, Role
from graph.model.change import Change, Cursor
from graph.model.ref import Kind
from graph.model.selector import Everything
from graph.model.view import FleetView
from graph.scoped import ScopedView
from graph.settings import GraphSettings

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class Seen:
    """The scopes in use, and what each shows."""

    def __init__(self, settings: GraphSettings) -> None:
        self._kept_max = settings.scopes_kept_max
        self._access: OrderedDict[Actor, Access] = OrderedDict()
        self._views: OrderedDict[tuple[str, Cursor], ScopedView] = OrderedDict()

    def access(self, actor: Actor, newest: FleetView) -> Access:
        """What today's grants give ``actor``."""
        found = self._access.get(actor)
        if found is None:
            found = access_of(actor, newest.grants())
        return _kept(self._access, actor, found, self._kept_max)

    def view(self, access: Access, view: FleetView) -> FleetView:
        """``view`` as far as ``access`` shows it; refused to whoever may see nothing at all."""
        scope = access.need(Role.READER)
        return view if isinstance(scope, Everything) else self.through(access, view)

    def through(self, access: Access, view: FleetView) -> ScopedView:
        """``view`` through the scope of a reader."""
        key = access.key, view.cursor
        found = self._views.get(key)
        if found is None:
            found = ScopedView(view, access.need(Role.READER))
        return _kept(self._views, key, found, self._kept_max)

    def advance(self, changes: Iterable[Change]) -> None:
        """Take in what changed."""
        if any(change.ref.kind is Kind.GRANT for change in changes):
            self._access.clear()

    def restart(self) -> None:
        """Forget all: the record was replaced."""
        self._access.clear()
        self._views.clear()


def _kept(memory: OrderedDict[_K, _V], key: _K, value: _V, kept_max: int) -> _V:
    """``value``, remembered as the one asked for last."""
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > kept_max:
        memory.popitem(last=False)
    return value
