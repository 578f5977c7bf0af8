"""How a reconciler is told what to run, as the plan sees it.

F1  ``files`` depends on the unit and the settings alone: not on who runs it, not on the values.
F2  Every directory builds with plain kustomize, together with any other of the same pointer.
F3  Late-bound values travel as data inside structured patches; nothing is substituted in text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graph.model.values import Value
from graph.model.workload import Application, Namespace
from renderer.formats.terse import Said
from renderer.tree import Tree


@dataclass(frozen=True, slots=True)
class Unit:
    """One overlay as a reconciler is told of it."""

    application: Application
    namespace: Namespace
    key: str
    needs: tuple[tuple[str, str], ...] = ()
    """What it depends on: application and namespace of each."""
    wave: int = 0
    """How many applications have to be there, one after the other, before this one is."""


class Format(Protocol):
    """The words of one reconciler on Kubernetes."""

    @property
    def name(self) -> str:
        """The reconciler."""
        ...

    def leads_to(self, application: str, key: str) -> str:
        """The directory a line of a pointer names."""
        ...

    def files(self, unit: Unit, tree: Tree) -> Mapping[str, bytes]:
        """Files by name, right below ``paths.sync``; none where lines lead to overlays."""
        ...

    def patches(
        self, application: Application, late: Mapping[str, Value]
    ) -> Sequence[Mapping[str, Said]]:
        """Entries of the pointer's ``patches`` that bring late-bound values to their fields."""
        ...
