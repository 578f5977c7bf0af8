"""The columns of a cluster: how each plain field is read for many clusters at once."""

from __future__ import annotations

from collections.abc import Sequence

from api.columns import Column
from graph.model import inventory as core
from graph.model.names import ClusterNumber, GroupNumber
from graph.model.view import FleetView, path_of

Numbers = Sequence[ClusterNumber]


def ids(_: FleetView, numbers: Numbers) -> Sequence[str]:
    """Global ids."""
    return [f"cluster:{number}" for number in numbers]


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
    """One label."""
    return view.label_column(key).many(numbers)


def places(view: FleetView, numbers: Numbers, *, hierarchy: str) -> Sequence[str | None]:
    """The path of the direct membership in a hierarchy; the first by number where it has many."""
    known: dict[GroupNumber, str | None] = {}

    def path(group: GroupNumber) -> str | None:
        if group not in known:
            found = view.group(group)
            inside = found is not None and found.hierarchy == hierarchy
            known[group] = path_of(view, group) if inside else None
        return known[group]

    memberships = view.columns.memberships.many(numbers)
    return [next(filter(None, map(path, groups)), None) for groups in memberships]


IDS = Column(ids)
NAMES = Column(names, lambda view: view.columns.name.chunks)
TITLES = Column(titles, lambda view: view.columns.title.chunks)
KINDS = Column(kinds, lambda view: view.columns.kind.chunks, named=True)
RECONCILERS = Column(reconcilers, lambda view: view.columns.reconciler.chunks, named=True)
TIME_ZONES = Column(time_zones, lambda view: view.columns.time_zone.chunks)
REVISIONS = Column(revisions, lambda view: view.columns.changed.chunks)
LABEL_VALUES = Column(label_values, lambda view, key: view.label_column(key).chunks)
PLACES = Column(places)
