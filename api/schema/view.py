"""The fleet at one revision: every question the API answers about clusters begins here."""

from __future__ import annotations

from typing import Annotated

import strawberry

from api.columns import Rows
from api.context import Context
from api.schema.access import Grant
from api.schema.difference import SetDiff, diff_of
from api.schema.explanation import (
    Completion,
    Explanation,
    SelectorReading,
    completion_of,
    read,
)
from api.schema.facets import Bucket, CrossTab, Facet, FacetInput, TreeRow, tree_row
from api.schema.inventory import Cluster, Group, Hierarchy, SavedSelector, group_of
from api.schema.label import LabelKey
from api.schema.names import Cursor, GroupPath, LabelValue, Name, Revision, Seconds
from api.schema.page import Asked, ClusterConnection, ClusterOrder
from api.schema.selector import SelectorInput, read_selector
from api.schema.standard import Standard
from graph.facets import ByGroup, ByLabel, Dimension
from graph.model.cluster_set import ClusterSet
from graph.model.errors import Denied, Invalid, Span, TrellisError
from graph.model.names import GroupNumber, quoted
from graph.model.names import Revision as CoreRevision
from graph.model.selector import Everything, Selector, Under
from graph.model.view import FleetView, group_at
from graph.page import Order
from graph.targeting.missing import no_cluster

FIRST = 50
"""Clusters in a page whose size is not given."""
DEPTH = 3
FACETS_MAX = 20
COMPLETIONS = 20

Where = Annotated[
    SelectorInput | None, strawberry.argument(description="Which clusters; all by default.")
]


