"""Which change of a label makes a clause hold, or fail."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from graph.model.inventory import LabelType, LabelValue
from graph.model.label import NUMBER_MAX
from graph.model.selector import Comparison, HasLabel, LabelIn, LabelIs
from graph.model.view import FleetView
from graph.targeting.evaluate import satisfies
from graph.targeting.facts import Facts
from graph.targeting.step import RemoveLabel, SetLabel

_OPPOSITE = {
    Comparison.LT: Comparison.GE,
    Comparison.LE: Comparison.GT,
    Comparison.GT: Comparison.LE,
    Comparison.GE: Comparison.LT,
    Comparison.NE: Comparison.EQ,
}


def label_steps(
    clause: LabelIs | LabelIn | HasLabel, facts: Facts, view: FleetView, *, held: bool
) -> tuple[SetLabel | RemoveLabel] | None:
    """The one change that flips a label clause; None where no value would.

    A comparison is flipped by the value next to it; otherwise the label goes. A value the key
    does not allow is never proposed: it would be refused.
    """
    value: LabelValue | None = None
    match clause:
        case LabelIs(key, comparison, other):
            wanted = _OPPOSITE.get(comparison) if held else comparison
            if wanted is not None:
                value = _value(key, wanted, other, view)
        case LabelIn(key, values):
            value = None if held else _allowed(key, values, view)
        case HasLabel(key):
            value = None if held else _allowed(key, _in_use(key, view), view)
    if value is not None:
        return (SetLabel(key, value),)
    return (RemoveLabel(key),) if held else None


def _value(
    key: str, comparison: Comparison, other: LabelValue, view: FleetView
) -> LabelValue | None:
    """A value that satisfies the comparison: one the key allows, else the next, else one in use."""
    declared = view.label_key(key)
    if declared is not None and declared.allowed:
        candidates = iter(declared.allowed)
    else:
        candidates = _next_to(other, comparison, view, key)
    return next((each for each in candidates if satisfies(each, comparison, other)), None)


def _allowed(key: str, values: Iterable[LabelValue], view: FleetView) -> LabelValue | None:
    """The first of ``values`` that the label may have."""
    declared = view.label_key(key)
    if declared is None or not declared.allowed:
        return next(iter(values), None)
    return next((each for each in values if each in declared.allowed), None)


def _next_to(
    other: LabelValue, comparison: Comparison, view: FleetView, key: str
) -> Iterator[LabelValue]:
    yield other
    if isinstance(other, bool):
        yield not other
    elif comparison is Comparison.NE:
        yield from _in_use(key, view)
    elif not isinstance(other, str):
        yield min(math.floor(other) + 1, NUMBER_MAX)
        yield max(math.ceil(other) - 1, -NUMBER_MAX)


def _in_use(key: str, view: FleetView) -> Iterator[LabelValue]:
    """Values to choose from, the commonest first; then what any key of the type can have."""
    pairs = sorted(view.label_values(key), key=lambda pair: (-len(pair[1]), str(pair[0])))
    yield from (value for value, _ in pairs)
    declared = view.label_key(key)
    if declared is not None:
        yield from declared.allowed
        if declared.type is LabelType.BOOLEAN:
            yield True
        elif declared.type is LabelType.NUMBER:
            yield from (0, 1)
