"""What a name in a selector stands for.

A saved selector stands for its own selector, a namespace for all those of its assignments. Either
way a name chooses whatever one of its selectors chooses, so everything that follows names treats
the two alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

from graph.model.inventory import SavedSelector
from graph.model.ref import Kind, Ref
from graph.model.selector import InNamespace, Saved, Selector
from graph.model.workload import Assignment, Workload

Named = Saved | InNamespace
"""A clause that stands for stored selectors."""


class Naming(Protocol):
    """Whatever keeps named selectors: a view, or a fleet that is only thought of."""

    def saved_selector(self, name: str) -> SavedSelector | None:
        """The saved selector called ``name``."""
        ...

    @property
    def workload(self) -> Workload:
        """The workload; of it, namespaces and assignments are asked for."""
        ...


@dataclass(frozen=True, slots=True)
class Meaning:
    """A name with what it stands for."""

    clause: Named
    selectors: tuple[Selector, ...]
    """It chooses what any of these does."""
    given_by: tuple[Ref, ...]
    """The objects that hold them, in the same order."""


class Meanings:
    """What names stand for in one fleet; its assignments are sorted by namespace once, if ever."""

    __slots__ = ("_assigned", "_view")

    def __init__(self, view: Naming) -> None:
        self._view = view
        self._assigned: dict[str, list[Assignment]] | None = None

    def of(self, clause: Named) -> Meaning | None:
        """What ``clause`` stands for; None if the fleet does not show that name."""
        if isinstance(clause, InNamespace):
            return self._namespace(clause)
        saved = self._view.saved_selector(clause.name)
        if saved is None:
            return None
        return Meaning(clause, (saved.selector,), (Ref(Kind.SAVED_SELECTOR, saved.name),))

    def _namespace(self, clause: InNamespace) -> Meaning | None:
        if clause.name not in self._view.workload.namespaces:
            return None
        if self._assigned is None:
            self._assigned = _by_namespace(self._view.workload)
        # by name, so that whoever lists them lists them alike
        found = sorted(self._assigned.get(clause.name, ()), key=attrgetter("name"))
        return Meaning(
            clause,
            tuple(each.selector for each in found),
            tuple(Ref(Kind.ASSIGNMENT, each.name) for each in found),
        )


def show_name(clause: Named) -> str:
    """A name as it is written."""
    return f"@{clause.name}" if isinstance(clause, Saved) else f"namespace {clause.name}"


def _by_namespace(workload: Workload) -> dict[str, list[Assignment]]:
    found: dict[str, list[Assignment]] = {}
    for each in workload.assignments.values():
        found.setdefault(each.choice.namespace, []).append(each)
    return found
