"""How messages become files, as the worker sees it: see ``renderer.plan.step``.

A plan takes steps, one after the other, and writes them to one draft. What it takes counts when it
is finished; a plan of a snapshot takes one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from graph.model.publication import HeldBack
from renderer.message import Complete, Message
from renderer.tree import Draft, Head


class Planned(Protocol):
    """What a step came to."""

    @property
    def held(self) -> tuple[HeldBack, ...]:
        """Everything that is held back now."""
        ...

    @property
    def why(self) -> Mapping[str, str]:
        """Why each path was written or removed, of all steps so far."""
        ...

    @property
    def pending(self) -> bool:
        """Whether a template was stopped because others waited, and may be tried now."""
        ...


class Planning(Protocol):
    """A plan under way. It blocks."""

    def take(self, message: Message) -> None:
        """Something is said."""
        ...

    def retry(self) -> None:
        """Try again what could not be made."""
        ...

    def confirm(self, application: str) -> int:
        """Somebody agreed to a wave; how many lines it has."""
        ...

    def finish(self, complete: Complete) -> Planned:
        """All was said."""
        ...


Plan = Callable[[Head, Draft, bool], Planning]
"""Begins a plan on a head, for a draft; the last says whether it is of a snapshot."""
