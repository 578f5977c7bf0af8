"""The applications and assignments of an earlier revision, as far as they are certain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graph.model.change import Entity
from graph.model.names import Revision
from graph.model.view import FleetView
from graph.model.workload import Application, Assignment
from graph.targeting.sight import HeldBy


class HeldThen:
    """What a changeset says of one of its sides, and what nobody has written since.

    ``states`` are the objects it wrote with their state on that side, None for absence.
    """

    def __init__(
        self,
        today: FleetView,
        revision: Revision,
        states: Iterable[tuple[Entity, Entity | None]],
    ) -> None:
        self._today = HeldBy(today)
        self._revision = revision
        self._applications: dict[str, Application | None] = {}
        self._assignments: dict[str, Assignment | None] = {}
        for entity, state in states:
            if isinstance(entity, Application):
                self._applications[entity.name] = state if isinstance(state, Application) else None
            elif isinstance(entity, Assignment):
                self._assignments[entity.name] = state if isinstance(state, Assignment) else None

    def application(self, name: str) -> Application | None:
        """The application called ``name``."""
        if name in self._applications:
            return self._applications[name]
        found = self._today.application(name)
        return found if found is not None and found.changed <= self._revision else None

    def applications(self) -> Iterator[Application]:
        """All of them."""
        yield from (each for each in self._applications.values() if each is not None)
        for each in self._today.applications():
            if each.name not in self._applications and each.changed <= self._revision:
                yield each

    def assignments_of(self, namespace: str) -> Iterator[Assignment]:
        """The assignments of one namespace."""
        for each in self._assignments.values():
            if each is not None and each.choice.namespace == namespace:
                yield each
        for each in self._today.assignments_of(namespace):
            if each.name not in self._assignments and each.changed <= self._revision:
                yield each
