"""One cluster at a time: the same answers as the whole set, whatever is asked."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from changes import random_fleet, random_scope, random_selector
from graph.index.builder import build
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.names import ClusterNumber
from graph.model.ref import Kind, Ref
from graph.model.selector import Comparison, LabelIn, LabelIs, Saved
from graph.model.view import FleetView, lineage
from graph.scoped import ScopedView
from graph.targeting.cycles import needed
from graph.targeting.evaluate import evaluate
from graph.targeting.holds import FEW, depends_on_universe, holds, within
from graph.targeting.parser import parse
from twin import Twin, twin_select

NOBODY = ClusterNumber(4_000_000)


@pytest.mark.parametrize("seed", range(40))
def test_one_by_one_is_the_same_as_all_at_once(seed: int) -> None:
    rng = Random(seed)
    facts = random_fleet(rng, clusters=rng.choice((0, 8, 60)))
    twin = Twin.of(facts)
    snapshot = build(facts, cursor=twin.cursor, numbers=twin.numbers)
    everybody = [*twin.everything(), NOBODY]
    for _ in range(30):
        selector = random_selector(rng, twin, depth=rng.randint(0, 4))
        expected = twin_select(selector, twin)
        for view in (snapshot, twin):
            assert {each for each in everybody if holds(selector, each, view)} == expected
        some = ClusterSet.of(rng.sample(everybody, rng.randint(0, len(everybody))))
        few = ClusterSet.of(rng.sample(everybody, min(FEW, len(everybody))))
        for among in (some, few, EMPTY):
            assert within(selector, snapshot, among) == evaluate(selector, snapshot) & among


@pytest.mark.parametrize("seed", range(20))
def test_one_by_one_is_the_same_under_a_scope(seed: int) -> None:
    rng = Random(seed)
    facts = random_fleet(rng)
    twin = Twin.of(facts)
    snapshot = build(facts, cursor=twin.cursor, numbers=twin.numbers)
    scoped = ScopedView(snapshot, random_scope(rng, twin))
    for _ in range(20):
        selector = random_selector(rng, twin, depth=3)
        expected = evaluate(selector, scoped)
        assert {each for each in twin.everything() if holds(selector, each, scoped)} == {*expected}


def test_true_is_not_one_and_one_is_not_true(twin: Twin) -> None:
    [one] = twin_select(parse("cluster ny-1", twin), twin)
    number = ClusterNumber(one)
    for selector in (
        LabelIs("drive-through", Comparison.EQ, 1),
        LabelIn("drive-through", (1, 0)),
        LabelIn("lanes", (True,)),
    ):
        assert not holds(selector, number, twin)
        assert number not in evaluate(selector, twin)


def test_a_cluster_that_is_not_in_the_view_is_never_chosen(twin: Twin) -> None:
    for text in ("all", "not /geo", "all except cluster 2"):
        assert not holds(parse(text, twin), NOBODY, twin)
        assert within(parse(text, twin), twin, ClusterSet.of([NOBODY])) == EMPTY


def test_a_name_the_view_does_not_show_chooses_nothing(twin: Twin) -> None:
    assert not holds(Saved("gone"), ClusterNumber(0), twin)


@pytest.mark.parametrize(
    ("text", "depends"),
    [
        ("all", True),
        ("/geo", False),
        ("only /geo/*", False),
        ("has lanes", False),
        ("lanes != 2", False),
        ("cluster 2", False),
        ("not /geo", True),
        ("not all", False),
        ("not (not has lanes)", False),
        ("/geo except has lanes", False),
        ("all except has lanes", True),
        ("/geo and not has lanes", False),
        ("/geo or not has lanes", True),
        ("not /geo and not has lanes", True),
        ("@any", True),
        ("/geo and @any", False),
        ("all or @any", True),
        ("namespace pos", True),
        ("/geo except namespace pos", False),
    ],
)
def test_only_what_nothing_named_implies_depends_on_the_universe(
    text: str,
    depends: bool,
    twin: Twin,
    save: Callable[[str, str], None],
    assign: Callable[..., None],
) -> None:
    save("any", "/geo")
    assign("pos")
    assert depends_on_universe(parse(text, twin)) is depends


@pytest.mark.parametrize("seed", range(40))
def test_a_cluster_a_selector_names_nothing_of_is_chosen_only_from_the_universe(seed: int) -> None:
    rng = Random(seed)
    twin = Twin.of(random_fleet(rng, clusters=40))
    for _ in range(40):
        selector = random_selector(rng, twin, depth=3)
        if not depends_on_universe(selector):
            for chosen in evaluate(selector, twin):
                assert not needed(selector, twin).isdisjoint(touched(chosen, twin))


def touched(number: ClusterNumber, view: FleetView) -> set[Ref]:
    """What a cluster is or has, as far as a selector can name it."""
    cluster = view.cluster(number)
    assert cluster is not None
    above = (each.number for at in cluster.memberships for each in lineage(view, at))
    return {
        Ref(Kind.CLUSTER, number),
        *(Ref(Kind.LABEL_KEY, key) for key in cluster.labels),
        *(Ref(Kind.GROUP, each) for each in above),
    }
