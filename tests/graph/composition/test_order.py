"""Which layer is stronger, and when nothing says so."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import pytest

from graph.composition.order import Order, Strength, strength_of
from graph.model.change import Change
from graph.model.inventory import Group, Hierarchy, Mode
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.selector import (
    And,
    Everything,
    HasLabel,
    InNamespace,
    IsCluster,
    Only,
    Saved,
    Selector,
    Under,
)
from graph.model.values import Values
from graph.model.workload import Layer
from twin import Twin

GEO, US, TX, AUSTIN, CA, DEVICES, GRILL, OLD, OLDER = map(GroupNumber, range(9))

FLEET = Twin.of(
    [
        Hierarchy("geo", Mode.MANY, precedence=0),
        Group(GEO, "geo", None, "geo"),
        Group(US, "geo", GEO, "us"),
        Group(TX, "geo", US, "tx"),
        Group(AUSTIN, "geo", TX, "austin"),
        Group(CA, "geo", GEO, "ca"),
        Hierarchy("devices", Mode.MANY, precedence=1),
        Group(DEVICES, "devices", None, "devices"),
        Group(GRILL, "devices", DEVICES, "grill"),
        Hierarchy("old", Mode.SINGLE, precedence=0),
        Group(OLD, "old", None, "old"),
        Group(OLDER, "old", OLD, "older"),
    ]
)

BOTH = And((Under(US), HasLabel("size")))


def layer(
    name: str, selector: Selector, rank: int = 0, values: Mapping[str, object] | None = None
) -> Layer:
    return Layer(name, selector, Values.of(values or {"a": name}), "pos", rank)


@pytest.mark.parametrize(
    ("selector", "strength"),
    [
        (Everything(), Strength.EVERYWHERE),
        (Under(US), Strength.GROUP),
        (Only(US), Strength.SELECTOR),
        (BOTH, Strength.SELECTOR),
        (Saved("pilot"), Strength.SELECTOR),
        (InNamespace("pos"), Strength.SELECTOR),
        (IsCluster(ClusterNumber(1)), Strength.CLUSTER),
    ],
)
def test_what_a_layers_selector_is_says_its_class(selector: Selector, strength: Strength) -> None:
    assert strength_of(layer("a", selector)) is strength


def test_layers_are_ordered_by_class_then_hierarchy_then_rank_then_descent() -> None:
    weakest_first = [
        layer("j", Everything(), -1),
        layer("i", Everything(), 5),
        layer("h", Under(AUSTIN), -1),
        layer("g", Under(GEO)),
        layer("f", Under(US)),
        layer("e", Under(TX)),
        layer("d", Under(US), 1),
        layer("c", Under(GRILL), -9),
        layer("b", BOTH, -9),
        layer("aa", HasLabel("size"), 3),
        layer("a", IsCluster(ClusterNumber(1)), -9),
    ]
    order = Order.of(reversed(weakest_first), FLEET)
    assert [each.name for each in order.weakest_first] == [each.name for each in weakest_first]
    assert all(order.decides(one.name, other.name) for one, other in permutations(weakest_first, 2))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Everything(), Everything()),
        (Under(US), Under(US)),
        (Under(CA), Under(US)),
        (Under(CA), Under(AUSTIN)),
        (HasLabel("size"), HasLabel("lanes")),
        (Only(US), Only(TX)),
        (IsCluster(ClusterNumber(1)), IsCluster(ClusterNumber(1))),
    ],
)
def test_nothing_orders_two_of_one_class_and_rank_that_do_not_descend(
    one: Selector, other: Selector
) -> None:
    equal = Order.of([layer("a", one), layer("b", other)], FLEET)
    assert not equal.decides("a", "b")
    assert not equal.decides("b", "a")
    assert list(equal.undecided([each.name for each in equal.weakest_first])) in (
        [("a", "b")],
        [("b", "a")],
    )
    ranked = Order.of([layer("a", one, 1), layer("b", other)], FLEET)
    assert ranked.decides("a", "b")
    assert [each.name for each in ranked.weakest_first] == ["b", "a"]
    assert list(ranked.undecided(["b", "a"])) == []


def test_rank_does_not_order_hierarchies_of_one_precedence() -> None:
    order = Order.of([layer("a", Under(US), 7), layer("b", Under(OLDER))], FLEET)
    assert not order.decides("a", "b")


def test_undecided_pairs_are_found_beside_decided_ones_of_the_same_rung() -> None:
    layers = [layer("us", Under(US)), layer("tx", Under(TX)), layer("ca", Under(CA))]
    order = Order.of(layers, FLEET)
    names = [each.name for each in order.weakest_first]
    assert {frozenset(pair) for pair in order.undecided(names)} == {
        frozenset({"us", "ca"}),
        frozenset({"tx", "ca"}),
    }


def test_a_name_decides_nothing_not_even_what_is_left_open() -> None:
    one, other = {"a": 1}, {"a": 2}
    orders = [
        Order.of([layer(first, BOTH, values=one), layer(second, BOTH, values=other)], FLEET)
        for first, second in (("a", "b"), ("b", "a"))
    ]
    texts = [[each.values.text for each in order.weakest_first] for order in orders]
    assert texts[0] == texts[1]


def test_a_layer_whose_group_came_under_another_parent_has_moved() -> None:
    layers = [layer("us", Under(US)), layer("tx", Under(TX)), layer("austin", Under(AUSTIN))]
    fleet = FLEET.copy()
    before = Order.of(layers, fleet)
    assert Order.of(layers, fleet).moved(before) == frozenset()
    fleet.apply([Change(FLEET.group(TX), Group(TX, "geo", CA, "tx"))])
    after = Order.of(layers, fleet)
    assert after.weakest_first == before.weakest_first
    assert not after.decides("us", "tx")
    assert after.moved(before) == {"tx", "austin"}


def test_what_is_known_of_an_order_saves_looking_and_changes_nothing() -> None:
    layers = [layer("us", Under(US)), layer("tx", Under(TX)), layer("austin", Under(AUSTIN))]
    fleet = FLEET.copy()
    known = Order.of(layers, fleet)
    more = [*layers[:2], layer("austin", Under(AUSTIN), rank=3), layer("grill", Under(GRILL))]
    assert Order.of(more, fleet, known) == Order.of(more, fleet)
    assert Order.of(layers[1:], fleet, known) == Order.of(layers[1:], fleet)
    fleet.apply([Change(FLEET.group(TX), Group(TX, "geo", CA, "tx"))])
    assert Order.of(more, fleet, known, moved={TX, AUSTIN}) == Order.of(more, fleet)
