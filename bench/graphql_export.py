"""The sample fleet as a file for the peers on Node: rows, prepared sets, and the tree's places.

Clusters are numbered in name order there, so that a peer's page needs no sorting. Every clause of a
selector the benchmark asks is a set worked out here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from bench.graphql_questions import QUESTIONS, TREE_DEPTH, TREE_ROOT
from graph.index.snapshot import Snapshot
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import And, Or, Selector
from graph.model.view import group_at, path_of
from graph.targeting.evaluate import evaluate
from graph.targeting.parser import parse


def export(view: Snapshot, path: Path) -> None:
    """Write everything a peer needs."""
    numbers = [number for _, number in view.names_after("")]
    positions = {number: position for position, number in enumerate(numbers)}
    sets: list[list[int]] = []
    selectors = {
        question.where: [
            [_kept(sets, _positions(each, view, positions)) for each in clause]
            for clause in _clauses(parse(question.where, view))
        ]
        for question in QUESTIONS
    }
    held = {
        "clusters": [_row(view, number) for number in numbers],
        "sets": sets,
        "selectors": selectors,
        "tree": _tree(view, positions),
    }
    path.write_bytes(orjson.dumps(held))


def _clauses(selector: Selector) -> list[tuple[Selector, ...]]:
    """All of these, each any of those: as far as the questions go."""
    operands = selector.operands if isinstance(selector, And) else (selector,)
    return [each.operands if isinstance(each, Or) else (each,) for each in operands]


def _positions(
    selector: Selector, view: Snapshot, positions: Mapping[ClusterNumber, int]
) -> list[int]:
    return sorted(positions[number] for number in evaluate(selector, view))


def _kept(sets: list[list[int]], found: list[int]) -> int:
    sets.append(found)
    return len(sets) - 1


def _row(view: Snapshot, number: ClusterNumber) -> dict[str, Any]:
    cluster = view.cluster(number)
    assert cluster is not None
    return {
        "name": cluster.name,
        "title": cluster.title,
        "kind": cluster.kind.name,
        "reconciler": cluster.reconciler.name,
        "timeZone": cluster.time_zone,
        "changed": cluster.changed,
    }


def _tree(view: Snapshot, positions: Mapping[ClusterNumber, int]) -> dict[str, Any]:
    """Groups in path order, each with its parent's place in that order, and a place a cluster."""
    root = group_at(view, TREE_ROOT)
    assert root is not None, f"the sample has no {TREE_ROOT}"
    groups: list[GroupNumber] = []
    parents: list[int] = []
    depths: list[int] = []
    places = [0] * len(positions)
    waiting = [(root, -1, 0)]
    while waiting:
        number, parent, depth = waiting.pop()
        at = len(groups)
        groups.append(number)
        parents.append(parent)
        depths.append(depth)
        # a deeper group comes later and takes its clusters over
        for position in _held(view, number, positions):
            places[position] = at
        if depth < TREE_DEPTH:
            below = sorted(view.children(number).items(), reverse=True)
            waiting.extend((child, at, depth + 1) for _, child in below)
    paths = [path_of(view, number) for number in groups]
    return {"paths": paths, "depths": depths, "parents": parents, "places": places}


def _held(
    view: Snapshot, number: GroupNumber, positions: Mapping[ClusterNumber, int]
) -> Iterable[int]:
    return (positions[each] for each in view.members(number))
