"""The inventory: hierarchies, groups, label keys, clusters, saved selectors.

Each is a frozen value with an identity that never changes (a name, or a number for what may be
renamed) and ``changed``, the revision that last wrote it. ``changed`` chains an object's history
backwards through the log and answers "has this changed since?" without reading it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from graph.model.hours import OpeningHours
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.selector import Selector

LabelValue = str | int | float | bool
"""A label's value. Whole numbers are ints, other numbers floats; see ``label.py``."""


class Mode(StrEnum):
    """How many direct memberships a cluster may have in a hierarchy."""

    SINGLE = "single"
    MANY = "many"


class LabelType(StrEnum):
    """The type of a label key: one for the whole fleet."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"


class ClusterKind(StrEnum):
    """What a cluster is made of."""

    KUBERNETES = "kubernetes"
    HOST = "host"


class Reconciler(StrEnum):
    """What pulls and applies on a cluster."""

    FLUX = "flux"
    ARGOCD = "argocd"
    ANSIBLE = "ansible"
    KUSTOMIZE = "kustomize"
    """Nothing of its own: whoever applies there builds the pointer with plain kustomize."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A named tree of groups; its root group has the hierarchy's name as path."""

    name: str
    mode: Mode
    required: bool = False
    title: str = ""
    precedence: int = 0
    """Layers on groups of a hierarchy with a higher one are stronger. No two have the same."""
    changed: Revision = Revision(0)


@dataclass(frozen=True, slots=True)
class Group:
    """A place in one hierarchy. ``parent`` is None for the root alone; the path is derived."""

    number: GroupNumber
    hierarchy: str
    parent: GroupNumber | None
    name: str
    title: str = ""
    changed: Revision = Revision(0)


@dataclass(frozen=True, slots=True)
class LabelKey:
    """A label's name, its one type, and optionally which values and unit it has."""

    name: str
    type: LabelType
    title: str = ""
    unit: str = ""
    allowed: tuple[LabelValue, ...] = ()
    changed: Revision = Revision(0)


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a cluster offers to workloads, in whole numbers.

    A whole number has one form, whoever wrote it: JSON writes 512 as ``512`` or as ``512.0``, and
    what is written from it must not depend on that.
    """

    cpu_millicores: int
    memory_mib: int
    storage_mib: int = 0

    def __post_init__(self) -> None:
        """Bring amounts into their one form; there are as many of these as there are clusters."""
        if type(self.cpu_millicores) is type(self.memory_mib) is type(self.storage_mib) is int:
            return
        for name in ("cpu_millicores", "memory_mib", "storage_mib"):
            object.__setattr__(self, name, _whole(getattr(self, name), name))


def _whole(amount: object, name: str) -> int:
    if type(amount) is int or (isinstance(amount, float) and amount.is_integer()):
        return int(amount)
    raise ValueError(f"{name} is {amount!r}, which is not a whole number")


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster, with its labels and its direct memberships."""

    number: ClusterNumber
    name: str
    title: str = ""
    kind: ClusterKind = ClusterKind.KUBERNETES
    reconciler: Reconciler = Reconciler.FLUX
    labels: Mapping[str, LabelValue] = field(default_factory=dict[str, LabelValue])
    memberships: tuple[GroupNumber, ...] = ()
    """Groups it belongs to directly, ascending by number."""
    capacity: Capacity | None = None
    time_zone: str = ""
    opening_hours: OpeningHours | None = None
    changed: Revision = Revision(0)


@dataclass(frozen=True, slots=True)
class SavedSelector:
    """A selector under a name, usable inside other selectors as ``@name``."""

    name: str
    selector: Selector
    title: str = ""
    changed: Revision = Revision(0)
