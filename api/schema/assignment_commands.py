"""Commands on assignments and prohibitions as they travel."""

from __future__ import annotations

import strawberry

from api.schema.names import Name
from api.schema.selector import SelectorInput, written
from api.schema.selector_commands import BATCH
from api.schema.workload_inputs import WorkloadLabelInput, labels_of
from graph.model import workload_command as core
from graph.model.workload import Choice

_APPLICATIONS = "Only these applications; none: not by name."
_LABELS = "Only applications that carry all these labels, each key once."


@strawberry.input(
    description="An assignment as it shall be, new or existing: a namespace's applications, all of"
    " them or some, and the clusters they are for."
)
class AssignInput:
    """As ``graph.model.workload_command.Assign``; so for all below."""

    name: Name = strawberry.field(description="The name of the assignment.")
    namespace: Name = strawberry.field(description="The namespace.")
    selector: SelectorInput = strawberry.field(description="The clusters." + BATCH)
    applications: list[Name] = strawberry.field(
        default_factory=list[Name], description=_APPLICATIONS
    )
    labels: list[WorkloadLabelInput] = strawberry.field(
        default_factory=list[WorkloadLabelInput], description=_LABELS
    )
    title: str = strawberry.field(default="", description="What people call it.")

    def command(self) -> core.Assign:
        """The core's command."""
        choice = Choice(self.namespace, tuple(self.applications), labels_of(self.labels))
        return core.Assign(self.name, choice, written(self.selector), self.title)


@strawberry.input(description="Take an assignment back.")
class UnassignInput:
    """What to take back."""

    name: Name = strawberry.field(description="The assignment.")

    def command(self) -> core.Unassign:
        """The core's command."""
        return core.Unassign(self.name)


@strawberry.input(
    description="A prohibition as it shall be, new or existing: these applications may not run on"
    " these clusters, whatever is assigned. Give one of namespace, applications and labels at"
    " least. For operators."
)
class ProhibitInput:
    """A veto."""

    name: Name = strawberry.field(description="The name of the prohibition.")
    selector: SelectorInput = strawberry.field(description="The clusters." + BATCH)
    namespace: Name | None = strawberry.field(
        default=strawberry.UNSET, description="Only applications of this namespace."
    )
    applications: list[Name] = strawberry.field(
        default_factory=list[Name], description=_APPLICATIONS
    )
    labels: list[WorkloadLabelInput] = strawberry.field(
        default_factory=list[WorkloadLabelInput], description=_LABELS
    )
    title: str = strawberry.field(default="", description="What people call it.")

    def command(self) -> core.Prohibit:
        """The core's command."""
        choice = Choice(self.namespace or "", tuple(self.applications), labels_of(self.labels))
        return core.Prohibit(self.name, choice, written(self.selector), self.title)


@strawberry.input(description="Take a prohibition back. For operators.")
class LiftProhibitionInput:
    """What to take back."""

    name: Name = strawberry.field(description="The prohibition.")

    def command(self) -> core.LiftProhibition:
        """The core's command."""
        return core.LiftProhibition(self.name)
