"""Commands on label keys, and the keys a cluster's labels declare by first use."""

from __future__ import annotations

from collections.abc import Mapping

from graph.decide.lookup import find_label_key
from graph.decide.references import refuse_if_named
from graph.model.change import Change
from graph.model.command import DeclareLabel, RemoveLabel
from graph.model.errors import Conflict, Invalid, Rejected
from graph.model.inventory import LabelKey, LabelValue
from graph.model.label import check_value, normalise, show, type_of
from graph.model.names import Revision, check_name, check_text, counted, quoted
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView

LABELS_MAX = 256
"""Labels of one cluster."""
ALLOWED_MAX = 1_000
"""Values a label key may list as allowed."""


def declare_label(command: DeclareLabel, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The key, new or restated; clusters that break a narrower list are reported, not refused."""
    name = check_name(command.name, "label key")
    before = view.label_key(name)
    if before is not None and before.type is not command.type:
        raise Conflict(
            f"label {quoted(name)} is a {before.type} since revision {before.changed:,}",
            hint="a key's type is final; declare another key",
        )
    if len(command.allowed) > ALLOWED_MAX:
        raise Invalid(
            f"{len(command.allowed):,} allowed values", hint=f"list at most {ALLOWED_MAX:,}"
        )
    allowed = dict.fromkeys(check_value(name, each, command.type) for each in command.allowed)
    after = LabelKey(
        name=name,
        type=command.type,
        title=check_text(command.title, "the title"),
        unit=check_text(command.unit, "the unit"),
        allowed=tuple(allowed),
        changed=revision,
    )
    return (Change(before, after),)


def remove_label(command: RemoveLabel, view: FleetView, _: Revision) -> tuple[Change, ...]:
    """The key gone, if neither a cluster nor anything stored uses it."""
    before = find_label_key(view, command.name, "name")
    if used := len(view.labelled(before.name)):
        raise Rejected(
            f"label {quoted(before.name)} is used by {counted(used, 'cluster')}",
            hint=f"find them with: has {before.name}",
        )
    refuse_if_named(view, Ref(Kind.LABEL_KEY, before.name), f"label {quoted(before.name)}")
    return (Change(before, None),)


def check_labels(
    labels: Mapping[str, LabelValue], view: FleetView, revision: Revision
) -> tuple[dict[str, LabelValue], list[Change]]:
    """``labels`` in their one form and order, and the keys they declare by being the first."""
    declared: list[Change] = []
    checked: dict[str, LabelValue] = {}
    for name in sorted(labels):
        value = labels[name]
        key = view.label_key(name)
        if key is None:
            check_name(name, "label key")
            declared.append(
                Change(None, LabelKey(name=name, type=type_of(value), changed=revision))
            )
            checked[name] = normalise(value)
        else:
            checked[name] = _check_allowed(key, check_value(name, value, key.type))
    return checked, declared


def merge_labels(
    before: Mapping[str, LabelValue], new: Mapping[str, LabelValue], removed: frozenset[str]
) -> dict[str, LabelValue]:
    """``before`` with ``new`` put in and ``removed`` taken out, by key."""
    merged = {key: value for key, value in before.items() if key not in removed} | dict(new)
    if len(merged) > LABELS_MAX:
        raise Invalid(f"{len(merged):,} labels on one cluster", hint=f"use at most {LABELS_MAX}")
    return dict(sorted(merged.items()))


def _check_allowed(key: LabelKey, value: LabelValue) -> LabelValue:
    if key.allowed and value not in key.allowed:
        shown = ", ".join(show(each) for each in key.allowed[:10])
        raise Invalid(
            f"{show(value)} is not an allowed value of label {quoted(key.name)}",
            hint=f"allowed: {shown}{', ...' if len(key.allowed) > 10 else ''}",
        )
    return value
