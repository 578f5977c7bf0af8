"""The fleet at one revision: every question the API answers about clusters begins here."""

from __future__ import annotations

from typing import Annotated

import strawberry

from api.schema.access import Grant
from api.schema.difference import SetDiff, diff_of
from api.schema.explanation import (
    Completion,
    Explanation,
    SelectorReading,
    completion_of,
    read,
)
from api.schema.facets import (
    CrossTab,
    Facet,
    FacetInput,
    TreeRow,
    cross_tab_of,
    dimension_of,
    facet_of,
    group_number,
    tree_rows,
)
from api.schema.fleet_effective import FleetEffective, cluster_called
from api.schema.intent import inside
from api.schema.inventory import Cluster, Group, Hierarchy, SavedSelector, group_of
from api.schema.label import LabelKey
from api.schema.listing import LISTED, AfterName, First, by_name, checked_first
from api.schema.names import Cursor, GroupPath, Name, Revision, Seconds
from api.schema.page import PAGE, After, Asked, ClusterConnection, ClusterOrder
from api.schema.selector import SelectorInput, read_selector
from api.schema.standard import Standard
from graph.model.cluster_set import ClusterSet
from graph.model.errors import Denied, Invalid
from graph.model.names import Revision as CoreRevision
from graph.model.selector import Everything, Selector
from graph.model.view import group_at
from graph.page import Order

DEPTH = 3
DEPTH_MAX = 1_000
FACETS_MAX = 20
COMPLETIONS = 20
COMPLETIONS_MAX = 100

Where = Annotated[
    SelectorInput | None, strawberry.argument(description="Which clusters; all by default.")
]


