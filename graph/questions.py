"""The half of the engine that only looks: which clusters, how many, why, where, in which order.

Every question is answered from one view, the newest unless another is given, and none waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from graph.access import Access
from graph.answers import Answers
from graph.decide.standards import Standard, standards
from graph.disclosure import Disclosure
from graph.effective.state import State
from graph.facets import (
    Bucket,
    ByGroup,
    ByLabel,
    CrossTab,
    Dimension,
    RolledUp,
    TreeRow,
    cross_tab,
    facet,
    roll_up,
    tree,
)
from graph.index.snapshot import Snapshot
from graph.model.access import Actor, Role
from graph.model.change import Change, Changeset, Cursor, is_of_grant
from graph.model.cluster_set import ClusterSet
from graph.model.errors import Invalid, NotFound
from graph.model.names import ClusterNumber, GroupNumber, quoted
from graph.model.selector import Selector
from graph.model.view import FleetView
from graph.page import Order, Page, page_by_name, page_by_number
from graph.scoped import ScopedView, readable
from graph.seen import Seen
from graph.settings import GraphSettings
from graph.states import States
from graph.targeting.candidate import Completion
from graph.targeting.complete import complete
from graph.targeting.explain import Explanation, explain
from graph.timeline import Timeline


class Sight:
    """What somebody may see of one changeset."""

    def __init__(
        self, changeset: Changeset, access: Access, disclosure: Disclosure | None, seen: Seen
    ) -> None:
        self._changeset = changeset
        self._access = access
        self._disclosure = disclosure
        self._seen = seen
        self._places = seen.places

    def stretches(self) -> Iterator[None]:
        """Do the long part of the work, giving way now and then."""
        return iter(()) if self._disclosure is None else self._disclosure.stretches()

    def of_all(self) -> Changeset | None:
        """All that may be seen; None if nothing."""
        if self._disclosure is not None:
            changes = self._disclosure.changes()
            verdicts = self._disclosure.verdicts
            self._seen.keep(self._access, self._changeset.cursor, verdicts, self._places)
        elif self._access.reads_grants:
            return self._changeset
        else:
            changes = tuple(each for each in self._changeset.changes if not is_of_grant(each))
        return replace(self._changeset, changes=changes) if changes else None

    def of(self, change: Change) -> Change | None:
        """What of one change of it may be seen; None if nothing."""
        if self._disclosure is not None:
            return self._disclosure.change(change)
        return None if is_of_grant(change) and not self._access.reads_grants else change


class Questions:
    """Asks the views of a timeline."""

    def __init__(self, timeline: Timeline, states: States, settings: GraphSettings) -> None:
        self._timeline = timeline
        self._settings = settings
        self._answers = Answers(timeline.head, settings)
        self._seen = Seen(settings)
        self._states = states

    @property
    def view(self) -> Snapshot:
        """The newest revision this process has. Immutable: hold it for one answer, one revision."""
        return self._timeline.head

    def state(self, view: FleetView | None = None) -> State:
        """What runs where in a view of the whole fleet."""
        return self._states.of(view or self.view)

    # who may see what

    def access(self, actor: Actor) -> Access:
        """What today's grants and the standing role give ``actor``."""
        return self._seen.access(actor, self.view)

    def seen(self, access: Access, view: Snapshot | None = None) -> FleetView:
        """The fleet as far as ``access`` shows it; refused to whoever may see nothing at all."""
        return self._seen.view(access, view or self.view)

    def seen_changeset(self, changeset: Changeset, access: Access) -> Changeset | None:
        """What of a changeset may be seen; None if nothing of it."""
        sight = self._sight(changeset, access)
        return None if sight is None else sight.of_all()

    def _sight(self, changeset: Changeset, access: Access) -> Sight | None:
        """What ``access`` shows of a changeset, judged by the newest view; None if nothing."""
        scope = access.scope(Role.READER)
        if scope is None or not self._is_ours(changeset.cursor):
            return None
        if access.sees_all:
            return Sight(changeset, access, None, self._seen)
        verdicts = self._seen.verdicts(access, changeset.cursor)
        disclosure = Disclosure(changeset, self._seen.through(access, self.view), verdicts)
        return Sight(changeset, access, disclosure, self._seen)

    def _is_ours(self, cursor: Cursor) -> bool:
        """Whether a changeset can be one of this history: no other is judged by it."""
        held = self._timeline.held(cursor.revision)
        if held is None:
            return cursor.revision <= self.view.cursor.revision
        return held.cursor == cursor

    # which clusters

    def parse(self, text: str, view: FleetView | None = None) -> Selector:
        """What a selector text means."""
        return self._answers.parse(text, view or self.view)

    def resolve(self, selector: Selector | str, view: FleetView | None = None) -> ClusterSet:
        """Which clusters a selector chooses: the question this is all about."""
        at = view or self.view
        tree = self._answers.parse(selector, at) if isinstance(selector, str) else selector
        return self._answers.resolve(tree, at)

    def count(self, selector: Selector | str, view: FleetView | None = None) -> int:
        """How many clusters a selector chooses; cheaper than making the set."""
        at = view or self.view
        tree = self._answers.parse(selector, at) if isinstance(selector, str) else selector
        return self._answers.count(tree, at)

    def explain(
        self, cluster: ClusterNumber, selector: Selector | str, view: FleetView | None = None
    ) -> Explanation:
        """Why a cluster is in or out, clause by clause, and what would flip it."""
        at = view or self.view
        tree = self._answers.parse(selector, at) if isinstance(selector, str) else selector
        return explain(tree, cluster, at, readable=lambda each: readable(each, at))

    def complete(
        self, text: str, position: int, view: FleetView | None = None, *, count_max: int = 20
    ) -> list[Completion]:
        """What may be written at a position of a selector, best first."""
        return complete(text, position, view or self.view, count_max)

    def facet(
        self,
        dimension: Dimension,
        *,
        within: ClusterSet | None = None,
        view: FleetView | None = None,
    ) -> list[Bucket]:
        """Counts per child of a group or per value of a label."""
        at = view or self.view
        _check_dimension(dimension, at)
        return facet(at, dimension, _inside(at, within))

    def roll_up(
        self,
        dimension: Dimension,
        parts: Sequence[Sequence[ClusterSet]],
        *,
        buckets_max: int,
        view: FleetView | None = None,
    ) -> list[RolledUp]:
        """Counts of many parts at once per child of a group or per value of a label."""
        at = view or self.view
        _check_dimension(dimension, at)
        return roll_up(at, dimension, parts, buckets_max=buckets_max)

    def tree(
        self,
        root: GroupNumber,
        *,
        depth: int,
        within: ClusterSet | None = None,
        view: FleetView | None = None,
    ) -> list[TreeRow]:
        """Counts of a whole tree to a depth, where there is anything to count."""
        at = view or self.view
        _check_dimension(ByGroup(root), at)
        chosen = _inside(at, within)
        return tree(at, root, depth=depth, within=chosen, rows_max=self._settings.tree_rows_max)

    def cross_tab(
        self,
        rows: Dimension,
        columns: Dimension,
        *,
        within: ClusterSet | None = None,
        view: FleetView | None = None,
    ) -> CrossTab:
        """Counts of two dimensions at once."""
        at = view or self.view
        _check_dimension(rows, at)
        _check_dimension(columns, at)
        chosen = _inside(at, within)
        cells_max = self._settings.tree_rows_max
        return cross_tab(at, rows, columns, within=chosen, cells_max=cells_max)

    def page(
        self,
        chosen: ClusterSet,
        *,
        first: int,
        order: Order = Order.NAME,
        after: str | ClusterNumber | None = None,
        view: FleetView | None = None,
    ) -> Page:
        """The next ``first`` clusters of a set.

        ``after`` is where the last page ended: a name, or a number when ordered by number. That
        cluster need not be there any more.
        """
        at = view or self.view
        chosen = _inside(at, chosen)
        if not 0 <= first <= self._settings.page_size_max:
            raise Invalid(
                f"a page of {first:,} clusters",
                hint=f"ask for 0 to {self._settings.page_size_max:,}",
            )
        match order, after:
            case Order.NUMBER, (int() | None) as number if 0 <= (number or 0) < 2**32:
                return page_by_number(chosen, after=number, first=first)
            case Order.NAME, (str() | None) as name:
                return page_by_name(at, chosen, after=name or "", first=first)
            case _:
                raise Invalid(
                    f"a page by {order} does not begin after {after!r}",
                    hint="pass what the last page ended with",
                )

    def standards(self, view: FleetView | None = None) -> list[Standard]:
        """The declared standards and who breaks them."""
        return list(standards(view or self.view))


def _inside(view: FleetView, chosen: ClusterSet | None) -> ClusterSet:
    """``chosen``, or all; under a scope never more than may be seen, wherever it came from."""
    if chosen is None:
        return view.everything()
    return chosen & view.everything() if isinstance(view, ScopedView) else chosen


def _check_dimension(dimension: Dimension, view: FleetView) -> None:
    if isinstance(dimension, ByGroup) and view.group(dimension.group) is None:
        raise NotFound(f"no group with number {dimension.group:,}", hint="look it up by its path")
    if isinstance(dimension, ByLabel) and view.label_key(dimension.key) is None:
        known = [key.name for key in view.label_keys()]
        raise NotFound(
            f"no label key called {quoted(dimension.key)}",
            hint=f"label keys: {', '.join(known) or 'none'}",
        )
