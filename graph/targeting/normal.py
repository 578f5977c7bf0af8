"""The one shape of a selector tree, and how large a tree may be.

Text and the structured form are two spellings of one tree, so both build it here: ``and`` and
``or`` are flat, hold no operand twice, and never hold just one. The author's order is kept,
because it is the order in which an explanation reads.

The bounds hold for every way in. A tree within them can be walked by plain recursion, and its
canonical text is always read again.
"""

from __future__ import annotations

from collections.abc import Iterable

from graph.model.errors import Invalid
from graph.model.selector import And, Except, LabelIn, Not, Or, Selector, parts

TEXT_LENGTH_MAX = 65_536
"""Characters of a selector's text."""

CLAUSES_MAX = 1_000
"""Clauses in one selector; what a saved selector holds does not count where it is named."""

DEPTH_MAX = 64
"""Operators inside each other, and parentheses inside each other."""

LIST_LENGTH_MAX = 1_000
"""Values in one ``in (...)``."""


def all_of(operands: Iterable[Selector]) -> Selector:
    """Every one of ``operands``; at least one is given."""
    flat: dict[Selector, None] = {}
    for operand in operands:
        flat.update(dict.fromkeys(operand.operands if isinstance(operand, And) else (operand,)))
    assert flat, "an intersection of nothing has no meaning"
    return And(tuple(flat)) if len(flat) > 1 else next(iter(flat))


def any_of(operands: Iterable[Selector]) -> Selector:
    """Any one of ``operands``; at least one is given."""
    flat: dict[Selector, None] = {}
    for operand in operands:
        flat.update(dict.fromkeys(operand.operands if isinstance(operand, Or) else (operand,)))
    assert flat, "a union of nothing has no meaning"
    return Or(tuple(flat)) if len(flat) > 1 else next(iter(flat))


def normal(selector: Selector) -> Selector:
    """``selector`` in its one shape, whoever built it."""
    match selector:
        case And(operands):
            return all_of([normal(each) for each in operands])
        case Or(operands):
            return any_of([normal(each) for each in operands])
        case Not(operand):
            return Not(normal(operand))
        case Except(left, right):
            return Except(normal(left), normal(right))
        case LabelIn(key, values):
            return LabelIn(key, tuple(dict.fromkeys(values)))
        case _:
            return selector


def check_size(selector: Selector) -> Selector:
    """Return ``selector`` if it is within the bounds, however it was put together."""
    clauses = 0
    level = [selector]
    for _ in range(DEPTH_MAX + 1):
        clauses += sum(1 for each in level if not parts(each))
        level = [part for each in level for part in parts(each)]
        if clauses + len(level) > CLAUSES_MAX:  # every operator has a clause of its own below it
            raise too_many_clauses()
    if level:
        raise too_deep()
    return selector


def too_many_clauses() -> Invalid:
    """The refusal of a selector with more than ``CLAUSES_MAX`` clauses."""
    return Invalid(
        f"the selector has more than {CLAUSES_MAX:,} clauses",
        hint="name values with in (...), name a group above, or save parts and use them as @name",
    )


def too_deep() -> Invalid:
    """The refusal of a selector nested deeper than ``DEPTH_MAX``."""
    return Invalid(
        f"the selector is nested more than {DEPTH_MAX} deep",
        hint="write a except (b or c) for a except b except c, or save parts and use them as @name",
    )
