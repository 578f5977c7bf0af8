"""Tree to set: every definition of the language, and agreement with the twin."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

import graph.targeting.evaluate
from changes import random_changes, random_fleet, random_selector
from graph.index.builder import build
from graph.model.change import Entity, ref_of
from graph.model.errors import Invalid
from graph.model.inventory import Cluster, LabelKey, LabelType, SavedSelector
from graph.model.names import ClusterNumber, Revision
from graph.model.selector import (
    And,
    Comparison,
    Everything,
    HasLabel,
    InNamespace,
    LabelIs,
    Not,
    Or,
    Saved,
    Selector,
)
from graph.model.workload import Assignment, Choice, Namespace
from graph.targeting.evaluate import FEW, count, evaluate
from graph.targeting.holds import holds
from graph.targeting.parser import parse
from graph.targeting.plan import plan_of
from twin import Twin, twin_select

Assign = Callable[..., None]
Chosen = Callable[[str], set[str]]
EVERYONE = {"ny-1", "ny-2", "ma-1", "or-1", "us-hq", "2"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("all", EVERYONE),
        ("/geo/us", {"ny-1", "ny-2", "ma-1", "or-1", "us-hq"}),
        ("only /geo/us", {"us-hq"}),
        ("only /geo/us/northeast", set[str]()),
        ("/geo/us/northeast/ny", {"ny-1", "ny-2"}),
        ("/geo/us/*", {"ny-1", "ny-2", "ma-1", "or-1"}),
        ("/geo/*/*/ny", {"ny-1", "ny-2"}),
        ("only /geo/*", {"us-hq"}),
        ("only /geo/*/*", set[str]()),
        ("/devices/*", {"ny-1", "ny-2", "or-1"}),
        ("/devices/*/acme/acme3000", {"ny-1"}),
        ("size = large", {"ny-1", "ny-2", "or-1"}),
        ("lanes >= 2", {"ny-1", "ny-2"}),
        ("lanes > 2", {"ny-1"}),
        ("lanes < 2", {"ma-1"}),
        ("lanes <= 2", {"ny-2", "ma-1"}),
        ("lanes in (1.5, 3)", {"ny-1", "ma-1"}),
        ("has lanes", {"ny-1", "ny-2", "ma-1"}),
        ("not has lanes", {"or-1", "us-hq", "2"}),
        ("drive-through = false", {"ma-1"}),
        ("cluster 2", {"2"}),
        ("store = 2301", {"ny-1"}),
        ("state = or", {"or-1"}),
        ("/geo/us except /geo/us/northeast", {"or-1", "us-hq"}),
        ("all except /geo", {"2"}),
        ("not /geo", {"2"}),
        ("not (/geo/us/west or has lanes)", {"us-hq", "2"}),
        ("/devices/fryer and /devices/grill", {"ny-2"}),
        ("size = large and /geo/us/northeast and lanes >= 2", {"ny-1", "ny-2"}),
        (
            "/franchise/corporate and size = large and /geo/us/northeast and lanes >= 2 "
            "and (/devices/grill/acme/acme3000 or /devices/grill/acme/acme3001)",
            {"ny-2"},
        ),
    ],
)
def test_a_selector_chooses_these_clusters(text: str, names: set[str], chosen: Chosen) -> None:
    assert chosen(text) == names


@pytest.mark.parametrize("sign", ["=", "!=", "<", "<=", ">", ">="])
def test_a_cluster_without_the_label_fails_every_comparison(sign: str, chosen: Chosen) -> None:
    assert "or-1" not in chosen(f"lanes {sign} 2")


def test_unequal_wants_the_label_to_be_there(chosen: Chosen) -> None:
    assert chosen("lanes != 2") == {"ny-1", "ma-1"}
    assert chosen("not lanes = 2") == EVERYONE - {"ny-2"}


def test_numbers_compare_as_numbers_and_not_as_text(chosen: Chosen) -> None:
    assert chosen("lanes < 10") == {"ny-1", "ny-2", "ma-1"}
    assert chosen("lanes = 2.0") == {"ny-2"}


def test_a_wildcard_that_matches_nothing_is_empty_and_no_error(chosen: Chosen) -> None:
    assert chosen("/geo/*/nowhere") == set()
    assert chosen("/planogram/*") == set()
    assert chosen("not /planogram/*") == EVERYONE


def test_a_value_nobody_has_is_empty_and_no_error(chosen: Chosen) -> None:
    assert chosen("size = enormous") == set()


def test_the_universe_of_not_is_the_whole_fleet(chosen: Chosen) -> None:
    assert chosen("not (all except cluster 2)") == {"2"}


def test_a_saved_selector_stands_for_its_selector(
    chosen: Chosen, save: Callable[[str, str], None]
) -> None:
    save("big", "size = large")
    save("big-east", "@big and /geo/us/northeast")
    assert chosen("@big-east") == {"ny-1", "ny-2"}
    assert chosen("@big except @big-east") == {"or-1"}


def test_a_namespace_is_the_union_of_its_assignments(
    chosen: Chosen, save: Callable[[str, str], None], assign: Assign
) -> None:
    save("big", "size = large")
    assign("pos", east="/geo/us/northeast and @big", west="/geo/us/west")
    assign("grill", grills="/devices/grill")
    assert chosen("namespace pos") == {"ny-1", "ny-2", "or-1"}
    assert chosen("/n/pos except namespace grill") == {"or-1"}
    assert chosen("not namespace pos and has lanes") == {"ma-1"}


def test_a_namespace_without_assignments_chooses_nothing(chosen: Chosen, assign: Assign) -> None:
    assign("pos")
    assert chosen("namespace pos") == set()
    assert chosen("not namespace pos") == EVERYONE


def test_a_namespace_that_is_not_in_the_view_chooses_nothing_in_it(twin: Twin) -> None:
    assert count(InNamespace("pos"), twin) == 0


def put_saved(twin: Twin, name: str, selector: Selector) -> None:
    saved = SavedSelector(name, selector)
    twin.put(ref_of(saved), saved)


def test_a_saved_selector_named_again_and_again_is_evaluated_once(twin: Twin) -> None:
    put_saved(twin, "s0", parse("size = large", twin))
    for level in range(60):
        below = Saved(f"s{level}")
        put_saved(twin, f"s{level + 1}", Or((And((below, Everything())), Not(Not(below)))))
    assert count(Saved("s60"), twin) == 3


def test_a_chain_of_saved_selectors_may_be_longer_than_python_recurses(twin: Twin) -> None:
    put_saved(twin, "s0", parse("size = large", twin))
    for level in range(1_500):
        put_saved(twin, f"s{level + 1}", Not(Saved(f"s{level}")))
    assert count(Saved("s1500"), twin) == 3


def test_a_chain_of_namespaces_may_be_longer_than_python_recurses(
    twin: Twin, assign: Assign
) -> None:
    assign("n0", a0="size = large")
    facts = list(twin.entities())
    for level in range(1_500):
        name, below = f"n{level + 1}", InNamespace(f"n{level}")
        facts += [Namespace(name), Assignment(f"a{level + 1}", Choice(name), Not(below))]
    snapshot = build(facts, cursor=twin.cursor, numbers=twin.numbers)
    assert count(InNamespace("n1500"), snapshot) == 3
    assert holds(InNamespace("n1500"), ClusterNumber(0), snapshot)


def test_a_cycle_that_should_not_exist_is_an_error_and_not_a_hang(twin: Twin) -> None:
    put_saved(twin, "a", Saved("b"))
    put_saved(twin, "b", Not(Saved("a")))
    with pytest.raises(Invalid, match="leads back to itself"):
        evaluate(Saved("a"), twin)


@pytest.mark.parametrize("seed", range(60))
def test_evaluation_and_count_agree_with_the_twin(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(seed)
    if rng.random() < 0.5:  # as in a fleet that is too large for it
        monkeypatch.setattr(graph.targeting.evaluate, "UNITED_MAX", 0)
    facts = random_fleet(rng, clusters=rng.choice((0, 5, 40)))
    twin = Twin.of(facts)
    snapshot = build(facts, cursor=twin.cursor, numbers=twin.numbers)
    for _ in range(50):
        selector = random_selector(rng, twin, depth=rng.randint(0, 4))
        expected = twin_select(selector, twin)
        assert set(evaluate(selector, snapshot)) == expected
        assert count(selector, snapshot) == len(expected)
        assert set(evaluate(selector, twin)) == expected


@pytest.mark.parametrize("seed", range(20))
def test_a_plan_may_be_kept_whatever_happens_to_the_fleet(seed: int) -> None:
    rng = Random(seed)
    view = Twin.of(random_fleet(rng))
    selectors = [random_selector(rng, view, depth=3) for _ in range(30)]
    kept = [(each, plan_of(each)) for each in selectors]
    assert any(plan is not None for _, plan in kept)
    for revision in range(2, 6):
        for selector, plan in kept:
            expected = evaluate(selector, view)
            assert evaluate(selector, view, plan) == expected
            assert count(selector, view, plan) == len(expected)
        view = view.copy()
        view.apply(random_changes(rng, view, Revision(revision)))


@pytest.mark.parametrize("united_max", [0, 100_000])
def test_alternatives_are_met_one_by_one_or_united(
    united_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph.targeting.evaluate, "UNITED_MAX", united_max)
    clusters = [
        Cluster(ClusterNumber(number), f"c-{number}", labels={"lane": number % 7, "row": number})
        for number in range(200)
    ]
    keys = [LabelKey("lane", LabelType.NUMBER), LabelKey("row", LabelType.NUMBER)]
    facts: list[Entity] = [*keys, *clusters]
    twin = Twin.of(facts)
    snapshot = build(facts, cursor=twin.cursor, numbers=twin.numbers)
    for text in (
        "lane in (1, 2) and row < 50",
        "lane in (1, 2) and row in (1, 2, 3)",
        "row in (1, 2) and has lane",
        "lane in (1, 2) and row = 8",
        "lane in (1, 2) and has row and row < 50 and lane != 1",
    ):
        selector = parse(text, twin)
        expected = twin_select(selector, twin)
        assert expected, "it chooses something"
        assert set(evaluate(selector, snapshot)) == expected
        assert count(selector, snapshot) == len(expected)


@pytest.mark.parametrize("comparison", [Comparison.GE, Comparison.GT, Comparison.LE])
def test_numbers_of_a_key_that_was_text_in_another_time_choose_nothing(
    comparison: Comparison,
) -> None:
    clusters = [
        Cluster(ClusterNumber(number), f"c-{number}", labels={"lanes": "two"})
        for number in range(2 * FEW)
    ]
    facts = [LabelKey("lanes", LabelType.TEXT), *clusters]
    twin = Twin.of(facts)
    snapshot = build(facts, cursor=twin.cursor, numbers=twin.numbers)
    selector = And((HasLabel("lanes"), LabelIs("lanes", comparison, 1)))
    assert twin_select(selector, twin) == set()
    assert count(selector, snapshot) == 0
    assert not evaluate(selector, snapshot)


@pytest.mark.parametrize("seed", range(10))
def test_evaluation_leaves_the_sets_of_the_view_as_they_were(seed: int) -> None:
    rng = Random(seed)
    facts = random_fleet(rng)
    twin = Twin.of(facts)
    snapshot = build(facts, cursor=twin.cursor, numbers=twin.numbers)
    for _ in range(50):
        evaluate(random_selector(rng, twin, depth=3), snapshot)
    assert snapshot.everything() == twin.everything()
    for group in twin.groups():
        assert snapshot.members(group.number) == twin.members(group.number)
    for key in twin.label_keys():
        assert snapshot.labelled(key.name) == twin.labelled(key.name)
