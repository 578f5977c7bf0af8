"""The shape of a command in a file: one mapping with one key, as the API's ``CommandInput``.

    {"registerCluster": {"name": "us-ny-0001", "labels": {"size": "large"}, "groups": ["/geo/us"]}}

Each command of ``graph.model.command`` has one model here, strict and closed: no text becomes a
number, no unknown field passes. A field that is left out is left to the command's own default,
so the defaults have one home. ``Revert`` has no model: only the engine makes one.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from graph.model import command as commands
from graph.model.access import Role
from graph.model.command import Command
from graph.model.hours import Interval, OpeningHours
from graph.model.inventory import Capacity, ClusterKind, LabelType, Mode, Reconciler

Value = bool | int | float | str
ModeName = Annotated[Mode, Field(strict=False)]
TypeName = Annotated[LabelType, Field(strict=False)]
KindName = Annotated[ClusterKind, Field(strict=False)]
ReconcilerName = Annotated[Reconciler, Field(strict=False)]
RoleName = Annotated[Role, Field(strict=False)]


class Shape(BaseModel):
    """A closed mapping in camel case. ``noun`` is the dataclass it stands for."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, alias_generator=to_camel, allow_inf_nan=False
    )

    def given(self) -> dict[str, Any]:
        """The fields the file gave, with nested shapes as the core's nouns."""
        return {name: _noun(getattr(self, name)) for name in self.model_fields_set}


class IntervalShape(Shape):
    """Opening and closing time."""

    opens: str
    closes: str


class OpeningHoursShape(Shape):
    """A week, and the dates that differ."""

    weekly: dict[str, list[IntervalShape]] = {}
    exceptions: dict[str, list[IntervalShape]] = {}


class CapacityShape(Shape):
    """What a cluster offers."""

    cpu_millicores: int
    memory_mib: int
    storage_mib: int = 0


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
    to_camel(shape.__name__[0].lower() + shape.__name__[1:]): (
        shape,
        getattr(commands, shape.__name__),
    )
    for shape in _SHAPES
}
"""The key of each command in a file, its shape there, and the command it makes."""


def _noun(value: object) -> object:
    match value:
        case CapacityShape():
            return Capacity(**value.given())
        case OpeningHoursShape():
            return OpeningHours(**{name: _days(days) for name, days in value.given().items()})
        case list():
            return tuple(value)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType] - validated
        case _:
            return value


def _days(days: dict[str, list[IntervalShape]]) -> dict[str, tuple[Interval, ...]]:
    return {
        day: tuple(Interval(each.opens, each.closes) for each in intervals)
        for day, intervals in days.items()
    }
