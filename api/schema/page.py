"""Pages of clusters: Relay connections with keyset cursors, counted from the set itself.

A page's cursor is the place in history it was read at and the last cluster's key. The next page
begins after that key in whatever view it is read from, so nothing is skipped or repeated because
something else came or went; whoever wants every page of one revision asks ``fleet(asOf:)``.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Annotated

import strawberry

from api.columns import Rows
from api.context import Context
from api.schema.inventory import Cluster
from graph.model.change import Cursor
from graph.model.cluster_set import ClusterSet
from graph.model.errors import Conflict, Invalid, Unavailable
from graph.model.names import ClusterNumber, Revision
from graph.model.selector import Everything, Selector
from graph.model.view import FleetView
from graph.page import Order, Page

PAGE = 50
"""Clusters in a page whose size is not given."""
CURSOR_LENGTH_MAX = 400

After = Annotated[str | None, strawberry.argument(description="The endCursor of the page before.")]


@strawberry.enum(description="What a page of clusters is ordered by.")
class ClusterOrder(Enum):
    """As ``graph.page.Order``."""

    NAME = strawberry.enum_value("name", description="By name, byte for byte.")
    REGISTERED = strawberry.enum_value("number", description="By when they were registered.")


@strawberry.type(description="Where a page begins and ends, and whether more follow.")
class PageInfo:
    """The Relay page."""

    has_next_page: bool = strawberry.field(
        description="Whether more follow. Of the log: or may, for looking back is bounded; a page"
        " of it may be short, or empty, and still have a next one."
    )
    has_previous_page: bool = strawberry.field(description="Whether the page began after another.")
    start_cursor: str | None = strawberry.field(description="The cursor of the first.")
    end_cursor: str | None = strawberry.field(description="Pass it as `after` for the next page.")


@strawberry.type(description="A cluster and its place in the page.")
class ClusterEdge:
    """The Relay edge."""

    cursor: str = strawberry.field(description="Pass it as `after` to begin right behind.")
    node: Cluster = strawberry.field(description="The cluster.")


@dataclass(slots=True)
class Asked:
    """A page asked for, worked out only as far as the answer needs it."""

    context: Context
    view: FleetView
    chosen: Selector | ClusterSet
    first: int
    order: Order
    after: str | None
    _page: Page | None = None

    def __post_init__(self) -> None:
        """Refuse what can be no page; how large one may be is the engine's to say."""
        if self.first < 0:
            raise Invalid(
                f"a page of {self.first:,} clusters", hint="ask for 0 or more", path=("first",)
            )

    def total(self) -> int:
        """How many clusters there are in all."""
        if isinstance(self.chosen, ClusterSet):
            return len(self.chosen)
        if isinstance(self.chosen, Everything):
            return len(self.view.everything())
        return self.context.engine.count(self.chosen, self.view)

    def page(self) -> Page:
        """The page itself, read once."""
        if self._page is None:
            engine = self.context.engine
            if not isinstance(self.chosen, ClusterSet):
                self.chosen = engine.resolve(self.chosen, self.view)
            after = None if self.after is None else _key(self.after, self.order, self.view)
            self._page = engine.page(
                self.chosen, first=self.first, order=self.order, after=after, view=self.view
            )
        return self._page

    def cluster(self, number: ClusterNumber) -> Cluster:
        """One cluster of the page, the first of which speaks for all."""
        leads = number == self.page().clusters[0]
        return Cluster(context=self.context, view=self.view, number=number, leads=leads)

    def cursor(self, number: ClusterNumber) -> str:
        """The cursor behind one cluster of the page."""
        key = str(number) if self.order is Order.NUMBER else self.view.cluster_name(number)
        return _encode(self.view.cursor, self.order, key)


@strawberry.type(description="Clusters, a page at a time.")
class ClusterConnection:
    """The Relay connection."""

    asked: strawberry.Private[Asked]

    @strawberry.field(description="How many there are in all.")
    def total_count(self) -> int:
        """The size of the whole set."""
        return self.asked.total()

    @strawberry.field(description="The clusters of this page.")
    def nodes(self) -> list[Cluster]:
        """The clusters, without cursors."""
        return rows_of(self.asked.context, self.asked.view, self.asked.page().clusters)

    @strawberry.field(description="The clusters of this page with their cursors.")
    def edges(self) -> list[ClusterEdge]:
        """The clusters with cursors."""
        asked = self.asked
        return [
            ClusterEdge(cursor=asked.cursor(number), node=asked.cluster(number))
            for number in asked.page().clusters
        ]

    @strawberry.field(description="Where the page begins and ends.")
    def page_info(self) -> PageInfo:
        """The Relay page."""
        asked = self.asked
        page = asked.page()
        numbers = page.clusters
        return PageInfo(
            has_next_page=page.more,
            has_previous_page=asked.after is not None,
            start_cursor=asked.cursor(numbers[0]) if numbers else None,
            end_cursor=asked.cursor(numbers[-1]) if numbers else None,
        )


def page_of(
    context: Context, view: FleetView, chosen: ClusterSet, first: int, after: str | None
) -> ClusterConnection:
    """A page of some clusters of ``view``, by name."""
    asked = Asked(context, view, chosen, first, Order.NAME, after)
    return ClusterConnection(asked=asked)


def rows_of(context: Context, view: FleetView, numbers: Sequence[ClusterNumber]) -> list[Cluster]:
    """Clusters of ``view``, for the executor to read column by column."""
    head = numbers[0] if numbers else None
    make = partial(_cluster, context, view, head)
    made = Rows(view, numbers, make, id_suffix=context.id_suffix)
    return made  # type: ignore[return-value]  # a list to whoever reads it


def _cluster(
    context: Context, view: FleetView, head: ClusterNumber | None, number: ClusterNumber
) -> Cluster:
    return Cluster(context=context, view=view, number=number, leads=number == head)


def _encode(place: Cursor, order: Order, key: str) -> str:
    text = f"{place.revision}.{place.chain[:16]}.{order}.{key}"
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _key(after: str, order: Order, view: FleetView) -> str | ClusterNumber:
    """Where the next page begins; refused if the cursor is no cursor of this fleet and order."""
    if len(after) > CURSOR_LENGTH_MAX:
        raise _no_cursor()
    try:
        raw = urlsafe_b64decode(after + "=" * (-len(after) % 4))
        revision, chain, named, key = raw.decode().split(".", 3)
        place = Cursor.parse(f"{revision}.{chain}")
    except (Base64Error, ValueError, Invalid):
        raise _no_cursor() from None
    if place.revision > view.cursor.revision:
        raise Ahead(place.revision)
    if place.revision == view.cursor.revision and place.chain != view.cursor.chain[:16]:
        raise Conflict("the cursor is of another history", hint="begin again without `after`")
    if named != order:
        raise Invalid(
            f"the cursor is of a page by {named}, not by {order}",
            hint="keep orderBy the same from page to page",
        )
    if order is Order.NAME:
        return key
    if not (key.isascii() and key.isdigit() and len(key) <= 10):
        raise _no_cursor()
    return ClusterNumber(int(key))


class Ahead(Unavailable):
    """The request needs a revision this process has not reached yet."""

    def __init__(self, revision: Revision) -> None:
        super().__init__(
            f"this process has not reached revision {revision:,} yet",
            hint="try again in a moment",
        )
        self.revision = revision


def _no_cursor() -> Invalid:
    return Invalid(
        "`after` is no cursor of this list", hint="pass an endCursor exactly as it was received"
    )
