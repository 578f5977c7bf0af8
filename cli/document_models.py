"""The shape of a command in a file: one mapping with one key, as the API's ``CommandInput``.

    {"registerCluster": {"name": "us-ny-0001", "labels": {"size": "large"}, "groups": ["/geo/us"]}}

Each command of ``graph.model`` has one model, here or in ``workload_models``, strict and closed:
no text becomes a number, no unknown field passes. A field that is left out is left to the command's
own default, so the defaults have one home. ``Revert`` has no model: only the engine makes one.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic.alias_generators import to_camel

from cli.shape import CapacityShape, Shape, Value
from cli.workload_models import WORKLOAD_SHAPES, ReconcilerName
from graph.model import command as commands
from graph.model.access import Role
from graph.model.command import Command
from graph.model.hours import Interval, OpeningHours
from graph.model.inventory import ClusterKind, LabelType, Mode, Reconciler

ModeName = Annotated[Mode, Field(strict=False)]
TypeName = Annotated[LabelType, Field(strict=False)]
KindName = Annotated[ClusterKind, Field(strict=False)]
RoleName = Annotated[Role, Field(strict=False)]


class IntervalShape(Shape):
    """Opening and closing time."""

    opens: str
    closes: str

    def noun(self) -> Interval:
        """The interval."""
        return Interval(self.opens, self.closes)


class OpeningHoursShape(Shape):
    """A week, and the dates that differ."""

    weekly: dict[str, list[IntervalShape]] = {}
    exceptions: dict[str, list[IntervalShape]] = {}

    def noun(self) -> OpeningHours:
        """The hours."""
        return OpeningHours(_days(self.weekly), _days(self.exceptions))


class CreateHierarchy(Shape):
    """See ``graph.model.command``; so for all below."""

    name: str
    mode: ModeName = Mode.SINGLE
    required: bool = False
    title: str = ""


class UpdateHierarchy(Shape):
    """Fields left out stay as they are."""

    name: str
    mode: ModeName = Mode.SINGLE
    required: bool = False
    title: str = ""


class DeleteHierarchy(Shape):
    """An empty hierarchy goes."""

    name: str


class DeclareLabel(Shape):
    """A key, its type, and what it allows."""

    name: str
    type: TypeName
    title: str = ""
    unit: str = ""
    allowed: list[Value] = []


class RemoveLabel(Shape):
    """An unused key goes."""

    name: str


class CreateGroup(Shape):
    """A group by path."""

    path: str
    title: str = ""


class UpdateGroup(Shape):
    """A new title."""

    path: str
    title: str


class RenameGroup(Shape):
    """A new last segment."""

    path: str
    name: str


class MoveGroup(Shape):
    """A new parent."""

    path: str
    parent: str


class DeleteGroup(Shape):
    """An empty group goes, or with ``cascade`` a subtree."""

    path: str
    cascade: bool = False


class RegisterCluster(Shape):
    """A cluster with its labels and groups."""

    name: str
    title: str = ""
    kind: KindName = ClusterKind.KUBERNETES
    reconciler: ReconcilerName | None = None
    labels: dict[str, Value] = {}
    groups: list[str] = []
    capacity: CapacityShape | None = None
    time_zone: str = ""
    opening_hours: OpeningHoursShape | None = None


class UpdateCluster(Shape):
    """Fields left out stay; null removes a label, the capacity or the opening hours."""

    name: str
    title: str = ""
    kind: KindName = ClusterKind.KUBERNETES
    reconciler: ReconcilerName = Reconciler.FLUX
    labels: dict[str, Value | None] = {}
    capacity: CapacityShape | None = None
    time_zone: str = ""
    opening_hours: OpeningHoursShape | None = None


class RetireCluster(Shape):
    """A cluster leaves the fleet."""

    name: str


class Join(Shape):
    """A membership begins."""

    cluster: str
    group: str


class Leave(Shape):
    """A membership ends."""

    cluster: str
    group: str


class SaveSelector(Shape):
    """A selector, as text, under a name."""

    name: str
    selector: str
    title: str = ""


class DeleteSelector(Shape):
    """A saved selector nobody uses goes."""

    name: str


class GrantAccess(Shape):
    """A role over the clusters of a scope, as text, for a subject or a claim."""

    name: str
    role: RoleName
    subject: str = ""
    claim: str = ""
    scope: str = "all"
    title: str = ""
    namespaces: list[str] = []
    applications: list[str] = []


class RevokeAccess(Shape):
    """A grant goes."""

    name: str


_SHAPES: tuple[type[Shape], ...] = (
    CreateHierarchy,
    UpdateHierarchy,
    DeleteHierarchy,
    DeclareLabel,
    RemoveLabel,
    CreateGroup,
    UpdateGroup,
    RenameGroup,
    MoveGroup,
    DeleteGroup,
    RegisterCluster,
    UpdateCluster,
    RetireCluster,
    Join,
    Leave,
    SaveSelector,
    DeleteSelector,
    GrantAccess,
    RevokeAccess,
)

SHAPES: dict[str, tuple[type[Shape], type[Command]]] = {
    to_camel(shape.__name__[0].lower() + shape.__name__[1:]): (shape, command)
    for shape, command in (
        *((each, getattr(commands, each.__name__)) for each in _SHAPES),
        *WORKLOAD_SHAPES,
    )
}
"""The key of each command in a file, its shape there, and the command it makes."""


def _days(days: dict[str, list[IntervalShape]]) -> dict[str, tuple[Interval, ...]]:
    return {day: tuple(each.noun() for each in intervals) for day, intervals in days.items()}
