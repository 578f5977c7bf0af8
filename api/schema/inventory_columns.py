"""The columns of a cluster: how each plain field is read for many clusters at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from api.columns import Column
from graph.model import inventory as core
from graph.model.errors import Invalid, NotFound
from graph.model.names import ClusterNumber, GroupNumber, did_you_mean, nearest, quoted
from graph.model.view import Column as CoreColumn
from graph.model.view import Columns, FleetView, path_of
from graph.targeting.missing import listing

Numbers = Sequence[ClusterNumber]


def ids(_: FleetView, numbers: Numbers, *, id_suffix: str = "") -> Sequence[str]:
    """Global ids."""
    return [f"cluster:{number}{id_suffix}" for number in numbers]


def names(view: FleetView, numbers: Numbers) -> Sequence[str]:
    """Names."""
    return view.columns.name.many(numbers)


def titles(view: FleetView, numbers: Numbers) -> Sequence[str]:
    """Titles."""
    return view.columns.title.many(numbers)


def kinds(view: FleetView, numbers: Numbers) -> Sequence[str]:
    """Kinds, by the names they travel under."""
    return [kind.name for kind in view.columns.kind.many(numbers)]


def reconcilers(view: FleetView, numbers: Numbers) -> Sequence[str]:
    """Reconcilers, by the names they travel under."""
    return [each.name for each in view.columns.reconciler.many(numbers)]


def time_zones(view: FleetView, numbers: Numbers) -> Sequence[str]:
    """Time zones."""
    return view.columns.time_zone.many(numbers)


def revisions(view: FleetView, numbers: Numbers) -> Sequence[int]:
    """The revisions that last wrote the clusters."""
    return view.columns.changed.many(numbers)


def label_values(
    view: FleetView, numbers: Numbers, *, key: str
) -> Sequence[core.LabelValue | None]:
    """One label; refused if there is no such key."""
    check_label_key(view, key)
    return view.label_column(key).many(numbers)


def place(view: FleetView, numbers: Numbers, *, hierarchy: str) -> Sequence[str | None]:
    """The one place in a hierarchy; refused if it gives many, or is not there."""
    check_place(view, hierarchy)
    path = _path_inside(view, hierarchy)
    memberships = view.columns.memberships.many(numbers)
    return [next(filter(None, map(path, groups)), None) for groups in memberships]


def all_places(view: FleetView, numbers: Numbers, *, hierarchy: str) -> Sequence[Sequence[str]]:
    """Every place in a hierarchy, by path; refused if it is not there."""
    check_hierarchy(view, hierarchy)
    path = _path_inside(view, hierarchy)
    memberships = view.columns.memberships.many(numbers)
    return [sorted(filter(None, map(path, groups))) for groups in memberships]


def check_label_key(view: FleetView, key: str) -> None:
    """Refuse a label key that is not there."""
    if view.label_key(key) is None:
        known = [each.name for each in view.label_keys()]
        raise missing_name("label key", "label keys", key, known).at("key")


def check_hierarchy(view: FleetView, name: str) -> core.Hierarchy:
    """The hierarchy, or its refusal if it is not there."""
    found = view.hierarchy(name)
    if found is None:
        known = [each.name for each in view.hierarchies()]
        raise missing_name("hierarchy", "hierarchies", name, known).at("hierarchy")
    return found


def check_place(view: FleetView, hierarchy: str) -> None:
    """Refuse a hierarchy that is not there, or in which a cluster may have many places."""
    if check_hierarchy(view, hierarchy).mode is core.Mode.MANY:
        raise Invalid(
            f"a cluster may have many places in {hierarchy}",
            hint=f"use places(hierarchy: {quoted(hierarchy)})",
            path=("hierarchy",),
        )


def missing_name(noun: str, nouns: str, name: str, known: Sequence[str]) -> NotFound:
    """The refusal of a name that is not there, with those that are."""
    said = (did_you_mean(nearest(name[:64], known)), listing(nouns, known))
    return NotFound(f"no {noun} called {quoted(name)}", hint="  ".join(filter(None, said)))


def _path_inside(view: FleetView, hierarchy: str) -> Callable[[GroupNumber], str | None]:
    """The path of a group, looked up once; None for one of another hierarchy."""
    known: dict[GroupNumber, str | None] = {}

    def path(group: GroupNumber) -> str | None:
        if group not in known:
            found = view.group(group)
            inside = found is not None and found.hierarchy == hierarchy
            known[group] = path_of(view, group) if inside else None
        return known[group]

    return path


def _label_cells(view: FleetView, key: str) -> Sequence[Sequence[core.LabelValue | None]]:
    check_label_key(view, key)
    return view.label_column(key).chunks


def _cells(
    pick: Callable[[Columns], CoreColumn[Any]],
) -> Callable[[FleetView], Sequence[Sequence[Any]]]:
    return lambda view: pick(view.columns).chunks


IDS = Column(ids, identifies=True)
NAMES = Column(names, _cells(lambda columns: columns.name))
TITLES = Column(titles, _cells(lambda columns: columns.title))
KINDS = Column(kinds, _cells(lambda columns: columns.kind), named=True)
RECONCILERS = Column(reconcilers, _cells(lambda columns: columns.reconciler), named=True)
TIME_ZONES = Column(time_zones, _cells(lambda columns: columns.time_zone))
REVISIONS = Column(revisions, _cells(lambda columns: columns.changed))
LABEL_VALUES = Column(label_values, _label_cells)
PLACE = Column(place)
PLACES = Column(all_places)
