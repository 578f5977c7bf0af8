"""What a source says: the portions of ``graph.effective``, with definitions spelled out.

A step is any number of these and ends with ``Complete``. What is said counts from then on, and not
before. Definitions come as far as rendering cares for them: see ``renderer.definition``.
"""

from __future__ import annotations

from dataclasses import dataclass

from graph.effective.portion import Blocked, Overlays, Pointers, Removals, Settings
from graph.model.workload import Application, Namespace, Policy


@dataclass(frozen=True, slots=True)
class Defined:
    """Definitions that are new or were written again."""

    applications: tuple[Application, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    policies: tuple[Policy, ...] = ()


@dataclass(frozen=True, slots=True)
class Complete:
    """All up to here was said."""

    cursor: str
    revision: int
    accepted_loss: int
    """How many lines the changes of this step took away with that stated."""


Message = Removals | Defined | Settings | Overlays | Pointers | Blocked | Complete


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a revision is there, as its author said."""

    revision: int
    actor: str
    reason: str
