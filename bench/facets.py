"""Counts along the business and pages, against the count of the same selector in the same run.

The whole geography to depth 3 is what a person sees who opens the tree under an answer. It is
measured for the seed sentence and for a broad set, from the selector (evaluated, then counted) and
with the set at hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench.fleet import snapshot
from bench.result import Row, row
from bench.scale import Measured, Scale
from bench.timing import Work
from cli.sample import SEED_SENTENCE
from graph.facets import ByGroup, ByLabel, TreeRow, cross_tab, facet, tree
from graph.index.snapshot import Snapshot
from graph.model.cluster_set import ClusterSet
from graph.model.names import GroupNumber
from graph.model.selector import Selector
from graph.model.view import group_at
from graph.page import page_by_name, page_by_number
from graph.targeting.evaluate import count, evaluate
from graph.targeting.parser import parse

DEPTH = 3
PAGE = 50
ROWS_MAX = 100_000
CHOSEN = {"seed sentence": SEED_SENTENCE, "broad set": "/geo/us and size = large"}


def run(scale: Scale) -> Measured:
    """Both sets, every question."""
    view = snapshot(scale.clusters)
    rows: list[Row] = []
    notes: list[str] = []
    for name, text in CHOSEN.items():
        selector = parse(text, view)
        found = evaluate(selector, view)
        drawn = whole_tree(view, found)
        check_tree(view, found, drawn)
        notes.append(f"{name}: {text}; {len(found):,} clusters, {len(drawn):,} rows in the tree")
        rows += _rows(name, selector, view, scale)
    return Measured(rows, notes)


def whole_tree(view: Snapshot, within: ClusterSet) -> list[TreeRow]:
    """Geography to depth 3."""
    return tree(view, _group(view, "/geo"), depth=DEPTH, within=within, rows_max=ROWS_MAX)


def _rows(name: str, selector: Selector, view: Snapshot, scale: Scale) -> Iterator[Row]:
    within = evaluate(selector, view)
    states, grills = ByGroup(_group(view, "/geo/us/northeast")), ByGroup(_group(view, "/devices"))
    counted = f"count of the {name}"
    works: dict[str, Work] = {
        counted: partial(count, selector, view),
        "geo tree to depth 3": lambda: whole_tree(view, evaluate(selector, view)),
        "geo tree to depth 3, set at hand": partial(whole_tree, view, within),
        "children of a group, set at hand": partial(facet, view, states, within),
        "values of a label, set at hand": partial(facet, view, ByLabel("ring"), within),
        "cross-tab of states and devices, set at hand": partial(
            cross_tab, view, states, grills, within=within, cells_max=ROWS_MAX
        ),
        "first 50 by name, set at hand": partial(page_by_name, view, within, after="", first=PAGE),
        "first 50 by number, set at hand": partial(page_by_number, within, after=None, first=PAGE),
    }
    spent = scale.timed(works)
    over = spent[counted].cpu * 1e6
    size = f"{scale.clusters:,} clusters"
    yield row(f"{counted}, {size}", "Trellis", over, "us")
    for what, found in spent.items():
        if what != counted:
            measure = f"{what}: {name}, {size}"
            yield row(measure, "Trellis", found.cpu * 1e6, "us", over=over, ratio_to=counted)


def check_tree(view: Snapshot, within: ClusterSet, drawn: list[TreeRow]) -> None:
    """Each row against the plain intersection, and no group with clusters left out."""
    for each in drawn:
        assert each.clusters == len(within & view.members(each.number)), each.path
    held = sum(each.clusters for each in drawn if each.depth == 1)
    assert held == len(within), "every cluster has one place in geography"


def _group(view: Snapshot, path: str) -> GroupNumber:
    number = group_at(view, path)
    assert number is not None, f"the sample has no {path}"
    return number
