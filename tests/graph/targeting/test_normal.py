"""The one shape of a tree, and its bounds."""

from __future__ import annotations

import pytest

from graph.model.errors import Invalid
from graph.model.selector import And, Except, HasLabel, LabelIn, Not, Or, Selector
from graph.targeting.normal import (
    CLAUSES_MAX,
    DEPTH_MAX,
    all_of,
    any_of,
    check_size,
    normal,
)

A, B, C = HasLabel("a"), HasLabel("b"), HasLabel("c")


@pytest.mark.parametrize(
    ("built", "expected"),
    [
        (all_of([A, B]), And((A, B))),
        (all_of([A, And((B, C))]), And((A, B, C))),
        (all_of([A, A]), A),
        (all_of([B, And((A, B))]), And((B, A))),
        (any_of([A]), A),
        (any_of([Or((A, B)), Or((B, C))]), Or((A, B, C))),
        (any_of([And((A, B)), C]), Or((And((A, B)), C))),
    ],
)
def test_operators_are_flat_without_repeats_and_never_alone(
    built: Selector, expected: Selector
) -> None:
    assert built == expected


def test_a_tree_built_by_anybody_is_brought_into_shape() -> None:
    tree = And((A, And((B, Or((C, C)))), Not(Except(And((A, A)), LabelIn("x", (1, 1))))))
    assert normal(tree) == And((A, B, C, Not(Except(A, LabelIn("x", (1,))))))


def test_clauses_are_passed_on_while_a_tree_is_brought_into_shape() -> None:
    tree = And((A, Not(B), Except(C, And((A, B)))))
    assert normal(tree, lambda clause: A) == And((A, Not(A), Except(A, A)))


@pytest.mark.parametrize("tree", [And(()), Not(Or(())), LabelIn("a", ())], ids=str)
def test_a_tree_of_nothing_is_refused(tree: Selector) -> None:
    with pytest.raises(Invalid, match=r"of no selectors|0 values"):
        check_size(tree)


def test_a_tree_within_the_bounds_is_returned_as_it_is() -> None:
    wide = Or(tuple(HasLabel(f"k{number}") for number in range(CLAUSES_MAX)))
    assert check_size(wide) is wide
    assert check_size(nested(DEPTH_MAX)) == nested(DEPTH_MAX)


def test_a_tree_with_too_many_clauses_is_refused() -> None:
    half = tuple(HasLabel(f"k{number}") for number in range(CLAUSES_MAX // 2 + 1))
    with pytest.raises(Invalid, match="more than 1,000 clauses"):
        check_size(Or((And(half), And(half))))


def test_a_tree_that_is_too_deep_is_refused() -> None:
    with pytest.raises(Invalid, match="more than 64 deep"):
        check_size(nested(DEPTH_MAX + 1))


def nested(depth: int) -> Selector:
    tree: Selector = A
    for _ in range(depth):
        tree = Not(tree)
    return tree
