"""Intents: what a caller may ask to be changed, in the caller's own words.

Commands name things by name and path; ``graph.decide`` looks them up. ``UNSET`` means "leave as it
is", which None cannot say where None means "remove".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal

from graph.model.access import Role
from graph.model.change import Change
from graph.model.hours import OpeningHours
from graph.model.inventory import (
    Capacity,
    ClusterKind,
    LabelType,
    LabelValue,
    Mode,
    Reconciler,
)
from graph.model.names import Revision
from graph.model.selector import Selector, Written
from graph.model.workload_command import WorkloadCommand

COMMANDS_MAX = 10_000
"""Commands in one batch."""


class Unset(Enum):
    """The type of ``UNSET``."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET
Maybe = Literal[Unset.UNSET]


@dataclass(frozen=True, slots=True)
class CreateHierarchy:
    """A new hierarchy and its root group ``/name``."""

    name: str
    mode: Mode = Mode.SINGLE
    required: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class UpdateHierarchy:
    """Change what a hierarchy asks; ``many`` to ``single`` only while no cluster has two."""

    name: str
    mode: Mode | Maybe = UNSET
    required: bool | Maybe = UNSET
    title: str | Maybe = UNSET


@dataclass(frozen=True, slots=True)
class DeleteHierarchy:
    """Remove a hierarchy whose root has neither groups nor members."""

    name: str


@dataclass(frozen=True, slots=True)
class DeclareLabel:
    """Declare a label key, or change its title, unit and allowed values. The type is final."""

    name: str
    type: LabelType
    title: str = ""
    unit: str = ""
    allowed: tuple[LabelValue, ...] = ()


@dataclass(frozen=True, slots=True)
class RemoveLabel:
    """Remove a label key no cluster uses."""

    name: str


@dataclass(frozen=True, slots=True)
class CreateGroup:
    """A new group below an existing one."""

    path: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class UpdateGroup:
    """A new title."""

    path: str
    title: str


@dataclass(frozen=True, slots=True)
class RenameGroup:
    """A new last segment; everything below comes along."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class MoveGroup:
    """A new parent in the same hierarchy; the whole subtree comes along."""

    path: str
    parent: str


@dataclass(frozen=True, slots=True)
class DeleteGroup:
    """Remove an empty group, or with ``cascade`` its subtree and the memberships in it."""

    path: str
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class RegisterCluster:
    """A new cluster with its labels and memberships. The reconciler follows the kind by default."""

    name: str
    title: str = ""
    kind: ClusterKind = ClusterKind.KUBERNETES
    reconciler: Reconciler | None = None
    labels: Mapping[str, LabelValue] = field(default_factory=dict[str, LabelValue])
    groups: tuple[str, ...] = ()
    capacity: Capacity | None = None
    time_zone: str = ""
    opening_hours: OpeningHours | None = None


@dataclass(frozen=True, slots=True)
class UpdateCluster:
    """Change fields of a cluster. In ``labels`` None removes a key; others stay as they are."""

    name: str
    title: str | Maybe = UNSET
    kind: ClusterKind | Maybe = UNSET
    reconciler: Reconciler | Maybe = UNSET
    labels: Mapping[str, LabelValue | None] = field(default_factory=dict[str, "LabelValue | None"])
    capacity: Capacity | Maybe | None = UNSET
    time_zone: str | Maybe = UNSET
    opening_hours: OpeningHours | Maybe | None = UNSET


@dataclass(frozen=True, slots=True)
class RetireCluster:
    """Take a cluster out of the fleet. Its number is never given again."""

    name: str


@dataclass(frozen=True, slots=True)
class Join:
    """Make a cluster a direct member; in a ``single`` hierarchy this replaces its place."""

    cluster: str
    group: str


@dataclass(frozen=True, slots=True)
class Leave:
    """End a direct membership."""

    cluster: str
    group: str


@dataclass(frozen=True, slots=True)
class SaveSelector:
    """Keep a selector under a name, new or existing. It is read against the fleet as it then is."""

    name: str
    selector: Written | Selector
    title: str = ""


@dataclass(frozen=True, slots=True)
class DeleteSelector:
    """Forget a saved selector nobody uses."""

    name: str


@dataclass(frozen=True, slots=True)
class GrantAccess:
    """Give a role over the clusters of a scope, under a name, new or existing.

    One of ``subject`` and ``claim`` says to whom. The scope may name no saved selector.
    """

    name: str
    role: Role
    subject: str = ""
    claim: str = ""
    scope: Written | Selector = "all"
    title: str = ""
    namespaces: tuple[str, ...] = ()
    applications: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RevokeAccess:
    """Take a grant back."""

    name: str


@dataclass(frozen=True, slots=True)
class Revert:
    """Objects back as they were at an earlier revision. Only the engine makes one."""

    to: Revision
    scope: str
    """What was asked to be taken back, in words; with ``to`` it identifies the request."""
    base: Revision
    """The revision it was planned on."""
    changes: tuple[Change, ...]
    """Each object as it was at ``base``, which it must still be, and as it will be."""


Command = (
    CreateHierarchy
    | UpdateHierarchy
    | DeleteHierarchy
    | DeclareLabel
    | RemoveLabel
    | CreateGroup
    | UpdateGroup
    | RenameGroup
    | MoveGroup
    | DeleteGroup
    | RegisterCluster
    | UpdateCluster
    | RetireCluster
    | Join
    | Leave
    | SaveSelector
    | DeleteSelector
    | GrantAccess
    | RevokeAccess
    | WorkloadCommand
    | Revert
)


LOSS_MAX = 2**31 - 1
"""The largest loss that can be stated or told: every reader of a number can hold it."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Commands that happen together or not at all, by whom and why."""

    commands: tuple[Command, ...]
    actor: str
    reason: str
    expected_revision: Revision | None = None
    """Refuse if any object the batch names has changed since."""
    idempotency_key: str | None = None
    """The actor's own name for this batch: sent twice, it takes effect once."""
    expected_loss: int | None = None
    """How many (application, cluster) pairs the batch may take away; see the shrink guard."""
    declare_labels: bool = False
    """Whether the first use of a label key declares it; otherwise such a key is refused."""
    on_behalf_of: str = ""
    """The subject for whom, and under whose grants, the actor acts; empty if for nobody else."""
