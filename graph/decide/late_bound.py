"""Late-bound keys of an application: which values differ per cluster, and what they fill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

from graph.decide.addresses import check_object, check_pointer
from graph.decide.fields import check_list
from graph.decide.lookup import find_label_key
from graph.model.errors import Invalid
from graph.model.names import check_text, quoted
from graph.model.referring import labels_in
from graph.model.value_path import check_value_path, overlap, value_path, written_path
from graph.model.values import Value, Values
from graph.model.view import FleetView
from graph.model.workload import CLUSTER_SOURCE, FLEET_KEY, PLACEHOLDER, FieldTarget, LateBound

LATE_BOUND_MAX = 50
"""Late-bound keys of one application: each is filled in for each of its clusters."""


def check_late_bound(late_bound: tuple[LateBound, ...], view: FleetView) -> tuple[LateBound, ...]:
    """The keys, none inside another, with sources that can be filled and fields filled once."""
    listed = check_list(late_bound, "late-bound keys", lambda late: late.key)
    if len(listed) > LATE_BOUND_MAX:
        raise Invalid(f"{len(listed):,} late-bound keys", hint=f"use at most {LATE_BOUND_MAX}")
    for at, late in enumerate(listed):
        _check_key(late.key)
        _check_source(late, view, at)
    _refuse_overlaps([late.key for late in listed])
    fields = [field for late in listed for field in late.fields]
    check_list(map(_check_field, fields), "fields of late-bound keys", _shown)
    return listed


def refuse_composed(keys: Iterable[str], late_bound: Iterable[LateBound], what: str) -> None:
    """Refuse that ``what`` uses values per cluster as if they were composed."""
    late_keys = [late.key for late in late_bound]
    for key in keys:
        for late in late_keys:
            if overlap(key, late):
                raise Invalid(
                    f"{what} {key}, and {late} is late-bound: it differs per cluster and is "
                    "never composed",
                    hint=f"let {late} fill fields of its own, with a source or with layers",
                )


def keys_set(values: Values, late_bound: Iterable[LateBound]) -> list[str]:
    """Late-bound keys that ``values`` set, or leave no place for."""
    return [late.key for late in late_bound if _is_set(dict(values.data), late.key)]


def refuse_in_the_way(values: Values, late_bound: Iterable[LateBound], what: str) -> None:
    """Refuse that ``what`` puts something else where a late-bound key needs a map."""
    for late in late_bound:
        if (key := in_the_way(values, late)) is not None:
            raise Invalid(
                f"{what} {key} to something that is no map, and {late.key} is late-bound",
                hint=f"make {key} a map, or leave it out: a late-bound key needs a place",
            )


def in_the_way(values: Values, late: LateBound) -> str | None:
    """The key of what ``values`` put where a late-bound key needs a map; null takes it away."""
    at: Mapping[str, Value] = values.data
    names = value_path(late.key)
    for depth, name in enumerate(names[:-1], start=1):
        value = at.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            return written_path(names[:depth])
        at = value
    return None


def _is_set(at: Value, key: str) -> bool:
    for name in value_path(key):
        if not isinstance(at, dict):
            return True
        if name not in at:
            return False
        at = at[name]
    return True


def _check_key(key: str) -> None:
    check_value_path(key)
    if overlap(key, FLEET_KEY):
        raise Invalid(
            f"{key} cannot be late-bound",
            hint=f"{FLEET_KEY} holds what the application reads of the fleet's settings",
        )


def _check_source(late: LateBound, view: FleetView, at: int) -> None:
    check_text(late.source, f"the source of {late.key}")
    if "{" in (plain := PLACEHOLDER.sub("", late.source)) or "}" in plain:
        raise Invalid(
            f"the source of {late.key} cannot be read: {quoted(late.source)}",
            hint=f"write {{{CLUSTER_SOURCE}}} or a label key in braces, as pos-{{store}}.example",
        )
    for key in labels_in(late):
        find_label_key(view, key, at, "source")


def _check_field(field: FieldTarget) -> FieldTarget:
    check_object(field.object)
    check_pointer(field.pointer)
    return field


def _shown(field: FieldTarget) -> str:
    return f"{field.object} {field.pointer}"


def _refuse_overlaps(keys: list[str]) -> None:
    for one, other in combinations(sorted(keys, key=len), 2):
        if overlap(one, other):
            raise Invalid(
                f"the late-bound key {other} lies inside the late-bound key {one}",
                hint="keep one of them",
            )