@strawberry.type(description="The fleet at one revision.")
class Fleet:
    """One view, as its reader may see it."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]

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
        self.context.fresh = True
        return Seconds(round(self.context.engine.age_seconds, 3))

    @strawberry.field(description="Clusters, a page at a time, with their number.")
    def clusters(
        self,
        where: Where = None,
        order_by: Annotated[
            list[ClusterOrder] | None, strawberry.argument(description="By name by default.")
        ] = None,
        first: Annotated[int, strawberry.argument(description="How many in the page.")] = FIRST,
        after: Annotated[
            str | None, strawberry.argument(description="The endCursor of the page before.")
        ] = None,
    ) -> ClusterConnection:
        """The answer to the question this is all about."""
        if first < 0:
            raise Invalid(f"a page of {first:,} clusters", hint="ask for 0 or more")
        asked = Asked(
            self.context, self.view, self._selector(where), first, _order(order_by), after
        )
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

    @strawberry.field(description="All hierarchies, by name.")
    def hierarchies(self) -> list[Hierarchy]:
        """The hierarchies."""
        return [
            Hierarchy(context=self.context, view=self.view, hierarchy=each)
            for each in self.view.hierarchies()
        ]

    @strawberry.field(description="All label keys, by name.")
    def label_keys(self) -> list[LabelKey]:
        """The label keys."""
        return [LabelKey(view=self.view, key=each) for each in self.view.label_keys()]

    @strawberry.field(description="All saved selectors, by name.")
    def saved_selectors(self) -> list[SavedSelector]:
        """The saved selectors."""
        return [
            SavedSelector(context=self.context, view=self.view, saved=each)
            for each in self.view.saved_selectors()
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

    @strawberry.field(description="All grants, by name; for admins of the whole fleet.")
    def grants(self) -> list[Grant]:
        """The grants."""
        if not self.context.access.reads_grants:
            raise Denied("the grants are for admins to read", hint="viewer shows your own")
        return [Grant(view=self.view, grant=each) for each in self.view.grants()]

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
    ) -> list[TreeRow]:
        """Roll-up along one hierarchy."""
        rows = self.context.engine.tree(
            self._group(top), depth=depth, within=self._within(where), view=self.view
        )
        made = Rows(self.view, rows, tree_row, kept=False)
        return made  # type: ignore[return-value]  # a list to whoever reads it

    @strawberry.field(description="Counts by each of some dimensions.")
    def facets(
        self,
        by: Annotated[list[FacetInput], strawberry.argument(description="What to count by.")],
        where: Where = None,
    ) -> list[Facet]:
        """Counts per child of a group or value of a label."""
        if len(by) > FACETS_MAX:
            raise Invalid(f"{len(by):,} facets", hint=f"ask for at most {FACETS_MAX}")
        within = self._within(where)
        return [self._facet(each, within) for each in by]

    @strawberry.field(description="Counts of two dimensions at once.")
    def cross_tab(
        self,
        rows: Annotated[FacetInput, strawberry.argument(description="What the rows are.")],
        columns: Annotated[FacetInput, strawberry.argument(description="What the columns are.")],
        where: Where = None,
    ) -> CrossTab:
        """A table of counts."""
        table = self.context.engine.cross_tab(
            self._dimension(rows),
            self._dimension(columns),
            within=self._within(where),
            view=self.view,
        )
        return CrossTab(table=table)

    @strawberry.field(description="Why a cluster is in or out, and what would change that.")
    def explain(
        self,
        cluster: Annotated[Name, strawberry.argument(description="The cluster's name.")],
        where: Annotated[SelectorInput, strawberry.argument(description="The selector.")],
    ) -> Explanation:
        """An explanation."""
        number = self.view.cluster_number(cluster)
        if number is None:
            raise no_cluster(self.view, cluster, cluster, Span(1, len(cluster)))
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
        first: Annotated[int, strawberry.argument(description="How many at most.")] = COMPLETIONS,
    ) -> list[Completion]:
        """Candidates for an editor."""
        found = self.context.engine.complete(
            text, position, self.view, count_max=max(0, min(first, 100))
        )
        return [completion_of(each) for each in found]

    @strawberry.field(description="How a set has changed since an earlier revision, and by what.")
    async def diff(
        self,
        from_: Annotated[
            Revision, strawberry.argument(name="from", description="The earlier revision.")
        ],
        where: Annotated[SelectorInput, strawberry.argument(description="Which clusters.")],
    ) -> SetDiff:
        """The difference of a set between two revisions."""
        before = await self.context.engine.as_of(CoreRevision(from_))
        earlier = await self.context.at(before)
        return await diff_of(self.context, earlier, self.view, self._selector(where))

    def _selector(self, where: SelectorInput | None) -> Selector:
        if where is None:
            return Everything()
        try:
            return read_selector(where, self.context, self.view)
        except TrellisError as refusal:
            raise refusal.at("where") from None

    def _within(self, where: SelectorInput | None) -> ClusterSet:
        if where is None:
            return self.view.everything()
        return self.context.engine.resolve(self._selector(where), self.view)

    def _group(self, path: GroupPath) -> GroupNumber:
        found = self.context.engine.parse(path, self.view)
        if not isinstance(found, Under):
            raise Invalid(f"{quoted(path)} is not a group path", hint="write /geo/us")
        return found.group

    def _dimension(self, given: FacetInput) -> Dimension:
        if given.group is not strawberry.UNSET and given.group is not None:
            return ByGroup(self._group(given.group))
        assert given.label is not None, "the input has exactly one field"
        return ByLabel(given.label)

    def _facet(self, given: FacetInput, within: ClusterSet) -> Facet:
        dimension = self._dimension(given)
        total = len(within) or 1
        buckets = [
            Bucket(value=LabelValue(each.value), count=each.clusters, share=each.clusters / total)
            for each in self.context.engine.facet(dimension, within=within, view=self.view)
        ]
        return Facet(
            group=given.group if isinstance(dimension, ByGroup) else None,
            label=given.label if isinstance(dimension, ByLabel) else None,
            buckets=buckets,
        )


def _order(given: list[ClusterOrder] | None) -> Order:
    if not given:
        return Order.NAME
    if len(given) > 1:
        raise Invalid("a page has one order", hint="both orders are total: give one of them")
    return Order(str(given[0].value))
