"""A change in words: what an object was and became, as a person would tell it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import cast

from graph.model.access import Grant
from graph.model.change import Change, Entity
from graph.model.inventory import Capacity, Cluster, Group, SavedSelector
from graph.model.label import show
from graph.model.names import GroupNumber, counted, quoted, shortened
from graph.model.selector import Selector
from graph.model.values import Values
from graph.model.view import FleetView, path_of
from graph.model.workload import (
    Application,
    Assignment,
    Base,
    Choice,
    LateBound,
    Layer,
    Policy,
    Prohibition,
    SecretReference,
    Template,
)
from graph.targeting.syntax import to_text

VALUES_SHOWN_MAX = 120
"""Characters of an object's values in one line."""

_CREATED = {
    "Cluster": "registered",
    "SavedSelector": "saved",
    "LabelKey": "declared",
    "Grant": "granted",
    "Namespace": "defined",
    "Application": "defined",
    "Assignment": "assigned",
    "Prohibition": "prohibited",
    "Layer": "set",
    "Policy": "set",
}
_REMOVED = {
    "Cluster": "retired",
    "Grant": "revoked",
    "Assignment": "unassigned",
    "Prohibition": "lifted",
    "Layer": "removed",
    "Policy": "removed",
}


def describe(change: Change, view: FleetView) -> list[str]:
    """What happened, a line each. Groups are named by where they are in ``view``."""
    match change.before, change.after:
        case None, (_ as after) if after is not None:
            return [_CREATED.get(type(after).__name__, "created"), *_first_state(after, view)]
        case ((_ as before), None) if before is not None:
            return [_REMOVED.get(type(before).__name__, "deleted")]
        case Cluster() as before, Cluster() as after:
            return [
                *_fields(before, after, view),
                *_labels(before, after),
                *_memberships(before, after, view),
            ]
        case ((_ as before), (_ as after)):
            assert before is not None and after is not None, "both sides are there"
            return list(_fields(before, after, view))


def place(number: GroupNumber, view: FleetView) -> str:
    """Where a group is, or that it is no more."""
    return (
        f"group {number:,}, since deleted" if view.group(number) is None else path_of(view, number)
    )


def _first_state(entity: Entity, view: FleetView) -> Iterator[str]:
    if isinstance(entity, Cluster):
        for number in entity.memberships:
            yield f"joined {place(number, view)}"
        for key, value in sorted(entity.labels.items()):
            yield f"{key} = {show(value)}"
    elif isinstance(entity, SavedSelector):
        yield _selector(entity.selector, view)
    elif isinstance(entity, Application):
        yield f"in namespace {entity.namespace}"
    elif isinstance(entity, Assignment | Prohibition):
        yield f"{_choice(entity.choice)} on {_selector(entity.selector, view)}"
    elif isinstance(entity, Layer):
        of = f"application {entity.application}" if entity.application else "the fleet"
        yield f"{_values(entity.values)} for {of} on {_selector(entity.selector, view)}"
    elif isinstance(entity, Policy):
        yield f"for {_governed(entity, view)}"
    elif isinstance(entity, Grant):
        to = (
            f"subject {quoted(entity.subject)}"
            if entity.subject
            else f"claim {quoted(entity.claim)}"
        )
        yield f"{entity.role} to {to} over {_selector(entity.scope, view)}"


_OF_CLUSTERS = ("labels", "memberships")
"""What of a cluster is told one by one."""
_SELECTORS = {"selector": "", "scope": "scope: ", "requires": "requires: "}
"""The fields that hold a selector, and what is said before it."""


def _fields(before: Entity, after: Entity, view: FleetView) -> Iterator[str]:
    apart = _OF_CLUSTERS if isinstance(after, Cluster) else ()
    for field in fields(after):
        was, now = getattr(before, field.name), getattr(after, field.name)
        if was == now or field.name == "changed" or field.name in apart:
            continue
        if isinstance(after, Group) and field.name == "parent":
            yield f"moved from {place(was, view)} to {place(now, view)}"
        elif field.name in _SELECTORS:
            told = (_shown(each) if each is None else _selector(each, view) for each in (was, now))
            yield f"{_SELECTORS[field.name]}{' -> '.join(told)}"
        else:
            verb = "renamed " if field.name == "name" else f"{field.name.replace('_', ' ')}: "
            yield f"{verb}{_shown(was)} -> {_shown(now)}"


def _choice(choice: Choice) -> str:
    """Which applications, in words."""
    which = ", ".join(choice.applications) or "every application"
    inside = f" of namespace {choice.namespace}" if choice.namespace else ""
    return f"{which}{inside}{f' with {_pairs(choice.labels)}' if choice.labels else ''}"


def _governed(policy: Policy, view: FleetView) -> str:
    if policy.selector is not None:
        return _selector(policy.selector, view)
    return f"namespace {', '.join(policy.namespaces)}"


def _values(values: Values) -> str:
    return shortened(values.text, VALUES_SHOWN_MAX)


def _pairs(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{key} = {quoted(value)}" for key, value in sorted(labels.items()))


def _labels(before: Cluster, after: Cluster) -> Iterator[str]:
    for key in sorted({*before.labels, *after.labels}):
        was, now = before.labels.get(key), after.labels.get(key)
        if was == now and type(was) is type(now):
            continue
        if now is None:
            yield f"{key} removed (was {_shown(was)})"
        elif was is None:
            yield f"{key} = {_shown(now)}"
        else:
            yield f"{key}: {_shown(was)} -> {_shown(now)}"


def _memberships(before: Cluster, after: Cluster, view: FleetView) -> Iterator[str]:
    was, now = set(before.memberships), set(after.memberships)
    yield from (f"left {place(number, view)}" for number in sorted(was - now))
    yield from (f"joined {place(number, view)}" for number in sorted(now - was))


def _selector(selector: Selector, view: FleetView) -> str:
    try:
        return to_text(selector, view)
    except AssertionError:  # it names a group that is no more: an old state may
        return "a selector over groups since deleted"


def _shown(value: object) -> str:
    if value is None or value == "" or value == () or value == {}:
        return "none"
    match value:
        case str():
            return quoted(str(value))
        case bool() | int() | float():
            return show(value)
        case tuple():
            return ", ".join(map(_told, cast("tuple[object, ...]", value)))
        case _:
            return _told(value)


def _told(value: object) -> str:
    """A part of an object, or one of several."""
    match value:
        case Values():
            told = _values(value)
        case Choice():
            told = _choice(value)
        case Capacity():
            told = _capacity(value)
        case LateBound(key=key, source=source):
            told = f"{key} from {quoted(source) if source else 'layers'}"
        case SecretReference(name=name, store=store):
            told = f"secret {name} from {store}"
        case Base(path=path):
            told = f"base {path} with {counted(len(value.bindings), 'binding')}"
        case Template(files=files):
            told = f"template of {', '.join(sorted(files))}"
        case dict():
            told = _pairs(cast("dict[str, str]", value))
        case _:
            told = str(value)
    return told


def _capacity(capacity: Capacity) -> str:
    storage = f", {capacity.storage_mib:,} MiB of storage" if capacity.storage_mib else ""
    return f"{capacity.cpu_millicores:,} millicores, {capacity.memory_mib:,} MiB{storage}"
