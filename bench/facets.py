"""Counts along the business and pages, against the seed sentence's count in the same run.

The whole geography to depth 3 is what a person sees who opens the tree under an answer. It is
measured for the seed sentence and for a broad set, from the selector (evaluated, then counted) and
with the set at hand.
"""

from __future__ import annotations

from functools import partial

from bench.fleet import snapshot
from bench.result import row
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
COUNT = "count: seed sentence"
CHOSEN = {"seed sentence": SEED_SENTENCE, "broad set": "/geo/us and size = large"}


def run(scale: Scale) -> Measured:
    """Both sets, every question, all over the seed sentence's count."""
    view = snapshot(scale.clusters)
    works: dict[str, Work] = {}
    notes: list[str] = []
    for name, text in CHOSEN.items():
        selector = parse(text, view)
        found = evaluate(selector, view)
        drawn = whole_tree(view, found)
        check_tree(view, found, drawn)
        notes.append(f"{name}: {text}; {len(found):,} clusters, {len(drawn):,} rows in the tree")
        works |= _works(name, selector, view)
    spent = scale.timed(works)
    over = spent[COUNT].cpu * 1e6
    size = f"{scale.clusters:,} clusters"
    rows = [row(f"{COUNT}, {size}", "Trellis", over, "us")]
    for what, took in spent.items():
        if what != COUNT:
            rows.append(
                row(f"{what}, {size}", "Trellis", took.cpu * 1e6, "us", over=over, ratio_to=COUNT)
            )
    broad = spent["geo tree to depth 3: broad set"].cpu / spent["count: broad set"].cpu
    notes.append(
        "the bar is over the seed sentence's count, as in updates; over the broad set's own count,"
        f" which is one fused intersection, its tree is {broad:.3g}x"
    )
    return Measured(rows, notes)


def whole_tree(view: Snapshot, within: ClusterSet) -> list[TreeRow]:
    """Geography to depth 3."""
    return tree(view, _group(view, "/geo"), depth=DEPTH, within=within, rows_max=ROWS_MAX)


def _works(name: str, selector: Selector, view: Snapshot) -> dict[str, Work]:
    within = evaluate(selector, view)
    states, grills = ByGroup(_group(view, "/geo/us/northeast")), ByGroup(_group(view, "/devices"))
    return {
        f"count: {name}": partial(count, selector, view),
        f"geo tree to depth 3: {name}": lambda: whole_tree(view, evaluate(selector, view)),
        f"geo tree to depth 3, set at hand: {name}": partial(whole_tree, view, within),
        f"children of a group, set at hand: {name}": partial(facet, view, states, within),
        f"values of a label, set at hand: {name}": partial(facet, view, ByLabel("ring"), within),
        f"cross-tab of states and devices, set at hand: {name}": partial(
            cross_tab, view, states, grills, within=within, cells_max=ROWS_MAX
        ),
        f"first 50 by name, set at hand: {name}": partial(
            page_by_name, view, within, after="", first=PAGE
        ),
        f"first 50 by number, set at hand: {name}": partial(
            page_by_number, within, after=None, first=PAGE
        ),
    }


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
