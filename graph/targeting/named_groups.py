"""The groups a selector names: to take them in, or to leave them out.

``/geo/us except /geo/us/tx`` takes in what lies under ``/geo/us`` and leaves out what lies under
``/geo/us/tx``: of two named groups the nearer one decides, and one that is named both ways is left
out. A pattern names the groups it matches.
"""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.names import GroupNumber
from graph.model.selector import Except, Matching, Not, Only, Selector, Under, parts
from graph.model.view import FleetView
from graph.targeting.evaluate import matched_groups


@dataclass(frozen=True, slots=True)
class NamedGroups:
    """What a selector names in one view."""

    inside: frozenset[GroupNumber]
    outside: frozenset[GroupNumber]
    above: frozenset[GroupNumber]
    """Every group above one of ``inside``."""

    def cover(self, number: GroupNumber, view: FleetView) -> bool:
        """Whether a group lies at or under one that is taken in."""
        at: GroupNumber | None = number if self.inside else None
        while at is not None and at not in self.outside:
            if at in self.inside:
                return True
            group = view.group(at)
            at = None if group is None else group.parent
        return False


def named_groups(selector: Selector, view: FleetView) -> NamedGroups:
    """The groups ``selector`` names in ``view``."""
    inside: set[GroupNumber] = set()
    outside: set[GroupNumber] = set()
    _gather(selector, view, inside, outside)
    inside -= outside
    above: set[GroupNumber] = set()
    for number in inside:
        group = view.group(number)
        while group is not None and group.parent is not None and group.parent not in above:
            above.add(group.parent)
            group = view.group(group.parent)
    return NamedGroups(frozenset(inside), frozenset(outside), frozenset(above))


def _gather(
    selector: Selector, view: FleetView, inside: set[GroupNumber], outside: set[GroupNumber]
) -> None:
    match selector:
        case Under(group) | Only(group):
            inside.add(group)
        case Matching(base, rest):
            inside.update(matched_groups(base, rest, view))
        case Not(operand):
            _gather(operand, view, outside, inside)
        case Except(left, right):
            _gather(left, view, inside, outside)
            _gather(right, view, outside, inside)
        case _:
            for part in parts(selector):
                _gather(part, view, inside, outside)
