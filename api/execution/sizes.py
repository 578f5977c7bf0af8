"""How much there is in the value of an argument: all of a variable that a cost can depend on."""

# what comes in JSON has no type until it is looked at
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from graphql import (
    IntValueNode,
    ListValueNode,
    ObjectValueNode,
    StringValueNode,
    ValueNode,
    VariableNode,
)

from graph.model.command import COMMANDS_MAX

LISTED: Final = 5
"""What each thing in a list weighs."""
COMMAND: Final = 8
"""What a command weighs: it is decided, where others are only read."""
BATCH_MAX: Final = COMMAND * COMMANDS_MAX
"""What a batch weighs at most, however much its commands say: one is always affordable."""
COMMANDS: Final = "commands"
AT: Final = "@"
"""What stands before the revision in an id; see ``api.schema.ref``."""
LENGTH_MAX: Final = 19
"""Digits of a number that is read as it is."""
TOO_LARGE: Final = 10**20
"""What any larger number counts as: no page is that long."""


class Size(NamedTuple):
    """One value, in numbers. Values of the same size cost the same."""

    number: int
    """Where a number is meant: that number, or 0 for what is none."""
    length: int
    """Where a list is meant: how long it is; what is no list stands for a list of one."""
    weight: int
    """What is listed in it, at any depth."""
    earlier: bool = False
    """Where ids are meant: whether one is of an earlier revision."""


ONE: Final = Size(0, 1, 0)
EARLIER: Final = Size(0, 1, 0, earlier=True)
_NESTED: Final = (list, dict)


def size_of(value: Any) -> Size:
    """The size of a value as it came in JSON."""
    if isinstance(value, dict):
        weight = 0
        for name, each in value.items():
            if isinstance(each, _NESTED) or name == COMMANDS:  # nothing else weighs anything
                weight += _in_field(name, _plain(each))
        return Size(0, 1, weight) if weight else ONE
    return _plain(value)


def _plain(value: Any) -> Size:
    """The size of what is no batch."""
    if isinstance(value, str):
        return EARLIER if AT in value else ONE
    if isinstance(value, list):
        return Size(0, len(value), _weight(value), any(map(_is_earlier, value)))
    if isinstance(value, dict):
        return Size(0, 1, _weight(value))
    if isinstance(value, int | float):
        return Size(int(min(max(0, value), TOO_LARGE)), 1, 0)
    return ONE


def _is_earlier(value: Any) -> bool:
    return isinstance(value, str) and AT in value


def _weight(value: Any) -> int:
    """Without recursion: JSON is nested as deeply as its sender likes."""
    found = 0
    waiting: list[Any] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            found += LISTED * len(each)
            waiting += each
        elif isinstance(each, dict):
            waiting += each.values()
    return found


def _in_field(name: str, size: Size) -> int:
    """What a field of an input weighs."""
    if name != COMMANDS:
        return size.weight
    return min(BATCH_MAX, size.weight + (COMMAND - LISTED) * size.length)


class Sizes:
    """The sizes of the values in one operation, literals and variables alike."""

    def __init__(self, given: Mapping[str, Size], defaults: Mapping[str, ValueNode]) -> None:
        self._given = given
        self._defaults = defaults
        self.variables: set[str] = set()
        """Those that were asked for."""

    def of(self, node: ValueNode) -> Size | None:
        """The size of what is written; None for a variable without a value."""
        if isinstance(node, VariableNode):
            return self._variable(node.name.value)
        if isinstance(node, IntValueNode):
            written = node.value
            return Size(max(0, int(written)) if len(written) <= LENGTH_MAX else TOO_LARGE, 1, 0)
        if isinstance(node, StringValueNode):
            return EARLIER if AT in node.value else ONE
        if isinstance(node, ListValueNode):
            parts = [self.of(each) or ONE for each in node.values]
            weight = LISTED * len(parts) + sum(each.weight for each in parts)
            return Size(0, len(parts), weight, any(each.earlier for each in parts))
        if isinstance(node, ObjectValueNode):
            inside = ((each.name.value, self.of(each.value) or ONE) for each in node.fields)
            return Size(0, 1, sum(_in_field(name, size) for name, size in inside))
        return ONE

    def _variable(self, name: str) -> Size | None:
        self.variables.add(name)
        if name in self._given:
            return self._given[name]
        default = self._defaults.get(name)
        return None if default is None else self.of(default)
