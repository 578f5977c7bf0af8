"""One changed store against a thousand assignments, beside the loop of label selectors.

The loop asks every assignment about the store, as a Kubernetes controller does. We ask those that
name something the store touched. Both end with the assignments that choose the store.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from random import Random

from bench.fleet import CURSOR, facts
from bench.label_loop import Requirement, requirements
from bench.result import Row, row
from bench.scale import Scale
from bench.timing import Work
from bench.updates import kinds_of_change
from cli.sample import sample
from graph.effective.reach import Reach, reach_after, reach_of
from graph.effective.touched import touched_by
from graph.index.builder import Draft, build, edit
from graph.index.snapshot import Snapshot
from graph.model.change import Change, Entity
from graph.model.inventory import Cluster
from graph.model.names import GroupNumber
from graph.model.selector import And, Comparison, LabelIs, Selector, Under
from graph.model.view import FleetView, lineage
from graph.model.workload import Assignment, Choice, Namespace

ASSIGNMENTS = 1_000
DEPTH = 3
TRELLIS, LOOP = "Trellis", "Kubernetes-style label loop"


def one_changed_store(scale: Scale) -> Iterator[Row]:
    """A store that changes its place, and one that changes a label."""
    view = _fleet(scale.clusters)
    reach = reach_of(view)
    gc.collect()
    gc.freeze()
    kinds = kinds_of_change(view)
    works: dict[str, Work] = {}
    measures = ("one place in geo changed", "one cluster relabelled")
    for kind in measures:
        (change,) = kinds[kind][0]
        draft = edit(view)
        draft.apply((change,))
        works[f"{kind}, {TRELLIS}"] = ours = _Ours(view, draft, reach, change)
        works[f"{kind}, {LOOP}"] = loop = _Loop(view, draft, change)
        assert ours() == loop(), "both choose alike"
    spent = scale.timed(works)
    for kind in measures:
        measure = f"{kind}, {ASSIGNMENTS:,} assignments, {scale.clusters:,} clusters"
        trellis = spent[f"{kind}, {TRELLIS}"].cpu * 1e6
        yield row(measure, TRELLIS, trellis, "us")
        loop_us = spent[f"{kind}, {LOOP}"].cpu * 1e6
        yield row(measure, LOOP, loop_us, "us", over=trellis, ratio_to=TRELLIS)


class _Ours:
    """What every assignment reaches, kept while one store changes."""

    def __init__(self, view: Snapshot, draft: Draft, reach: Reach, change: Change) -> None:
        self._view, self._draft, self._reach, self._change = view, draft, reach, change

    def __call__(self) -> frozenset[str]:
        """The assignments whose answer differs."""
        touched = touched_by((self._change,), self._view, self._draft)
        turned = reach_after(self._reach, touched, (self._change,), self._draft)
        return frozenset(str(ref.key) for ref in turned.sets)


class _Loop:
    """Every assignment asked about the store as it is, and compared with what it was."""

    def __init__(self, view: Snapshot, draft: Draft, change: Change) -> None:
        found = view.workload.assignments.values()
        self._asked = [(each.name, requirements(each.selector)) for each in found]
        was, now = change.before, change.after
        assert isinstance(was, Cluster) and isinstance(now, Cluster)
        self._now, self._groups = now, _groups(draft, now)
        before = _groups(view, was)
        self._chose = {name for name, all_of in self._asked if _meets(all_of, was, before)}

    def __call__(self) -> frozenset[str]:
        """The assignments whose answer differs."""
        now, groups = self._now, self._groups
        chosen = {name for name, all_of in self._asked if _meets(all_of, now, groups)}
        return frozenset(chosen ^ self._chose)


def _meets(all_of: list[Requirement], cluster: Cluster, groups: frozenset[GroupNumber]) -> bool:
    return all(each.matches(cluster.labels, groups) for each in all_of)


def _groups(view: FleetView, cluster: Cluster) -> frozenset[GroupNumber]:
    return frozenset(each.number for at in cluster.memberships for each in lineage(view, at))


def _fleet(clusters: int) -> Snapshot:
    made = facts(sample(clusters))
    bare = build(made.entities, cursor=CURSOR, numbers=made.numbers)
    entities = [*made.entities, *_assignments(bare)]
    return build(entities, cursor=CURSOR, numbers=made.numbers)


def _assignments(view: FleetView) -> Iterator[Entity]:
    """A place, and a size or a ring: what most people write."""
    random = Random(2)
    places = [each for root in _roots(view) for each in _down_to(view, root, DEPTH)]
    yield Namespace("team", changed=CURSOR.revision)
    for number in range(ASSIGNMENTS):
        key, values = random.choice((("size", ("small", "large")), ("ring", ("beta", "broad"))))
        label = LabelIs(key, Comparison.EQ, random.choice(values))
        selector: Selector = And((Under(random.choice(places)), label))
        yield Assignment(f"to-{number:04}", Choice("team"), selector, changed=CURSOR.revision)


def _down_to(view: FleetView, top: GroupNumber, depth: int) -> Iterator[GroupNumber]:
    """The groups not too far below one: nobody assigns to single sites."""
    yield top
    for each in view.children(top).values() if depth else ():
        yield from _down_to(view, each, depth - 1)


def _roots(view: FleetView) -> Iterator[GroupNumber]:
    for name in ("geo", "devices", "delivery"):
        root = view.root(name)
        assert root is not None, f"the sample has {name}"
        yield root
