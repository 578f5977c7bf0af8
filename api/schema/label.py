"""Labels as they travel: the value on one cluster, and the key with its one type."""

from __future__ import annotations

import strawberry

from api.schema.history import Recorded
from api.schema.inventory_enums import LabelType
from api.schema.names import LabelValue, Name, Revision
from graph.model import inventory as core
from graph.model.ref import Kind, Ref


@strawberry.type(description="One label of one cluster.")
class Label:
    """A key and a value."""

    key: Name = strawberry.field(description="The label key.")
    value: LabelValue = strawberry.field(description="Its value here.")


@strawberry.type(description="A label's name, its one type, and which values and unit it has.")
class LabelKey(Recorded):
    """A label key of one view."""

    key: strawberry.Private[core.LabelKey]

    def ref(self) -> Ref:
        """Which object this is."""
        return Ref(Kind.LABEL_KEY, self.key.name)

    @strawberry.field(description="Its name, final.")
    def name(self) -> Name:
        """The name."""
        return Name(self.key.name)

    @strawberry.field(description="Its type, final.")
    def type(self) -> LabelType:
        """The type."""
        return LabelType(self.key.type.value)

    @strawberry.field(description="What people call it.")
    def title(self) -> str:
        """The title."""
        return self.key.title

    @strawberry.field(description="The unit of its numbers; empty if none.")
    def unit(self) -> str:
        """The unit."""
        return self.key.unit

    @strawberry.field(description="The values it may have; none: any of its type.")
    def allowed(self) -> list[LabelValue]:
        """The allowed values."""
        return [LabelValue(each) for each in self.key.allowed]

    @strawberry.field(description="How many clusters have it.")
    def count(self) -> int:
        """How many clusters have it."""
        return len(self.view.labelled(self.key.name))

    @strawberry.field(description="The revision that last wrote it.")
    def changed(self) -> Revision:
        """The revision of its last change."""
        return Revision(self.key.changed)
