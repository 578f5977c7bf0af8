"""Names in order, through inserts and removals that split shelves and empty them."""

from __future__ import annotations

from array import array
from random import Random

import pytest

from graph.index.order import SHELF_MAX, NameOrder, NameOrderDraft
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
