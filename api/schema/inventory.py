"""The inventory as it travels: clusters, groups, hierarchies, saved selectors.

Every object holds the view it was read from, so that whatever is asked of it next is of the same
revision and within what its reader may see.
"""

from __future__ import annotations

from typing import Annotated

import strawberry

from api.columns import COLUMN
from api.context import Context
from api.schema import inventory_columns as columns
from api.schema.change import HistoryLine
from api.schema.hours import OpeningHours, opening_hours_of
from api.schema.inventory_enums import ClusterKind, Mode, Reconciler
from api.schema.label import Label
from api.schema.names import GroupPath, LabelValue, Name, Revision
from api.schema.ref import Node
from graph.model import inventory as core
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView, path_of
from graph.scoped import readable
from graph.targeting.syntax import to_text

GROUPS_SHOWN_MAX = 10_000
"""Groups in one list of children."""


async def history_of(context: Context, view: FleetView, ref: Ref, first: int) -> list[HistoryLine]:
    """The newest ``first`` changes of one object."""
    lines = await context.engine.history(ref, context.access)
    return [HistoryLine(view=view, line=line) for line in lines[: max(first, 0)]]


@strawberry.type(description="What a cluster offers to workloads.")
class Capacity:
    """Processor, memory and storage."""

    cpu_millicores: int = strawberry.field(description="Thousandths of a processor core.")
    memory_mib: float = strawberry.field(description="Memory in mebibytes.")
    storage_mib: float = strawberry.field(description="Storage in mebibytes.")


