"""What a change moves: two views in, what is different for those who rely on them out."""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.view import FleetView
from graph.targeting.evaluate import evaluate


@dataclass(frozen=True, slots=True)
class SetMove:
    """A saved selector whose answer differs, and how."""

    name: str
    gained: ClusterSet
    lost: ClusterSet


@dataclass(frozen=True, slots=True)
class Impact:
    """What differs between two views of a fleet."""

    registered: ClusterSet
    retired: ClusterSet
    moves: tuple[SetMove, ...]


def impact(before: FleetView, after: FleetView) -> Impact:
    """What moved from ``before`` to ``after``, for the fleet and for every saved selector."""
    was, now = before.everything(), after.everything()
    names = {each.name for each in (*before.saved_selectors(), *after.saved_selectors())}
    moves = (_move(name, before, after) for name in sorted(names))
    return Impact(now - was, was - now, tuple(move for move in moves if move.gained or move.lost))


def _move(name: str, before: FleetView, after: FleetView) -> SetMove:
    was, now = _answer(name, before), _answer(name, after)
    return SetMove(name, now - was, was - now)


def _answer(name: str, view: FleetView) -> ClusterSet:
    saved = view.saved_selector(name)
    return EMPTY if saved is None else evaluate(saved.selector, view)
