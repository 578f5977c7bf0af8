"""Each benchmark runs on a tiny fleet, where it checks its answers as it does on a large one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from bench import facets, fanout, graphql, graphql_peers, load, past, selectors, start, updates
from bench.fleet import snapshot
from bench.graphql_client import post
from bench.graphql_process import Server
from bench.graphql_questions import COUNT, MANY_ROWS, QUESTIONS
from bench.graphql_sides import HELLO, PLAIN, STOCK, child, same
from bench.graphql_trellis import COMPUTED, REPEATED, WARM
from bench.result import Row
from bench.scale import Scale
from bench.updates import kinds_of_change, visible
from graph.model.change import Change
from graph.model.inventory import Cluster, Group

TINY = Scale(
    clusters=400,
    large=700,
    rounds=1,
    round_seconds=0.001,
    starts=1,
    commits=80,
    subscribers=100,
    node=False,
    neo4j=False,
)


def figures(rows: list[Row]) -> None:
    assert all(row.value > 0 for row in rows)
    assert all((row.ratio is None) == (row.ratio_to is None) for row in rows)
    named = [(row.measure, row.subject) for row in rows]
    assert len(set(named)) == len(named), "every figure has a name of its own"


def test_selectors_compares_every_side_at_both_sizes():
    measured = selectors.run(TINY)
    rows = list(measured.rows)
    figures(rows)
    for name in ("Q1", "Q2", "Q3", "Q4", "Q5"):
        for what in ("count", "set"):
            subjects = {
                row.subject for row in rows if row.measure == f"{name} {what}, 400 clusters"
            }
            assert subjects == {selectors.TRELLIS, selectors.SQLITE, selectors.LOOP}
            (large,) = (row for row in rows if row.measure == f"{name} {what}, 700 clusters")
            assert large.ratio_to == "Trellis at 400"
    assert any("NEO4J WAS NOT MEASURED" in note for note in measured.notes)


@pytest.mark.neo4j
def test_selectors_asks_neo4j_the_same_and_gets_the_same():
    rows = list(selectors.run(replace(TINY, clusters=300, neo4j=True)).rows)
    figures([row for row in rows if not row.subject.endswith("own clock")])
    cypher = [row for row in rows if row.subject == selectors.NEO4J]
    assert len(cypher) == 10
    assert all(row.ratio_to == selectors.TRELLIS for row in cypher)


def test_updates_measures_every_kind_of_change():
    rows = list(updates.run(TINY).rows)
    figures(rows)
    assert all(row.ratio_to == updates.SEED_COUNT for row in rows[1:])
    assert len(rows) == 2 + len(kinds_of_change(snapshot(TINY.clusters)))


def test_past_reads_every_revision_twice_and_as_it_was_done_before():
    rows = list(past.run(TINY).rows)
    figures(rows)
    subjects = [row.subject for row in rows if row.measure.startswith("an earlier revision, worst")]
    assert subjects == [past.FILE, past.FIRST, past.AGAIN, past.UNDONE]
    assert {row.ratio_to for row in rows if row.subject != past.FILE} == {past.FILE}


def test_what_updates_calls_visible_is_visible():
    view = snapshot(TINY.clusters)
    for kind, changesets in kinds_of_change(view).items():
        for changes in changesets:
            after = visible(view, changes)
            for change in changes:
                assert shown(after, change) == change.after, kind
                assert shown(view, change) == change.before, kind


def shown(view, change: Change):
    match change.after:
        case Cluster(number=number):
            return view.cluster(number)
        case Group(number=number):
            return view.group(number)


def test_the_batch_makes_the_same_changes_as_the_hundred_singles():
    kinds = kinds_of_change(snapshot(TINY.clusters))
    (batch,) = kinds["100 memberships joined in one batch, each"]
    assert [(each,) for each in batch] == kinds["one membership joined"]
    assert len(batch) == updates.BATCH


def test_facets_measures_both_sets_against_the_seed_sentence():
    rows = list(facets.run(TINY).rows)
    figures(rows)
    assert {row.ratio_to for row in rows} == {None, "count: seed sentence"}
    assert sum("broad set" in row.measure for row in rows) == 8


def test_the_facets_check_notices_a_wrong_count():
    view = snapshot(TINY.clusters)
    within = view.everything()
    rows = facets.whole_tree(view, within)
    facets.check_tree(view, within, rows)
    with pytest.raises(AssertionError):
        facets.check_tree(view, within, rows[:-1] if rows[-1].depth == 1 else rows[:1])


def test_start_measures_fresh_processes():
    rows = list(start.run(TINY).rows)
    assert all(row.value >= 0 for row in rows)
    ready = [row for row in rows if row.measure == "ready, CPU, 400 clusters"]
    assert [row.subject for row in ready] == ["from the snapshot file", "from the store's facts"]
    assert {row.unit for row in rows} == {"s", "MB"}


def test_load_counts_commits_and_leaves_the_fleet_as_it_was():
    rows = list(load.run(TINY).rows)
    figures(rows)
    one, many = (row for row in rows if row.unit == "commits/s")
    assert (one.subject, many.subject) == ("one caller", "40 callers")
    assert many.ratio_to == "one caller"


async def test_what_load_and_updates_wrote_they_took_back():
    fleet = load.embedded(TINY.clusters)
    async with fleet.engine() as engine:
        assert not engine.resolve(f"only {updates.UNUSED}")
        names = [name for name, _ in engine.view.names_after("")]
        assert len(names) == TINY.clusters
        assert all(one < other for one, other in pairwise(names))


def test_graphql_asks_everybody_the_same_and_compares_with_the_bare_route():
    measured = graphql.run(TINY)
    rows = list(measured.rows)
    figures(rows)
    for question in QUESTIONS:
        subjects = {row.subject for row in rows if row.measure == f"{question.name}, 400 clusters"}
        assert {PLAIN, COMPUTED, REPEATED, *STOCK} <= subjects
        assert (HELLO in subjects) == (question is COUNT)
        assert (WARM in subjects) == (question is MANY_ROWS)
    assert any("NODE PEERS WERE NOT MEASURED" in note for note in measured.notes)


def test_every_peer_on_node_answers_as_the_bare_route_does(bare):
    if lacking := graphql_peers.missing():
        pytest.skip(lacking)
    with graphql_peers.serving(TINY.clusters) as peers:
        assert set(peers) == set(graphql_peers.PEERS)
        for question in QUESTIONS:
            asked = [same(question, PLAIN, bare, bare.url + question.path)]
            asked += [
                same(question, subject, server, url) for subject, (server, url) in peers.items()
            ]
            graphql.check(asked)


def test_the_graphql_check_notices_a_side_that_answers_something_else(bare):
    right = same(COUNT, PLAIN, bare, bare.url + COUNT.path)
    other = replace(right, following=lambda: post(right.url, COUNT.body("all")))
    graphql.check([right, right])
    with pytest.raises(AssertionError, match="differently"):
        graphql.check([right, other])


@pytest.fixture(scope="module")
def bare() -> Iterator[Server]:
    with child("bench.graphql_plain", load.embedded(TINY.clusters)) as server:
        yield server


def test_fanout_tells_everybody_and_shares_out_what_that_costs():
    rows = list(fanout.run(TINY).rows)
    figures(rows)
    named = {row.measure for row in rows}
    assert "one change, 0 subscribers, 400 clusters" in named
    assert "each of 100 subscribers, 400 clusters" in named
    assert {row.ratio_to for row in rows} == {None, fanout.TRELLIS}