@strawberry.type(
    description="The fleet at one revision. A question that can be refused is null where it is, and"
    " the others are answered."
)
class Fleet(FleetEffective):
    """One view, as its reader may see it."""

    @strawberry.field(description="The revision every answer below is of.")
    def revision(self) -> Revision:
        """The revision."""
        return Revision(self.view.cursor.revision)

    @strawberry.field(description="The revision's place in history, to follow changes from.")
    def cursor(self) -> Cursor:
        """The cursor."""
        return Cursor(str(self.view.cursor))

    @strawberry.field(description="How far this process may be behind the store.")
    def age(self) -> Seconds:
        """Seconds since the store was last heard."""
        self.context.usage.fresh = True
        return Seconds(round(self.context.engine.age_seconds, 3))

    @strawberry.field(description="Clusters, a page at a time, with their number.")
    def clusters(
        self,
        where: Where = None,
        order_by: Annotated[
            ClusterOrder, strawberry.argument(description="By name by default.")
        ] = ClusterOrder.NAME,
        first: First = PAGE,
        after: After = None,
    ) -> ClusterConnection | None:
        """The answer to the question this is all about."""
        order = Order.NAME if order_by is ClusterOrder.NAME else Order.NUMBER
        asked = Asked(self.context, self.view, self._selector(where), first, order, after)
        return ClusterConnection(asked=asked)

    @strawberry.field(description="One cluster; null if there is none of that name.")
    def cluster(
        self, name: Annotated[Name, strawberry.argument(description="Its name.")]
    ) -> Cluster | None:
        """A cluster by name."""
        number = self.view.cluster_number(name)
        if number is None:
            return None
        return Cluster(context=self.context, view=self.view, number=number)

    @strawberry.field(description="One group; null if there is none at that path.")
    def group(
        self, path: Annotated[GroupPath, strawberry.argument(description="Where it is.")]
    ) -> Group | None:
        """A group by path."""
        number = group_at(self.view, path)
        return None if number is None else group_of(self.context, self.view, number)

    @strawberry.field(description="The hierarchies, by name.")
    def hierarchies(self, first: First = LISTED, after: AfterName = None) -> list[Hierarchy] | None:
        """The hierarchies."""
        return [
            Hierarchy(context=self.context, view=self.view, hierarchy=each)
            for each in by_name(self.view.hierarchies(), first, after, "hierarchies")
        ]

    @strawberry.field(description="The label keys, by name.")
    def label_keys(self, first: First = LISTED, after: AfterName = None) -> list[LabelKey] | None:
        """The label keys."""
        return [
            LabelKey(context=self.context, view=self.view, key=each)
            for each in by_name(self.view.label_keys(), first, after, "label keys")
        ]

    @strawberry.field(description="The saved selectors, by name.")
    def saved_selectors(
        self, first: First = LISTED, after: AfterName = None
    ) -> list[SavedSelector] | None:
        """The saved selectors."""
        return [
            SavedSelector(context=self.context, view=self.view, saved=each)
            for each in by_name(self.view.saved_selectors(), first, after, "saved selectors")
        ]

    @strawberry.field(description="One saved selector; null if there is none of that name.")
    def saved_selector(
        self, name: Annotated[Name, strawberry.argument(description="Its name.")]
    ) -> SavedSelector | None:
        """A saved selector by name."""
        saved = self.view.saved_selector(name)
        if saved is None:
            return None
        return SavedSelector(context=self.context, view=self.view, saved=saved)

    @strawberry.field(description="The grants, by name; for admins of the whole fleet.")
    def grants(self, first: First = LISTED, after: AfterName = None) -> list[Grant] | None:
        """The grants."""
        if not self.context.access.reads_grants:
            raise Denied("the grants are for admins to read", hint="viewer shows your own")
        return [
            Grant(context=self.context, view=self.view, grant=each)
            for each in by_name(self.view.grants(), first, after, "grants")
        ]

    @strawberry.field(description="Declared standards, and the clusters that break them.")
    def standards(self) -> list[Standard]:
        """The standards."""
        return [
            Standard(context=self.context, view=self.view, standard=each)
            for each in self.context.engine.standards(self.view)
        ]

    @strawberry.field(description="Counts of a whole tree, where there is anything to count.")
    def tree(
        self,
        top: Annotated[GroupPath, strawberry.argument(name="root", description="Its topmost.")],
        depth: Annotated[int, strawberry.argument(description="How far down.")] = DEPTH,
        where: Where = None,
    ) -> list[TreeRow] | None:
        """Roll-up along one hierarchy."""
        if not 0 <= depth <= DEPTH_MAX:
            raise Invalid(f"{depth:,} levels", hint=f"ask for 0 to {DEPTH_MAX:,}", path=("depth",))
        with inside("root"):
            number = group_number(self.context, self.view, top)
        within = self._within(where)
        rows = self.context.engine.tree(number, depth=depth, within=within, view=self.view)
        self.context.count_tree_rows(len(rows))
        return tree_rows(self.context, self.view, rows)

    @strawberry.field(description="Counts by each of some dimensions.")
    def facets(
        self,
        by: Annotated[list[FacetInput], strawberry.argument(description="What to count by.")],
        where: Where = None,
    ) -> list[Facet] | None:
        """Counts per child of a group or value of a label."""
        if len(by) > FACETS_MAX:
            raise Invalid(f"{len(by):,} facets", hint=f"ask for at most {FACETS_MAX}", path=("by",))
        within = self._within(where)
        found: list[Facet] = []
        for place, each in enumerate(by):
            with inside("by", place):
                found.append(facet_of(self.context, self.view, each, within))
        return found

    @strawberry.field(description="Counts of two dimensions at once.")
    def cross_tab(
        self,
        rows: Annotated[FacetInput, strawberry.argument(description="What the rows are.")],
        columns: Annotated[FacetInput, strawberry.argument(description="What the columns are.")],
        where: Where = None,
    ) -> CrossTab | None:
        """A table of counts."""
        context, view = self.context, self.view
        with inside("rows"):
            tall = dimension_of(context, view, rows)
        with inside("columns"):
            wide = dimension_of(context, view, columns)
        return cross_tab_of(context, view, tall, wide, self._within(where))

    @strawberry.field(description="Why a cluster is in or out, and what would change that.")
    def explain(
        self,
        cluster: Annotated[Name, strawberry.argument(description="The cluster's name.")],
        where: Annotated[SelectorInput, strawberry.argument(description="The selector.")],
    ) -> Explanation | None:
        """An explanation."""
        number = cluster_called(self, cluster)
        found = self.context.engine.explain(number, self._selector(where), self.view)
        return Explanation(context=self.context, view=self.view, explanation=found)

    @strawberry.field(description="How a selector is read, or what is wrong with it.")
    def selector(
        self, text: Annotated[str, strawberry.argument(description="The selector.")]
    ) -> SelectorReading:
        """A selector with its meaning."""
        return read(self.context, self.view, text)

    @strawberry.field(description="What may stand at a position of a selector, best first.")
    def complete(
        self,
        text: Annotated[str, strawberry.argument(description="The selector so far.")],
        position: Annotated[int, strawberry.argument(description="Characters before the cursor.")],
        first: First = COMPLETIONS,
    ) -> list[Completion] | None:
        """Candidates for an editor."""
        count = checked_first(first, COMPLETIONS_MAX, "completions")
        found = self.context.engine.complete(text, position, self.view, count_max=count)
        return [completion_of(each) for each in found]

    @strawberry.field(description="How a set has changed since an earlier revision, and by what.")
    async def diff(
        self,
        from_: Annotated[
            Revision, strawberry.argument(name="from", description="The earlier revision.")
        ],
        where: Annotated[SelectorInput, strawberry.argument(description="Which clusters.")],
    ) -> SetDiff | None:
        """The difference of a set between two revisions."""
        with inside("from"):
            earlier = await self.context.at(CoreRevision(from_))
        return await diff_of(self.context, earlier, self.view, self._selector(where))

    def _selector(self, where: SelectorInput | None) -> Selector:
        if where is None:
            return Everything()
        with inside("where"):
            return read_selector(where, self.context, self.view)

    def _within(self, where: SelectorInput | None) -> ClusterSet:
        if where is None:
            return self.view.everything()
        return self.context.engine.resolve(self._selector(where), self.view)
