"""What the objects of the workload have in common as they travel: each is a definition by name."""

from __future__ import annotations

from collections.abc import Mapping

import strawberry

from api.schema.history import Recorded
from api.schema.names import Name, Revision
from graph.model.change import ref_of
from graph.model.ref import Ref
from graph.model.workload import OfWorkload


@strawberry.type(description="One label of a namespace or an application.")
class WorkloadLabel:
    """A key and a value."""

    key: Name = strawberry.field(description="The label key.")
    value: str = strawberry.field(description="Its value.")


@strawberry.type(description="An object of the workload.")
class Defined(Recorded):
    """A definition of one view: its name, and when it was last written."""

    def defined(self) -> OfWorkload:
        """The definition itself."""
        raise NotImplementedError

    def ref(self) -> Ref:
        """Which object this is."""
        return ref_of(self.defined())

    @strawberry.field(description="Its name, final.")
    def name(self) -> Name:
        """The name."""
        return Name(self.defined().name)

    @strawberry.field(description="What people call it.")
    def title(self) -> str:
        """The title."""
        return self.defined().title

    @strawberry.field(description="The revision that last wrote it.")
    def changed(self) -> Revision:
        """The revision of its last change."""
        return Revision(self.defined().changed)


def labels_of(labels: Mapping[str, str]) -> list[WorkloadLabel]:
    """Labels of the core as they travel, by key."""
    return [WorkloadLabel(key=Name(key), value=value) for key, value in sorted(labels.items())]
