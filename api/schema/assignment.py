"""Assignments and prohibitions by themselves as they travel; both choose applications and clusters.

``workload`` ties them to what they are related to.
"""

from __future__ import annotations

import strawberry

from api.schema.definition import Defined, WorkloadLabel, labels_of
from api.schema.names import Name
from api.schema.stored_selector import StoredSelector
from graph.model import workload as core


@strawberry.type(description="Applications, and clusters.")
class Choosing(Defined):
    """An assignment or a prohibition of one view."""

    definition: strawberry.Private[core.Assignment | core.Prohibition]

    def defined(self) -> core.Assignment | core.Prohibition:
        """The definition itself."""
        return self.definition

    @strawberry.field(
        description="The applications it names, by name, of those you may see; none: not by name."
    )
    def named(self) -> list[Name]:
        """The applications chosen by name."""
        return [Name(each) for each in sorted(self.definition.choice.applications)]

    @strawberry.field(description="The labels an application must carry to be meant, by key.")
    def labels(self) -> list[WorkloadLabel]:
        """The labels that are asked for."""
        return labels_of(self.definition.choice.labels)

    @strawberry.field(description="The clusters.")
    def selector(self) -> StoredSelector:
        """Where."""
        chosen = self.definition.selector
        return StoredSelector(context=self.context, view=self.view, selector=chosen)
