"""What can be shown to lie within a scope does, and what people write can be shown."""

from __future__ import annotations

from random import Random

import pytest

from changes import Selectors, random_fleet
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.selector import And, Except, Selector
from graph.targeting.evaluate import evaluate
from graph.targeting.narrower import lies_within
from graph.targeting.normal import all_of
from graph.targeting.parser import parse
from twin import Twin

PAIRS = {"test": 10_000, "campaign": 2_000_000}

WITHIN = [
    ("/geo/us/northeast/ny", "/geo/us"),
    ("only /geo/us", "/geo/us"),
    ("only /geo/us/northeast", "/geo/us/*"),
    ("/geo/us/northeast/ny", "/geo/us/*/ny"),
    ("/geo/us/*/ny", "/geo/us"),
    ("/geo/us and size = large", "/geo/us"),
    ("size = large and (lanes > 1 or /geo/us)", "size = large"),
    ("/geo/us/west or /geo/us/northeast", "/geo/us"),
    ("/geo/us except /geo/us/west", "/geo/us"),
    ("/geo/us/west", "/geo/us/west or /franchise/corporate"),
    ("/franchise/corporate and /geo/us", "/geo/us and /franchise/corporate"),
    ("/geo/us except /geo/us/west", "/geo/us except /geo/us/west/or"),
    ("/geo/us and not /geo/us/west", "/geo/us except /geo/us/west"),
    ("size = large", "has size"),
    ("size in (large, small)", "size in (small, medium, large)"),
    ("size = large", "size != small"),
    ("lanes in (3, 4)", "lanes >= 2"),
    ("cluster ny-1", "/geo/us except /geo/us/west"),
    ("/geo/us", "all"),
]

NOT_SHOWN = [
    ("all", "/geo/us"),
    ("/geo", "/geo/us"),
    ("/geo/us/west", "/geo/us/northeast"),
    ("/geo/us", "only /geo/us"),
    ("/geo/us", "/geo/us/*"),
    ("not /geo/us/west", "/geo/us"),
    ("/geo/us or size = large", "/geo/us"),
    ("/franchise/corporate except /geo/us", "/geo/us"),
    ("/geo/us", "/geo/us except /geo/us/west"),
    ("size = large", "lanes > 1"),
    ("has size", "size = large"),
    ("@all-of-it and size = large", "/geo/us"),
    ("cluster or-1", "/geo/us except /geo/us/west"),
    ("all except /geo/us/west", "/geo/us or (all except cluster ny-1)"),
]


def shown(one: str, other: str, twin: Twin) -> bool:
    scope = parse(other, twin)
    return lies_within(parse(one, twin), scope, twin, evaluate(scope, twin))


@pytest.mark.parametrize(("one", "other"), WITHIN)
def test_a_narrower_selector_lies_within(twin: Twin, one: str, other: str) -> None:
    assert shown(one, other, twin)


@pytest.mark.parametrize(("one", "other"), NOT_SHOWN)
def test_a_selector_that_may_reach_further_does_not(twin, save, one: str, other: str) -> None:
    save("all-of-it", "all")
    assert not shown(one, other, twin)


@pytest.mark.volume
def test_what_lies_within_chooses_nothing_outside(scale: str) -> None:
    found = tried = seed = 0
    while tried < PAIRS[scale]:
        rng = Random(seed)
        twin = Twin.of(random_fleet(rng))
        selectors = Selectors.over(rng, twin)
        selectors.saved = []
        for _ in range(100):
            one, scope = selectors.tree(2), selectors.tree(2)
            found += check(one, scope, twin)
            check(all_of((one, scope)), scope, twin, wanted=True)
            check(Except(scope, one), scope, twin, wanted=True)
            tried += 3
        seed += 1
    assert found > tried // 300, "hardly a pair was shown to lie within"


def check(one: Selector, scope: Selector, twin: Twin, *, wanted: bool | None = None) -> bool:
    inside = evaluate(scope, twin)
    within = lies_within(one, scope, twin, inside)
    assert not within or evaluate(one, twin) <= inside, f"{one} within {scope}"
    # whatever is known of some clusters, what is said of the others stays true
    few = ClusterSet.of(list(inside)[::2])
    assert not lies_within(one, scope, twin, few) or evaluate(one, twin) <= inside
    assert within or wanted is None or not plain(scope), f"{one} not within {scope}"
    return within


def plain(scope: Selector) -> bool:
    return not isinstance(scope, And | Except)


def test_a_comparison_too_long_to_make_shows_nothing(twin: Twin) -> None:
    many = " or ".join(f"(/geo/us and lanes > {each})" for each in range(400))
    scope = parse(" or ".join(f"(/geo and lanes > {each})" for each in range(400, 800)), twin)
    assert not lies_within(parse(many, twin), scope, twin, EMPTY)
