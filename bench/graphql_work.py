"""The engine's half of every answer, by hand: what is done however a request is worded.

The bare routes and the stock schema stand on this.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.graphql_questions import TREE_DEPTH, TREE_ROOT
from graph.engine import Engine
from graph.facets import TreeRow
from graph.model.names import ClusterNumber
from graph.model.view import group_at


def count(engine: Engine, where: str) -> int:
    """How many."""
    return engine.count(where)


def page(engine: Engine, where: str, first: int) -> Sequence[ClusterNumber]:
    """The first clusters by name."""
    return engine.page(engine.resolve(where), first=first).clusters


def tree(engine: Engine, where: str) -> list[TreeRow]:
    """Geography to depth 3."""
    root = group_at(engine.view, TREE_ROOT)
    assert root is not None, f"the sample has no {TREE_ROOT}"
    return engine.tree(root, depth=TREE_DEPTH, within=engine.resolve(where))
