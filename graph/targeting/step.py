"""Changes a person could make to one cluster, as an explanation proposes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.model.inventory import LabelValue, Mode
from graph.model.names import GroupNumber
from graph.model.view import FleetView, path_of
from graph.targeting.facts import Facts, facts_of
from graph.targeting.value import show_key, show_value


@dataclass(frozen=True, slots=True)
class JoinGroup:
    """Become a direct member; in a ``single`` hierarchy this leaves ``replaces``."""

    group: GroupNumber
    path: str
    replaces: str = ""

    def __str__(self) -> str:
        return f"join {self.path}"


@dataclass(frozen=True, slots=True)
class LeaveGroup:
    """End a direct membership."""

    group: GroupNumber
    path: str

    def __str__(self) -> str:
        return f"leave {self.path}"


@dataclass(frozen=True, slots=True)
class SetLabel:
    """Give a label a value."""

    key: str
    value: LabelValue

    def __str__(self) -> str:
        return f"set {show_key(self.key)} = {show_value(self.value)}"


@dataclass(frozen=True, slots=True)
class RemoveLabel:
    """Take a label away."""

    key: str

    def __str__(self) -> str:
        return f"remove label {show_key(self.key)}"


Step = JoinGroup | LeaveGroup | SetLabel | RemoveLabel


def join(group: GroupNumber, facts: Facts, view: FleetView) -> JoinGroup:
    """Joining ``group``, and what that replaces."""
    left = _replaced(group, facts, view)
    return JoinGroup(group, path_of(view, group), path_of(view, left[0]) if left else "")


def leave(group: GroupNumber, view: FleetView) -> LeaveGroup:
    """Leaving ``group``."""
    return LeaveGroup(group, path_of(view, group))


def after(steps: Sequence[Step], facts: Facts, view: FleetView) -> Facts | None:
    """The facts once ``steps`` are made; None if one would undo another, or all be refused."""
    labels = dict(facts.labels)
    memberships = set(facts.places)
    subjects: set[str | int] = set()
    for step in steps:
        match step:
            case JoinGroup(group):
                memberships -= set(_replaced(group, facts, view))
                memberships.add(group)
            case LeaveGroup(group):
                memberships.discard(group)
            case SetLabel(key, value):
                labels[key] = value
            case RemoveLabel(key):
                labels.pop(key, None)
        subjects.add(_subject(step, view))
    if len(subjects) < len(steps):
        return None
    changed = facts_of(facts.cluster, labels, memberships, view)
    return None if _leaves_required(facts, changed, view) else changed


def _leaves_required(before: Facts, after: Facts, view: FleetView) -> bool:
    """Whether the cluster would be in no group of a hierarchy that every cluster must be in."""
    left = _hierarchies(before) - _hierarchies(after)
    declared = (view.hierarchy(name) for name in left)
    return any(each is not None and each.required for each in declared)


def _hierarchies(facts: Facts) -> set[str]:
    return {place[0].hierarchy for place in facts.places.values()}


def _replaced(group: GroupNumber, facts: Facts, view: FleetView) -> list[GroupNumber]:
    hierarchy = _hierarchy(group, view)
    declared = view.hierarchy(hierarchy)
    if declared is None or declared.mode is not Mode.SINGLE:
        return []
    return [each for each, place in facts.places.items() if place[0].hierarchy == hierarchy]


def _subject(step: Step, view: FleetView) -> str | int:
    """What a step decides; two steps of one plan must not decide the same."""
    if isinstance(step, SetLabel | RemoveLabel):
        return step.key
    hierarchy = view.hierarchy(_hierarchy(step.group, view))
    if hierarchy is not None and hierarchy.mode is Mode.SINGLE:
        return f"/{hierarchy.name}"
    return step.group


def _hierarchy(group: GroupNumber, view: FleetView) -> str:
    found = view.group(group)
    assert found is not None, f"group {group} is named but not in the view"
    return found.hierarchy
