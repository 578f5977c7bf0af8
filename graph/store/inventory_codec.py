"""The inventory and its grants as JSON: what ``graph.store.codec`` writes for each object.

A field that has its default is left out. Opening hours are one line a day, ``monday 06:00-22:00``;
thousands of clusters keep the same ones, so equal hours are read once and shared.
"""

from __future__ import annotations

from functools import lru_cache

from graph.model.access import Grant, Role
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
from graph.store.selector_codec import Json, read_selector, selector_json

HOURS_SHARED_MAX = 4_096
"""Distinct opening hours kept for sharing while a record is read."""

Inventory = Hierarchy | LabelKey | Group | Cluster | SavedSelector | Grant


def inventory_json(entity: Inventory) -> dict[str, Json]:
    """``entity`` as what a JSON writer takes."""
    data: dict[str, Json]
    match entity:
        case Cluster():
            data = _cluster_json(entity)
        case Group():
            data = _group_json(entity)
        case Hierarchy():
            data = _hierarchy_json(entity)
        case LabelKey():
            data = _label_key_json(entity)
        case SavedSelector():
            data = {"name": entity.name, "selector": selector_json(entity.selector)}
        case Grant():
            data = _grant_json(entity)
    data["changed"] = entity.changed
    if entity.title:
        data["title"] = entity.title
    return data


def capacity_json(size: Capacity) -> list[int]:
    """Processor, memory, storage."""
    return [size.cpu_millicores, size.memory_mib, size.storage_mib]


def read_capacity(data: Json) -> Capacity | None:
    """The inverse of ``capacity_json``; None for what was left out."""
    return None if data is None else Capacity(*data)


# hierarchies, groups, label keys


def _hierarchy_json(hierarchy: Hierarchy) -> dict[str, Json]:
    data: dict[str, Json] = {"name": hierarchy.name, "mode": hierarchy.mode.value}
    if hierarchy.required:
        data["required"] = True
    if hierarchy.precedence:
        data["precedence"] = hierarchy.precedence
    return data


def read_hierarchy(data: Json) -> Hierarchy:
    """A hierarchy; one from before hierarchies had an order has the precedence 0."""
    return Hierarchy(
        name=data["name"],
        mode=Mode(data["mode"]),
        required=data.get("required", False),
        title=data.get("title", ""),
        precedence=data.get("precedence", 0),
        changed=data["changed"],
    )


def _group_json(group: Group) -> dict[str, Json]:
    data: dict[str, Json] = {
        "number": group.number,
        "hierarchy": group.hierarchy,
        "name": group.name,
    }
    if group.parent is not None:
        data["parent"] = group.parent
    return data


def read_group(data: Json) -> Group:
    """A group."""
    return Group(
        data["number"],
        data["hierarchy"],
        data.get("parent"),
        data["name"],
        data.get("title", ""),
        data["changed"],
    )


def _label_key_json(key: LabelKey) -> dict[str, Json]:
    data: dict[str, Json] = {"name": key.name, "type": key.type.value}
    if key.unit:
        data["unit"] = key.unit
    if key.allowed:
        data["allowed"] = key.allowed
    return data


def read_label_key(data: Json) -> LabelKey:
    """A label key."""
    return LabelKey(
        name=data["name"],
        type=LabelType(data["type"]),
        title=data.get("title", ""),
        unit=data.get("unit", ""),
        allowed=tuple(data.get("allowed", ())),
        changed=data["changed"],
    )


# clusters


def _cluster_json(cluster: Cluster) -> dict[str, Json]:
    data: dict[str, Json] = {
        "number": cluster.number,
        "name": cluster.name,
        "kind": cluster.kind.value,
        "reconciler": cluster.reconciler.value,
    }
    if cluster.labels:
        data["labels"] = dict(cluster.labels)
    if cluster.memberships:
        data["memberships"] = cluster.memberships
    if cluster.capacity is not None:
        data["capacity"] = capacity_json(cluster.capacity)
    if cluster.time_zone:
        data["time_zone"] = cluster.time_zone
    if cluster.opening_hours is not None:
        data["opening_hours"] = hours_json(cluster.opening_hours)
    return data


def read_cluster(data: Json) -> Cluster:
    """A cluster."""
    get = data.get
    hours = get("opening_hours")
    return Cluster(
        data["number"],
        data["name"],
        get("title", ""),
        _CLUSTER_KINDS[data["kind"]],
        _RECONCILERS[data["reconciler"]],
        get("labels") or {},
        tuple(get("memberships", ())),
        read_capacity(get("capacity")),
        get("time_zone", ""),
        None if hours is None else read_hours(*hours),
        data["changed"],
    )


_CLUSTER_KINDS = {kind.value: kind for kind in ClusterKind}
_RECONCILERS = {reconciler.value: reconciler for reconciler in Reconciler}


def hours_json(hours: OpeningHours) -> list[str]:
    """Opening hours, weekdays before dates."""
    days = [*((day, hours.weekly[day]) for day in WEEKDAYS if day in hours.weekly)]
    days += sorted(hours.exceptions.items())
    return [" ".join([day, *(f"{at.opens}-{at.closes}" for at in each)]) for day, each in days]


@lru_cache(maxsize=HOURS_SHARED_MAX)
def read_hours(*days: str) -> OpeningHours:
    """The inverse of ``hours_json``."""
    weekly: dict[str, tuple[Interval, ...]] = {}
    exceptions: dict[str, tuple[Interval, ...]] = {}
    for day, *intervals in map(str.split, days):
        (weekly if day in WEEKDAYS else exceptions)[day] = tuple(
            Interval(*interval.split("-")) for interval in intervals
        )
    return OpeningHours(weekly, exceptions)


# saved selectors and grants


def read_saved_selector(data: Json) -> SavedSelector:
    """A saved selector."""
    return SavedSelector(
        name=data["name"],
        selector=read_selector(data["selector"]),
        title=data.get("title", ""),
        changed=data["changed"],
    )


def _grant_json(grant: Grant) -> dict[str, Json]:
    data: dict[str, Json] = {
        "name": grant.name,
        "role": grant.role.value,
        "scope": selector_json(grant.scope),
    }
    if grant.subject:
        data["subject"] = grant.subject
    if grant.claim:
        data["claim"] = grant.claim
    if grant.namespaces:
        data["namespaces"] = grant.namespaces
    if grant.applications:
        data["applications"] = grant.applications
    return data


def read_grant(data: Json) -> Grant:
    """A grant; one from before there was a workload covers all of it."""
    return Grant(
        name=data["name"],
        role=Role(data["role"]),
        scope=read_selector(data["scope"]),
        subject=data.get("subject", ""),
        claim=data.get("claim", ""),
        title=data.get("title", ""),
        namespaces=tuple(data.get("namespaces", ())),
        applications=tuple(data.get("applications", ())),
        changed=data["changed"],
    )
