"""The one shape of a selector tree, and how large a tree may be.

Text and the structured form are two spellings of one tree, so both build it here: ``and`` and
``or`` are flat, hold no operand twice, and never hold just one. The author's order is kept,
because it is the order in which an explanation reads.

The bounds hold for every way in, and a tree within them can be walked by plain recursion. Text has
a bound of its own: long lists, or long paths named many times, may make the canonical text of a
tree longer than that. Such a tree is kept and means what it says; it is given in the structured
form. Any shorter canonical text is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from graph.model.errors import Invalid
from graph.model.names import GROUP_DEPTH_MAX, quoted
from graph.model.selector import (
    And,
    Clause,
    Except,
    LabelIn,
    Matching,
    Not,
    Or,
    Selector,
    parts,
)

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


def normal(selector: Selector, clause: Callable[[Clause], Clause] = lambda each: each) -> Selector:
    """``selector`` in its one shape, whoever built it, each of its clauses passed by ``clause``."""
    match selector:
        case And(operands):
            return all_of([normal(each, clause) for each in operands])
        case Or(operands):
            return any_of([normal(each, clause) for each in operands])
        case Not(operand):
            return Not(normal(operand, clause))
        case Except(left, right):
            return Except(normal(left, clause), normal(right, clause))
        case _:
            found = clause(selector)
            if isinstance(found, LabelIn):
                return LabelIn(found.key, tuple(dict.fromkeys(found.values)))
            return found


def check_size(selector: Selector) -> Selector:
    """Return ``selector`` if it is within the bounds, however it was put together."""
    clauses = 0
    level = [selector]
    for _ in range(DEPTH_MAX + 1):
        for each in level:
            _check_lengths(each)
        clauses += sum(1 for each in level if not parts(each))
        level = [part for each in level for part in parts(each)]
        if clauses + len(level) > CLAUSES_MAX:  # every operator has a clause of its own below it
            raise too_many_clauses()
    if level:
        raise too_deep()
    return selector


def _check_lengths(selector: Selector) -> None:
    """No text says these, so no tree may: nothing to choose from, or more than a list holds."""
    match selector:
        case And(operands) | Or(operands) if not operands:
            raise Invalid("an and, or an or, of no selectors", hint="give at least one, or use all")
        case LabelIn(key, values) if not 0 < len(values) <= LIST_LENGTH_MAX:
            raise Invalid(
                f"{len(values):,} values in one list of label {quoted(key)}",
                hint=f"list 1 to {LIST_LENGTH_MAX:,}",
            )
        case Matching(rest=rest) if not 0 < len(rest) < GROUP_DEPTH_MAX:
            raise Invalid(
                f"a pattern of {len(rest):,} levels",
                hint=f"groups are at most {GROUP_DEPTH_MAX} levels deep",
            )
        case _:
            pass


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