@strawberry.type(description="One cluster at one site.")
class Cluster(Node):
    """A cluster of one view."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]
    number: strawberry.Private[ClusterNumber]

    def ref(self) -> Ref:
        """Which object this is."""
        return Ref(Kind.CLUSTER, self.number)

    @strawberry.field(
        description="The object's identity, for as long as it exists.",
        metadata={COLUMN: columns.IDS},
    )
    def id(self) -> strawberry.ID:
        """The global id."""
        return strawberry.ID(columns.ids(self.view, [self.number])[0])

    @strawberry.field(description="Its name, final.", metadata={COLUMN: columns.NAMES})
    def name(self) -> Name:
        """The name."""
        return Name(columns.names(self.view, [self.number])[0])

    @strawberry.field(description="What people call it.", metadata={COLUMN: columns.TITLES})
    def title(self) -> str:
        """The title."""
        return columns.titles(self.view, [self.number])[0]

    @strawberry.field(description="What it is made of.", metadata={COLUMN: columns.KINDS})
    def kind(self) -> ClusterKind:
        """The kind."""
        return ClusterKind[columns.kinds(self.view, [self.number])[0]]

    @strawberry.field(
        description="What pulls and applies on it.", metadata={COLUMN: columns.RECONCILERS}
    )
    def reconciler(self) -> Reconciler:
        """The reconciler."""
        return Reconciler[columns.reconcilers(self.view, [self.number])[0]]

    @strawberry.field(
        description="Its time zone, as America/New_York; empty if not known.",
        metadata={COLUMN: columns.TIME_ZONES},
    )
    def time_zone(self) -> str:
        """The time zone."""
        return columns.time_zones(self.view, [self.number])[0]

    @strawberry.field(
        description="The revision that last wrote it.", metadata={COLUMN: columns.REVISIONS}
    )
    def changed(self) -> Revision:
        """The revision of its last change."""
        return Revision(columns.revisions(self.view, [self.number])[0])

    @strawberry.field(
        description="The value of one label; null where it has none.",
        metadata={COLUMN: columns.LABEL_VALUES},
    )
    def label(
        self, key: Annotated[Name, strawberry.argument(description="The label key.")]
    ) -> LabelValue | None:
        """One label."""
        value = columns.label_values(self.view, [self.number], key=key)[0]
        return None if value is None else LabelValue(value)

    @strawberry.field(
        description="Where it is in a hierarchy; null where it is in no group of it.",
        metadata={COLUMN: columns.PLACES},
    )
    def place(
        self, hierarchy: Annotated[Name, strawberry.argument(description="The hierarchy.")]
    ) -> GroupPath | None:
        """The path of its direct membership."""
        path = columns.places(self.view, [self.number], hierarchy=hierarchy)[0]
        return None if path is None else GroupPath(path)

    @strawberry.field(description="All its labels, by key.")
    def labels(self) -> list[Label]:
        """The labels."""
        found = sorted(self._cluster().labels.items())
        return [Label(key=Name(key), value=LabelValue(value)) for key, value in found]

    @strawberry.field(description="The groups it belongs to directly, in the order of their paths.")
    def groups(self) -> list[Group]:
        """The direct memberships."""
        numbers = self.view.memberships(self.number)
        by_path = sorted(numbers, key=lambda number: path_of(self.view, number))
        return [group_of(self.context, self.view, number) for number in by_path]

    @strawberry.field(description="What it offers to workloads, where that is known.")
    def capacity(self) -> Capacity | None:
        """The capacity."""
        found = self._cluster().capacity
        if found is None:
            return None
        return Capacity(
            cpu_millicores=found.cpu_millicores,
            memory_mib=found.memory_mib,
            storage_mib=found.storage_mib,
        )

    @strawberry.field(description="When its store is open, where that is known.")
    def opening_hours(self) -> OpeningHours | None:
        """The opening hours."""
        found = self._cluster().opening_hours
        return None if found is None else opening_hours_of(found)

    @strawberry.field(description="The saved selectors that choose it.")
    def saved_selectors(self) -> list[SavedSelector]:
        """Which saved selectors reach this cluster."""
        return [
            SavedSelector(context=self.context, view=self.view, saved=saved)
            for saved in self.view.saved_selectors()
            if self.number in self.context.engine.resolve(saved.selector, self.view)
        ]

    @strawberry.field(description="What happened to it, newest first.")
    async def history(
        self, first: Annotated[int, strawberry.argument(description="How many at most.")] = 50
    ) -> list[HistoryLine]:
        """Its past."""
        return await history_of(self.context, self.view, self.ref(), first)

    def _cluster(self) -> core.Cluster:
        found = self.view.cluster(self.number)
        assert found is not None, "a cluster is made of a view that has it"
        return found


@strawberry.type(description="A place in one hierarchy.")
class Group(Node):
    """A group of one view."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]
    group: strawberry.Private[core.Group]

    def ref(self) -> Ref:
        """Which object this is."""
        return Ref(Kind.GROUP, self.group.number)

    @strawberry.field(description="Its last segment.")
    def name(self) -> Name:
        """The name."""
        return Name(self.group.name)

    @strawberry.field(description="Where it is now.")
    def path(self) -> GroupPath:
        """The path."""
        return GroupPath(path_of(self.view, self.group.number))

    @strawberry.field(description="What people call it.")
    def title(self) -> str:
        """The title."""
        return self.group.title

    @strawberry.field(description="The hierarchy it is in.")
    def hierarchy(self) -> Hierarchy:
        """Its hierarchy."""
        found = self.view.hierarchy(self.group.hierarchy)
        assert found is not None, "a group has a hierarchy"
        return Hierarchy(context=self.context, view=self.view, hierarchy=found)

    @strawberry.field(description="The group above; null for a hierarchy's root.")
    def parent(self) -> Group | None:
        """The parent."""
        if self.group.parent is None:
            return None
        return group_of(self.context, self.view, self.group.parent)

    @strawberry.field(description="The groups right below, by name.")
    def children(
        self, first: Annotated[int, strawberry.argument(description="How many at most.")] = 1_000
    ) -> list[Group]:
        """The children."""
        below = sorted(self.view.children(self.group.number).items())
        shown = below[: min(max(first, 0), GROUPS_SHOWN_MAX)]
        return [group_of(self.context, self.view, number) for _, number in shown]

    @strawberry.field(description="How many groups are right below.")
    def child_count(self) -> int:
        """How many children there are."""
        return len(self.view.children(self.group.number))

    @strawberry.field(description="How many clusters are in it or below it.")
    def count(self) -> int:
        """The size of its closure."""
        return len(self.view.members(self.group.number))

    @strawberry.field(description="The revision that last wrote it.")
    def changed(self) -> Revision:
        """The revision of its last change."""
        return Revision(self.group.changed)

    @strawberry.field(description="What happened to it, newest first.")
    async def history(
        self, first: Annotated[int, strawberry.argument(description="How many at most.")] = 50
    ) -> list[HistoryLine]:
        """Its past."""
        return await history_of(self.context, self.view, self.ref(), first)


