"""Portions of a rendition: what is told at once, never more than a bound says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from graph.effective.late_columns import Late
from graph.effective.rendition import Cause
from graph.effective.trouble import Trouble
from graph.model.inventory import ClusterKind, Reconciler
from graph.model.ref import Ref
from graph.model.values import Value

NAME_BYTES = 66
"""What a cluster's name takes at most, with quotes and a comma."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large a portion may be. What is larger by itself is a portion of its own."""

    items_max: int = 5_000
    bytes_max: int = 262_144

    @property
    def names_max(self) -> int:
        """Names of clusters in one portion."""
        return max(1, min(self.items_max, self.bytes_max // NAME_BYTES))


@dataclass(frozen=True, slots=True)
class Overlay:
    """The values of one configuration that runs somewhere."""

    application: str
    """``FLEET`` for the fleet's own settings."""
    key: str
    layers: tuple[str, ...]
    values: Mapping[str, Value]
    digest: str
    clusters: int
    """How many run it."""


class Line(NamedTuple):
    """One application of one cluster. There are millions, and tuples are made fastest."""

    application: str
    namespace: str
    key: str
    late: Late


@dataclass(frozen=True, slots=True)
class Pointer:
    """One cluster as it is; of its lines, those that are new or differ."""

    cluster: str
    kind: ClusterKind
    reconciler: Reconciler
    fleet: str | None
    """The key of the fleet's own settings there; None where layers conflict about them."""
    policies: tuple[str, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class RemovedLines:
    """Clusters from which an application goes."""

    application: str
    cause: Cause
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """Clusters on which an application is blocked, and stays as it is."""

    application: str
    troubles: tuple[Trouble, ...]
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Removals:
    """What goes."""

    pointers: tuple[str, ...] = ()
    lines: tuple[RemovedLines, ...] = ()
    overlays: tuple[tuple[str, str], ...] = ()
    """Application and key; ``FLEET`` for settings of the fleet."""
    definitions: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class Definitions:
    """Definitions that are new or differ."""

    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Overlays:
    """Overlays that are new or differ."""

    overlays: tuple[Overlay, ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the fleet that are new or differ."""

    overlays: tuple[Overlay, ...]


@dataclass(frozen=True, slots=True)
class Pointers:
    """Pointers that are new or differ."""

    pointers: tuple[Pointer, ...]


@dataclass(frozen=True, slots=True)
class Blocked:
    """What is blocked, newly or otherwise than before."""

    held: tuple[Held, ...]


Portion = Removals | Definitions | Overlays | Settings | Pointers | Blocked
