"""Why an application that is placed on a cluster is not effective there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

Path = tuple[str, ...]
"""Where a value is: keys of maps, names of items that merge by name, else places in a list."""


class Reason(StrEnum):
    """What blocks an application."""

    SCHEMA = "schema"
    """Its composed values break its schema."""
    CONFLICT = "conflict"
    """Two layers that nothing orders give one leaf different values."""
    LATE_BOUND = "late_bound"
    """A late-bound key has no value."""
    CAPACITY = "capacity"
    """More is requested than the cluster has."""
    DEPENDENCY = "dependency"
    """Something it depends on is not effective there."""


@dataclass(frozen=True, slots=True)
class Clash:
    """Two layers that nothing orders and the leaf to which they give different values."""

    path: Path
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason, told to people, with what it concerns."""

    reason: Reason
    message: str
    path: Path = ()
    layers: tuple[str, ...] = ()
    """The layers searched, or both layers of a conflict."""
