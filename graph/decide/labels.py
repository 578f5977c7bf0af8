"""Commands on label keys, and the labels of a cluster."""

from __future__ import annotations

from collections.abc import Mapping

from graph.decide.lookup import find_label_key
from graph.decide.references import refuse_if_named
from graph.model.change import Change
from graph.model.command import DeclareLabel, RemoveLabel
from graph.model.errors import Conflict, Invalid, LabelUndeclared, Rejected
from graph.model.inventory import LabelKey, LabelValue
from graph.model.label import check_value, normalise, show, type_of
from graph.model.names import (
    Revision,
    check_label_key,
    check_text,
    counted,
    did_you_mean,
    nearest,
    quoted,
)
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView
from graph.targeting.value import show_key

LABELS_MAX = 256
"""Labels of one cluster."""
ALLOWED_MAX = 1_000
"""Values a label key may list as allowed."""


def declare_label(command: DeclareLabel, view: FleetView, revision: Revision) -> tuple[Change, ...]:
    """The key, new or restated; clusters that break a narrower list are reported, not refused."""
    name = check_label_key(command.name)
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
            hint=f"find them with: has {show_key(before.name)}",
        )
    refuse_if_named(view, Ref(Kind.LABEL_KEY, before.name), f"label {quoted(before.name)}")
    return (Change(before, None),)


def check_labels(
    labels: Mapping[str, LabelValue], view: FleetView, revision: Revision, *, declare: bool
) -> tuple[dict[str, LabelValue], list[Change]]:
    """``labels`` in their one form and order, and the keys that their first use declares.

    Without ``declare`` a key that is not there is refused: it may be a slip of the pen.
    """
    declared: list[Change] = []
    checked: dict[str, LabelValue] = {}
    for name in sorted(labels):
        value = labels[name]
        key = view.label_key(name)
        if key is not None:
            checked[name] = _check_allowed(key, check_value(name, value, key.type))
            continue
        check_label_key(name)
        if not declare:
            raise _undeclared(name, view)
        declared.append(Change(None, LabelKey(name=name, type=type_of(value), changed=revision)))
        checked[name] = normalise(value)
    return checked, declared


def _undeclared(name: str, view: FleetView) -> LabelUndeclared:
    """The refusal of a label whose key ``view`` has not got."""
    near = nearest(name, (each.name for each in view.label_keys()))
    how = "a new key takes declareLabel, or declareLabels: true with the batch, and an admin"
    return LabelUndeclared(
        f"no label key called {quoted(name)}",
        nearest=near,
        hint=f"{did_you_mean(near)}  {how}".strip(),
        path=("labels",),
    )


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
