"""Label values: their types, their one spelling, their comparison.

A number has one form whatever wrote it: whole ones are ints, others floats, none is infinite and
none is larger than a double holds exactly, so every store and language agrees on equality.
"""

from __future__ import annotations

import math

from graph.model.errors import Invalid
from graph.model.inventory import LabelType, LabelValue
from graph.model.names import check_text, quoted

NUMBER_MAX = 2**53
VALUE_LENGTH_MAX = 256
_SPELLED_MAX = 10**20


def type_of(value: LabelValue) -> LabelType:
    """The label type ``value`` has by itself."""
    if isinstance(value, bool):
        return LabelType.BOOLEAN
    return LabelType.TEXT if isinstance(value, str) else LabelType.NUMBER


def normalise(value: LabelValue) -> LabelValue:
    """The one form of ``value``, or a refusal."""
    if isinstance(value, str):
        return check_text(value, "a label value", length_max=VALUE_LENGTH_MAX)
    if isinstance(value, bool):
        return value
    # The bound comes first: a whole number can be too large to be asked whether it is finite.
    if abs(value) > NUMBER_MAX or not math.isfinite(value):
        raise Invalid(
            f"the number {show(value)} is out of range",
            hint=f"use a finite number between -{NUMBER_MAX:,} and {NUMBER_MAX:,}",
        )
    whole = int(value)
    return whole if whole == value else value


def check_value(key: str, value: LabelValue, expected: LabelType) -> LabelValue:
    """``value`` in its one form, if it has the type of the key."""
    found = type_of(value)
    if found is not expected:
        raise Invalid(
            f"label {quoted(key)} is a {expected}, and {show(value)} is a {found}",
            hint=f"give a {expected}; a key has one type for the whole fleet",
        )
    return normalise(value)


def show(value: LabelValue) -> str:
    """``value`` as a person writes it in a sentence."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) > _SPELLED_MAX:
        # Nobody wants to read it out, and Python refuses to spell a very long one.
        return f"about {'-' if value < 0 else ''}1e{math.floor(math.log10(abs(value)))}"
    return quoted(value) if isinstance(value, str) else repr(value)
