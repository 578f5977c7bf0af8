"""Why a cluster is in or out, clause by clause, and what would change that.

An explanation is a tree like the selector, in the author's order. Every clause says whether it
holds, and the fact it rests on in plain words; ``about`` names the objects that fact is read from,
so that whoever knows the history can add since when, by whom and why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from graph.model.errors import NotFound
from graph.model.inventory import Group
from graph.model.names import ClusterNumber, GroupNumber, join_path
from graph.model.ref import Kind, Ref
from graph.model.selector import (
    And,
    HasLabel,
    InNamespace,
    IsCluster,
    LabelIn,
    LabelIs,
    Matching,
    Only,
    Or,
    Saved,
    Selector,
    Under,
    parts,
)
from graph.model.view import FleetView, lineage
from graph.targeting.cycles import in_order
from graph.targeting.facts import Facts, facts_of, known_names, reached, true_of
from graph.targeting.flip import nearest_flip
from graph.targeting.meaning import Meaning, Named
from graph.targeting.step import Step
from graph.targeting.syntax import to_text
from graph.targeting.value import show_key, show_value

PLACES_SHOWN_MAX = 3
"""Memberships one fact lists."""

REASONS_MAX = 2_000
"""Clauses after which names are no longer opened."""

NAMES_DEPTH_MAX = 8
"""Names opened inside each other."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One part of the selector: whether it holds for the cluster, and the fact behind that."""

    text: str
    holds: bool
    fact: str = ""
    """Empty where the text says it all."""
    about: tuple[Ref, ...] = ()
    """The cluster and the group or label key the fact is read from."""
    parts: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer for one cluster, its reasons, and the nearest flip."""

    cluster: ClusterNumber
    reason: Reason
    clauses: tuple[Reason, ...]
    """What the summary counts: the operands of a top-level ``and`` or ``or``, else the whole."""
    nearest: tuple[Step, ...] | None
    """The fewest changes that would flip the answer; None where none were found."""

    @property
    def holds(self) -> bool:
        """Whether the selector chooses the cluster."""
        return self.reason.holds

    @property
    def held(self) -> int:
        """How many of ``clauses`` hold."""
        return sum(each.holds for each in self.clauses)

    @property
    def summary(self) -> str:
        """The answer in one line."""
        answer = "yes" if self.holds else "no"
        count = len(self.clauses)
        if count == 1:
            return answer
        return (
            f"{answer}: {self.held:,} of {count:,} clauses {'holds' if self.held == 1 else 'hold'}"
        )

    @property
    def proposal(self) -> str:
        """The nearest flip in one line; empty where there is none."""
        return ", then ".join(str(step) for step in self.nearest or ())


def explain(
    selector: Selector,
    cluster: ClusterNumber,
    view: FleetView,
    *,
    readable: Callable[[Selector], bool] = lambda _: True,
) -> Explanation:
    """Why ``selector`` does or does not choose ``cluster``.

    A name is not opened unless all it stands for is ``readable``: it holds or not, and says no
    more.
    """
    found = view.cluster(cluster)
    if found is None:
        raise NotFound(
            f"no cluster with number {cluster:,}", hint="it may be retired; look it up by name"
        )
    facts = facts_of(cluster, found.labels, found.memberships, view)
    meanings = in_order(selector, view)
    closed = frozenset(each.clause for each in meanings if not all(map(readable, each.selectors)))
    reason = _Reasons(facts, meanings, view, closed).of(selector, 0)
    counted = reason.parts if isinstance(selector, And | Or) else (reason,)
    nearest = nearest_flip(selector, facts, meanings, view, closed=closed)
    return Explanation(cluster, reason, counted, nearest)


class _Reasons:
    def __init__(
        self,
        facts: Facts,
        meanings: Sequence[Meaning],
        view: FleetView,
        closed: Collection[Named],
    ) -> None:
        self._facts, self._view = facts, view
        self._known = known_names(meanings, facts)
        self._open = {each.clause: each for each in meanings if each.clause not in closed}
        self._given = 0

    def of(self, selector: Selector, opened: int) -> Reason:
        """The reason for one part; ``opened`` names surround it."""
        self._given += 1
        fact, about = self._fact(selector)
        return Reason(
            to_text(selector, self._view),
            true_of(selector, self._facts, self._known),
            fact,
            about,
            tuple(self._parts(selector, opened)),
        )

    def _parts(self, selector: Selector, opened: int) -> Sequence[Reason]:
        if not isinstance(selector, Saved | InNamespace):
            return [self.of(part, opened) for part in parts(selector)]
        meaning = self._open.get(selector)
        found: list[Reason] = []
        for each in meaning.selectors if meaning is not None and opened < NAMES_DEPTH_MAX else ():
            if self._given > REASONS_MAX:
                break
            found.append(self.of(each, opened + 1))
        return found

    def _fact(self, selector: Selector) -> tuple[str, tuple[Ref, ...]]:
        match selector:
            case Under(group) | Only(group) | Matching(base=group):
                return self._place(selector, group)
            case LabelIs(key) | LabelIn(key) | HasLabel(key):
                about = (Ref(Kind.CLUSTER, self._facts.cluster), Ref(Kind.LABEL_KEY, key))
                return self._label(selector, key), about
            case IsCluster():
                name = self._view.cluster_name(self._facts.cluster)
                return f"it is {name}", (Ref(Kind.CLUSTER, self._facts.cluster),)
            case InNamespace():
                return self._assigned(selector)
            case _:
                return "", ()

    def _assigned(self, clause: InNamespace) -> tuple[str, tuple[Ref, ...]]:
        """Which assignments of a namespace choose the cluster."""
        meaning = self._open.get(clause)
        if meaning is None:
            return "", ()
        pairs = zip(meaning.given_by, meaning.selectors, strict=True)
        found = [ref for ref, each in pairs if true_of(each, self._facts, self._known)]
        if not found:
            return "no assignment chooses it", ()
        names = _shown([str(ref.key) for ref in found])
        if len(found) == 1:
            return f"assignment {names} chooses it", tuple(found)
        return f"assignments {names} choose it", tuple(found)

    def _label(self, clause: LabelIs | LabelIn | HasLabel, key: str) -> str:
        value = self._facts.labels.get(key)
        if value is None:
            return f"it has no label {show_key(key)}"
        said = f"{show_key(key)} is {show_value(value)}"
        return "" if said.replace(" is ", " = ", 1) == to_text(clause, self._view) else said

    def _place(
        self, clause: Under | Only | Matching, group: GroupNumber
    ) -> tuple[str, tuple[Ref, ...]]:
        hierarchy = lineage(self._view, group)[-1].hierarchy
        here = {
            number: place
            for number, place in self._facts.places.items()
            if place[0].hierarchy == hierarchy
        }
        inside = {number: place for number, place in here.items() if reached(clause, place)}
        shown = inside or here
        refs = (Ref(Kind.CLUSTER, self._facts.cluster), *(Ref(Kind.GROUP, each) for each in shown))
        if not shown:
            return f"it is in no group of /{hierarchy}", refs
        if isinstance(clause, Under | Only) and group in inside:
            return "", refs
        return f"it is in {_listed(list(shown.values()))}", refs


def _listed(places: Sequence[Sequence[Group]]) -> str:
    return _shown(sorted(join_path(group.name for group in place) for place in places))


def _shown(names: Sequence[str]) -> str:
    """The first few of some names."""
    shown, more = names[:PLACES_SHOWN_MAX], len(names) - PLACES_SHOWN_MAX
    if more > 0:
        return f"{', '.join(shown)} and {more:,} more"
    return " and ".join(shown) if len(shown) < 3 else f"{', '.join(shown[:-1])} and {shown[-1]}"
