"""The inventory as it travels: clusters, groups, hierarchies, saved selectors.

Every object holds the view it was read from, so that whatever is asked of it next is of the same
revision and within what its reader may see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Annotated, Any

import strawberry

from api.columns import COLUMN
from api.context import Context
from api.schema import inventory_columns as columns
from api.schema.effective import Hosting
from api.schema.history import Recorded
from api.schema.hours import OpeningHours, opening_hours_of
from api.schema.inventory_enums import ClusterKind, Mode, Reconciler
from api.schema.label import Label
from api.schema.listing import LISTED, LISTED_MAX, AfterName, First, checked_first
from api.schema.names import GroupPath, LabelValue, Name, Revision
from api.schema.ref import ID
from graph.model import inventory as core
from graph.model.errors import TrellisError
from graph.model.names import GroupNumber
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView, path_of
from graph.scoped import readable
from graph.targeting.syntax import to_text

GROUPS_SHOWN_MAX = 10_000
"""Groups in one list of children."""
REACHED = 50
"""Saved selectors shown of a cluster: each is worked out."""


@strawberry.type(description="What a cluster offers to workloads, or what they take from it.")
class Capacity:
    """Processor, memory and storage."""

    cpu_millicores: int = strawberry.field(description="Thousandths of a processor core.")
    memory_mib: float = strawberry.field(
        description="Memory in mebibytes: a whole number, which may be larger than an Int."
    )
    storage_mib: float = strawberry.field(
        description="Storage in mebibytes: a whole number, which may be larger than an Int."
    )


@strawberry.type(description="One cluster at one site.")
class Cluster(Hosting):
    """A cluster of one view."""

    leads: strawberry.Private[bool] = True
    """Whether it speaks for the list it is in: what cannot be asked of any is refused once."""

    def ref(self) -> Ref:
        """Which object this is."""
        return Ref(Kind.CLUSTER, self.number)

    @strawberry.field(description=ID, metadata={COLUMN: columns.IDS})
    def id(self) -> strawberry.ID:
        """The global id."""
        suffix = self.context.id_suffix
        return strawberry.ID(columns.ids(self.view, [self.number], id_suffix=suffix)[0])

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
        description="The value of one label; null where it has none. A label key that is not there"
        " is refused, once for a list.",
        metadata={COLUMN: columns.LABEL_VALUES},
    )
    def label(
        self, key: Annotated[Name, strawberry.argument(description="The label key.")]
    ) -> LabelValue | None:
        """One label."""
        value = self._cell(columns.label_values, key=key)
        return None if value is None else LabelValue(value)

    @strawberry.field(
        description="Where it is in a hierarchy that gives each cluster one place; null where it is"
        " in no group of it. A hierarchy that is not there, or gives many, is refused, once for a"
        " list.",
        metadata={COLUMN: columns.PLACE},
    )
    def place(
        self, hierarchy: Annotated[Name, strawberry.argument(description="The hierarchy.")]
    ) -> GroupPath | None:
        """The path of its direct membership."""
        path = self._cell(columns.place, hierarchy=hierarchy)
        return None if path is None else GroupPath(path)

    @strawberry.field(
        description="All its places in a hierarchy, in order. A hierarchy that is not there is"
        " refused.",
        metadata={COLUMN: columns.PLACES},
    )
    def places(
        self, hierarchy: Annotated[Name, strawberry.argument(description="The hierarchy.")]
    ) -> list[GroupPath]:
        """The paths of its direct memberships."""
        found: Sequence[str] = self._cell(columns.all_places, hierarchy=hierarchy) or ()
        return [GroupPath(each) for each in found]

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
        return None if found is None else capacity_of(found)

    @strawberry.field(description="When its store is open, where that is known.")
    def opening_hours(self) -> OpeningHours | None:
        """The opening hours."""
        found = self._cluster().opening_hours
        return None if found is None else opening_hours_of(found)

    @strawberry.field(description="The saved selectors that choose it, by name.")
    def saved_selectors(
        self, first: First = REACHED, after: AfterName = None
    ) -> list[SavedSelector]:
        """Which saved selectors reach this cluster."""
        count = checked_first(first, LISTED_MAX, "saved selectors")
        resolve = self.context.engine.resolve
        reached = (
            SavedSelector(context=self.context, view=self.view, saved=saved)
            for saved in self.view.saved_selectors()
            if (after is None or saved.name > after)
            and self.number in resolve(saved.selector, self.view)
        )
        return list(islice(reached, count))

    def _cell(self, read: Callable[..., Sequence[Any]], **given: str) -> Any:
        """One cell of a column; nothing where the first of the list is refused it."""
        try:
            return read(self.view, [self.number], **given)[0]
        except TrellisError:
            if self.leads:
                raise
            return None

    def _cluster(self) -> core.Cluster:
        found = self.view.cluster(self.number)
        assert found is not None, "a cluster is made of a view that has it"
        return found


@strawberry.type(description="A place in one hierarchy.")
class Group(Recorded):
    """A group of one view."""

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
    def children(self, first: First = LISTED, after: AfterName = None) -> list[Group]:
        """The children."""
        count = checked_first(first, GROUPS_SHOWN_MAX, "groups")
        below = self.view.children(self.group.number).items()
        behind = below if after is None else (each for each in below if each[0] > after)
        return [group_of(self.context, self.view, number) for _, number in sorted(behind)[:count]]

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


@strawberry.type(description="A named tree of groups.")
class Hierarchy(Recorded):
    """A hierarchy of one view."""

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

    @strawberry.field(
        description="Layers on groups of a hierarchy with a higher one are stronger; of hierarchies"
        " that have the same, neither is."
    )
    def precedence(self) -> int:
        """Its place in the order of hierarchies."""
        return self.hierarchy.precedence

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
class SavedSelector(Recorded):
    """A saved selector of one view."""

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


def capacity_of(capacity: core.Capacity) -> Capacity:
    """A capacity of the core as it travels."""
    return Capacity(
        cpu_millicores=capacity.cpu_millicores,
        memory_mib=capacity.memory_mib,
        storage_mib=capacity.storage_mib,
    )


def group_of(context: Context, view: FleetView, number: GroupNumber) -> Group:
    """The group with ``number``, which the view has."""
    group = view.group(number)
    assert group is not None, "a group of the view"
    return Group(context=context, view=view, group=group)