@strawberry.type(description="A named tree of groups.")
class Hierarchy(Node):
    """A hierarchy of one view."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]
    hierarchy: strawberry.Private[core.Hierarchy]

    def ref(self) -> Ref:
        """Which object this is."""
        return Ref(Kind.HIERARCHY, self.hierarchy.name)

    @strawberry.field(description="Its name, final; the first segment of its groups' paths.")
    def name(self) -> Name:
        """The name."""
        return Name(self.hierarchy.name)

    @strawberry.field(description="What people call it.")
    def title(self) -> str:
        """The title."""
        return self.hierarchy.title

    @strawberry.field(description="How many direct memberships a cluster may have in it.")
    def mode(self) -> Mode:
        """Single or many."""
        return Mode(self.hierarchy.mode.value)

    @strawberry.field(description="Whether every cluster must be in it.")
    def required(self) -> bool:
        """Whether it is required."""
        return self.hierarchy.required

    @strawberry.field(description="Its topmost group.")
    def root(self) -> Group:
        """The root."""
        number = self.view.root(self.hierarchy.name)
        assert number is not None, "a hierarchy has a root"
        return group_of(self.context, self.view, number)

    @strawberry.field(description="The revision that last wrote it.")
    def changed(self) -> Revision:
        """The revision of its last change."""
        return Revision(self.hierarchy.changed)


@strawberry.type(description="A selector under a name, usable in others as @name.")
class SavedSelector(Node):
    """A saved selector of one view."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]
    saved: strawberry.Private[core.SavedSelector]

    def ref(self) -> Ref:
        """Which object this is."""
        return Ref(Kind.SAVED_SELECTOR, self.saved.name)

    @strawberry.field(description="Its name, final.")
    def name(self) -> Name:
        """The name."""
        return Name(self.saved.name)

    @strawberry.field(description="What people call it.")
    def title(self) -> str:
        """The title."""
        return self.saved.title

    @strawberry.field(
        description="Its canonical text; null when it names something you may not see."
    )
    def text(self) -> str | None:
        """The selector."""
        if not readable(self.saved.selector, self.view):
            return None
        return to_text(self.saved.selector, self.view)

    @strawberry.field(description="How many clusters it chooses.")
    def count(self) -> int:
        """The size of its answer."""
        return self.context.engine.count(self.saved.selector, self.view)

    @strawberry.field(description="The revision that last wrote it.")
    def changed(self) -> Revision:
        """The revision of its last change."""
        return Revision(self.saved.changed)

    @strawberry.field(description="What happened to it, newest first.")
    async def history(
        self, first: Annotated[int, strawberry.argument(description="How many at most.")] = 50
    ) -> list[HistoryLine]:
        """Its past."""
        return await history_of(self.context, self.view, self.ref(), first)


def group_of(context: Context, view: FleetView, number: GroupNumber) -> Group:
    """The group with ``number``, which the view has."""
    group = view.group(number)
    assert group is not None, "a group of the view"
    return Group(context=context, view=view, group=group)
