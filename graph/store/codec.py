"""The record's bytes: every entity, selector tree and changeset as JSON, and the chain over them.

Both adapters, the archive and every later version of this program must read what is written here,
so the form is spelled out by hand, object by object, and depends on no class:

- Equal values have equal bytes: keys are sorted, and a field that has its default is left out.
- What is left out reads as the default, so a field can be added without rewriting old records.
- Opening hours are one line a day, ``monday 06:00-22:00``; thousands of clusters keep the same
  ones, so equal hours are read once and shared.
- A moment is UTC with milliseconds; text is any Unicode, byte for byte as given.

The chain of a changeset is a hash over the chain before it and its own body. The first link is made
of the store's own id, so no two stores have a history in common.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any

import orjson

from graph.model.access import Grant, Role
from graph.model.change import Change, Changeset, Entity
from graph.model.errors import Invalid
from graph.model.hours import WEEKDAYS, Interval, OpeningHours
from graph.model.inventory import (
    Capacity,
    Cluster,
    ClusterKind,
    Group,
    Hierarchy,
    LabelKey,
    LabelType,
    Mode,
    Reconciler,
    SavedSelector,
)
from graph.model.names import Revision
from graph.model.ref import Kind
from graph.model.selector import Selector
from graph.store.selector_codec import read_selector, selector_json

Json = Any
"""What a JSON parser returns; every reader below says what it expects of it."""

HOURS_SHARED_MAX = 4_096
"""Distinct opening hours kept for sharing while a record is read."""


def encode_entity(entity: Entity) -> bytes:
    """The canonical bytes of ``entity``. Its kind is not in them."""
    return _dump(_entity_json(entity))


def decode_entity(kind: Kind, data: bytes) -> Entity:
    """The inverse of ``encode_entity``."""
    try:
        return _READERS[kind](orjson.loads(data))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise _unreadable(f"a {kind}") from error


def encode_body(changeset: Changeset) -> bytes:
    """The canonical bytes of ``changeset`` without its chain: what the chain is made over."""
    changes = [
        [change.ref.kind.value, _fragment(change.before), _fragment(change.after)]
        for change in changeset.changes
    ]
    return _dump(
        {
            "actor": changeset.actor,
            "at": encode_moment(changeset.at),
            "changes": changes,
            "reason": changeset.reason,
            "revision": changeset.revision,
        }
    )


def decode_body(body: bytes, chain: str) -> Changeset:
    """The inverse of ``encode_body``, sealed with ``chain``."""
    try:
        data = orjson.loads(body)
        return Changeset(
            revision=Revision(data["revision"]),
            at=decode_moment(data["at"]),
            actor=data["actor"],
            reason=data["reason"],
            changes=tuple(_change(*change) for change in data["changes"]),
            chain=chain,
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise _unreadable("a changeset") from error


def genesis(store_id: str) -> str:
    """The chain of revision 0."""
    return sha256(b"trellis\n" + store_id.encode()).hexdigest()


def seal(previous_chain: str, body: bytes) -> str:
    """The chain of the changeset with ``body`` that follows ``previous_chain``."""
    return sha256(previous_chain.encode() + b"\n" + body).hexdigest()


def encode_selector(selector: Selector) -> bytes:
    """The canonical bytes of a selector tree."""
    return _dump(selector_json(selector))


def decode_selector(data: bytes) -> Selector:
    """The inverse of ``encode_selector``."""
    try:
        return read_selector(orjson.loads(data))
    except (ValueError, LookupError, TypeError) as error:
        raise _unreadable("a selector") from error


def encode_hours(hours: OpeningHours) -> bytes:
    """The canonical bytes of opening hours."""
    return _dump(_hours_json(hours))


def decode_hours(data: bytes) -> OpeningHours:
    """The inverse of ``encode_hours``."""
    try:
        return _hours(*orjson.loads(data))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise _unreadable("opening hours") from error


def encode_moment(at: datetime) -> str:
    """``2026-11-01T00:00:00.000Z``: as text it sorts as time does."""
    if at.tzinfo is None:
        raise Invalid(f"the moment {at.isoformat()} has no time zone", hint="give UTC")
    try:
        utc = at.astimezone(UTC)
    except OverflowError:  # its own zone takes it past the first or the last year
        raise Invalid(
            f"the moment {at.isoformat()} is outside the calendar",
            hint="give a year between 1 and 9999, in UTC too",
        ) from None
    return utc.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def decode_moment(text: str) -> datetime:
    """The inverse of ``encode_moment``."""
    return datetime.fromisoformat(text)


def _dump(value: Json) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError as error:
        raise Invalid(
            f"this cannot be written to the record: {error}",
            hint="use valid Unicode, numbers below 2**63 and less nesting",
        ) from error


def _unreadable(what: str) -> Invalid:
    return Invalid(
        f"the record holds {what} that this version cannot read",
        hint="upgrade trellis, or restore a backup if the record was damaged",
    )


# entities


def _entity_json(entity: Entity) -> dict[str, Json]:
    match entity:
        case Cluster():
            return _cluster_json(entity)
        case Group():
            data: dict[str, Json] = {
                "number": entity.number,
                "hierarchy": entity.hierarchy,
                "name": entity.name,
                "changed": entity.changed,
            }
            if entity.parent is not None:
                data["parent"] = entity.parent
        case Hierarchy():
            data = {"name": entity.name, "mode": entity.mode.value, "changed": entity.changed}
            if entity.required:
                data["required"] = True
        case LabelKey():
            data = {"name": entity.name, "type": entity.type.value, "changed": entity.changed}
            if entity.unit:
                data["unit"] = entity.unit
            if entity.allowed:
                data["allowed"] = entity.allowed
        case SavedSelector():
            data = {
                "name": entity.name,
                "selector": selector_json(entity.selector),
                "changed": entity.changed,
            }
        case Grant():
            data = _grant_json(entity)
    if entity.title:
        data["title"] = entity.title
    return data


def _cluster_json(cluster: Cluster) -> dict[str, Json]:
    data: dict[str, Json] = {
        "number": cluster.number,
        "name": cluster.name,
        "kind": cluster.kind.value,
        "reconciler": cluster.reconciler.value,
        "changed": cluster.changed,
    }
    if cluster.title:
        data["title"] = cluster.title
    if cluster.labels:
        data["labels"] = dict(cluster.labels)
    if cluster.memberships:
        data["memberships"] = cluster.memberships
    if cluster.capacity is not None:
        size = cluster.capacity
        data["capacity"] = [size.cpu_millicores, size.memory_mib, size.storage_mib]
    if cluster.time_zone:
        data["time_zone"] = cluster.time_zone
    if cluster.opening_hours is not None:
        data["opening_hours"] = _hours_json(cluster.opening_hours)
    return data


def _grant_json(grant: Grant) -> dict[str, Json]:
    data: dict[str, Json] = {
        "name": grant.name,
        "role": grant.role.value,
        "scope": selector_json(grant.scope),
        "changed": grant.changed,
    }
    if grant.subject:
        data["subject"] = grant.subject
    if grant.claim:
        data["claim"] = grant.claim
    return data


def _cluster(data: Json) -> Cluster:
    get = data.get
    size = get("capacity")
    hours = get("opening_hours")
    return Cluster(
        data["number"],
        data["name"],
        get("title", ""),
        _CLUSTER_KINDS[data["kind"]],
        _RECONCILERS[data["reconciler"]],
        get("labels") or {},
        tuple(get("memberships", ())),
        None if size is None else Capacity(*size),
        get("time_zone", ""),
        None if hours is None else _hours(*hours),
        data["changed"],
    )


def _group(data: Json) -> Group:
    return Group(
        data["number"],
        data["hierarchy"],
        data.get("parent"),
        data["name"],
        data.get("title", ""),
        data["changed"],
    )


def _hierarchy(data: Json) -> Hierarchy:
    return Hierarchy(
        name=data["name"],
        mode=Mode(data["mode"]),
        required=data.get("required", False),
        title=data.get("title", ""),
        changed=data["changed"],
    )


def _label_key(data: Json) -> LabelKey:
    return LabelKey(
        name=data["name"],
        type=LabelType(data["type"]),
        title=data.get("title", ""),
        unit=data.get("unit", ""),
        allowed=tuple(data.get("allowed", ())),
        changed=data["changed"],
    )


def _saved_selector(data: Json) -> SavedSelector:
    return SavedSelector(
        name=data["name"],
        selector=read_selector(data["selector"]),
        title=data.get("title", ""),
        changed=data["changed"],
    )


def _grant(data: Json) -> Grant:
    return Grant(
        name=data["name"],
        role=Role(data["role"]),
        scope=read_selector(data["scope"]),
        subject=data.get("subject", ""),
        claim=data.get("claim", ""),
        title=data.get("title", ""),
        changed=data["changed"],
    )


def _hours_json(hours: OpeningHours) -> list[str]:
    days = [*((day, hours.weekly[day]) for day in WEEKDAYS if day in hours.weekly)]
    days += sorted(hours.exceptions.items())
    return [" ".join([day, *(f"{at.opens}-{at.closes}" for at in each)]) for day, each in days]


@lru_cache(maxsize=HOURS_SHARED_MAX)
def _hours(*days: str) -> OpeningHours:
    weekly: dict[str, tuple[Interval, ...]] = {}
    exceptions: dict[str, tuple[Interval, ...]] = {}
    for day, *intervals in map(str.split, days):
        (weekly if day in WEEKDAYS else exceptions)[day] = tuple(
            Interval(*interval.split("-")) for interval in intervals
        )
    return OpeningHours(weekly, exceptions)


_READERS: dict[Kind, Callable[[Json], Entity]] = {
    Kind.HIERARCHY: _hierarchy,
    Kind.LABEL_KEY: _label_key,
    Kind.GROUP: _group,
    Kind.CLUSTER: _cluster,
    Kind.SAVED_SELECTOR: _saved_selector,
    Kind.GRANT: _grant,
}
_CLUSTER_KINDS = {kind.value: kind for kind in ClusterKind}
_RECONCILERS = {reconciler.value: reconciler for reconciler in Reconciler}


# changes


def _fragment(entity: Entity | None) -> orjson.Fragment | None:
    return None if entity is None else orjson.Fragment(encode_entity(entity))


def _change(kind: Json, before: Json, after: Json) -> Change:
    read = _READERS[Kind(kind)]
    return Change(
        before=None if before is None else read(before),
        after=None if after is None else read(after),
    )
