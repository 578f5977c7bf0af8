"""Names in order, through inserts and removals that split shelves and empty them."""

from __future__ import annotations

from array import array
from random import Random

import pytest

from graph.index.order import SHELF_MAX, NameOrder, NameOrderDraft
from graph.model.cluster_set import ClusterSet
from graph.model.names import ClusterNumber


def names_of(order: NameOrder) -> list[tuple[str, int]]:
    return [(name, int(number)) for name, number in order.after("")]


@pytest.mark.parametrize("seed", range(5))
def test_names_stay_in_order_and_earlier_versions_stay_as_they_were(seed: int) -> None:
    rng = Random(seed)
    held: dict[str, int] = {}
    order = NameOrder([], [])
    for size in (1, 700, 3_000, 20, 1, 0, 2_000):
        before, earlier = names_of(order), order
        draft = NameOrderDraft(order)
        while len(held) < size:
            name = f"{rng.choice('azm')}-{rng.randrange(100_000)}"
            if name not in held:
                held[name] = len(held)
                draft.add(name, ClusterNumber(held[name]))
        for name in rng.sample(list(held), len(held) - size):
            del held[name]
            draft.remove(name)
        order = draft.order
        assert names_of(order) == sorted(held.items())
        assert names_of(earlier) == before
        assert all(0 < len(shelf.names) <= SHELF_MAX for shelf in order.shelves)
        for name, number in held.items():
            assert order.number(name) == number
        assert order.number("nobody") is None


def test_names_after_begins_right_behind_a_name_whether_it_is_there_or_not() -> None:
    names = [f"n-{place:05}" for place in range(0, 4_000, 2)]
    order = NameOrder.of(names, array("I", range(len(names))))
    for place in range(0, 4_000, 97):
        following = next(order.after(f"n-{place:05}"), None)
        assert following is not None
        assert following[0] == f"n-{place + 2 - place % 2:05}"
    assert next(order.after("a"))[0] == names[0]
    assert list(order.after("n-99999")) == []


def test_the_chosen_come_in_order_whether_few_or_many_are_on_a_shelf() -> None:
    names = [f"n{number:05}" for number in range(2_000)]
    numbers = array("I", [(number * 7_919) % 2_000 for number in range(2_000)])
    order = NameOrder.of(names, numbers)
    by_name = dict(zip(names, numbers, strict=True))
    for step in (1, 3, 97, 600):
        chosen = ClusterSet.of(range(0, 2_000, step))
        for after in ("", "n00000", "n00512", "n00700x", "n01999", "z"):
            expected = [number for name, number in by_name.items() if name > after]
            found = list(order.among(chosen, after))
            assert found == [number for number in expected if number in chosen]
