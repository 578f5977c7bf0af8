"""Names and paths of a command, looked up in a view, or refused with the nearest that exist.

``field`` leads to where the command has the name or path; a refusal points there.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import NoReturn, TypeVar

from graph.model.access import Grant
from graph.model.errors import NotFound, TrellisError
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, SavedSelector
from graph.model.names import (
    ClusterNumber,
    GroupNumber,
    counted,
    did_you_mean,
    join_path,
    nearest,
    quoted,
    split_path,
)
from graph.model.view import FleetView
from graph.model.workload import (
    Application,
    Assignment,
    Layer,
    Namespace,
    Policy,
    Prohibition,
)
from graph.targeting.missing import nearest_clusters

_SIBLINGS_MAX = 2_000
"""Names compared for a hint; a hint must not cost more than the command."""
_SHOWN_MAX = 10
"""Names a hint lists when none is near."""

_T = TypeVar("_T")


def find_hierarchy(view: FleetView, name: str, *field: str | int) -> Hierarchy:
    """The hierarchy called ``name``."""
    found = view.hierarchy(name)
    if found is None:
        known = [each.name for each in view.hierarchies()]
        raise NotFound(
            f"no hierarchy called {quoted(name)}",
            hint=did_you_mean(nearest(name, known)) or f"hierarchies: {', '.join(known) or 'none'}",
            path=field,
        )
    return found


def find_group(view: FleetView, path: str, *field: str | int) -> Group:
    """The group at ``path``."""
    number = _walk(view, path)
    if number is not None:
        return existing_group(view, number)
    try:
        _missing_group(view, path)
    except TrellisError as refusal:
        raise refusal.at(*field) from None


def _walk(view: FleetView, path: str) -> GroupNumber | None:
    """The group at ``path`` if there is one; what is found needs no check of its name."""
    start, *names = path.split("/")
    if start or not names:
        return None
    at = view.root(names[0])
    for name in names[1:]:
        if at is None:
            break
        at = view.children(at).get(name)
    return at


def _missing_group(view: FleetView, path: str) -> NoReturn:
    """Refuse ``path``, saying how far it leads."""
    segments = split_path(path)
    hierarchy = find_hierarchy(view, segments[0])
    at = view.root(hierarchy.name)
    assert at is not None, "a hierarchy has a root group"
    for depth, name in enumerate(segments[1:], start=1):
        below = view.children(at).get(name)
        if below is None:
            parent = join_path(segments[:depth])
            close = nearest(name, islice(view.children(at), _SIBLINGS_MAX))
            raise NotFound(
                f"no group {quoted(name)} in {parent}",
                hint=did_you_mean(tuple(f"{parent}/{each}" for each in close))
                or f"create {join_path(segments[: depth + 1])} first",
            )
        at = below
    raise AssertionError("a path that leads nowhere was followed to its end")


def existing_group(view: FleetView, number: GroupNumber) -> Group:
    """The group with a number taken from this view."""
    group = view.group(number)
    assert group is not None, f"group {number} is named but not in the view"
    return group


def existing_cluster(view: FleetView, number: ClusterNumber) -> Cluster:
    """The cluster with a number taken from this view."""
    cluster = view.cluster(number)
    assert cluster is not None, f"cluster {number} is named but not in the view"
    return cluster


def find_cluster(view: FleetView, name: str, *field: str | int) -> Cluster:
    """The cluster called ``name``."""
    number = view.cluster_number(name)
    found = None if number is None else view.cluster(number)
    if found is None:
        raise NotFound(
            f"no cluster called {quoted(name)}",
            hint=did_you_mean(nearest_clusters(view, name))
            or "register it first, or look its name up with a selector",
            path=field,
        )
    return found


def find_label_key(view: FleetView, name: str, *field: str | int) -> LabelKey:
    """The label key called ``name``."""
    found = view.label_key(name)
    if found is None:
        known = [each.name for each in view.label_keys()]
        raise NotFound(
            f"no label key called {quoted(name)}",
            hint=did_you_mean(nearest(name, known)) or f"label keys: {', '.join(known) or 'none'}",
            path=field,
        )
    return found


def find_saved(view: FleetView, name: str, *field: str | int) -> SavedSelector:
    """The saved selector called ``name``."""
    found = view.saved_selector(name)
    if found is None:
        known = [each.name for each in view.saved_selectors()]
        raise NotFound(
            f"no saved selector called {quoted(name)}",
            hint=did_you_mean(nearest(name, known)) or "save it first",
            path=field,
        )
    return found


def find_grant(view: FleetView, name: str, *field: str | int) -> Grant:
    """The grant called ``name``."""
    found = view.grant(name)
    if found is None:
        known = [each.name for each in view.grants()]
        raise NotFound(
            f"no grant called {quoted(name)}",
            hint=did_you_mean(nearest(name, known)) or "list the grants there are",
            path=field,
        )
    return found


def find_namespace(view: FleetView, name: str, *field: str | int) -> Namespace:
    """The namespace called ``name``."""
    return _find(view.workload.namespaces, "namespace", name, field)


def find_application(view: FleetView, name: str, *field: str | int) -> Application:
    """The application called ``name``."""
    return _find(view.workload.applications, "application", name, field)


def find_assignment(view: FleetView, name: str, *field: str | int) -> Assignment:
    """The assignment called ``name``."""
    return _find(view.workload.assignments, "assignment", name, field)


def find_prohibition(view: FleetView, name: str, *field: str | int) -> Prohibition:
    """The prohibition called ``name``."""
    return _find(view.workload.prohibitions, "prohibition", name, field)


def find_layer(view: FleetView, name: str, *field: str | int) -> Layer:
    """The layer called ``name``."""
    return _find(view.workload.layers, "layer", name, field)


def find_policy(view: FleetView, name: str, *field: str | int) -> Policy:
    """The policy called ``name``."""
    return _find(view.workload.policies, "policy", name, field)


def _find(table: Mapping[str, _T], noun: str, name: str, field: tuple[str | int, ...]) -> _T:
    found = table.get(name)
    if found is None:
        close = nearest(name, islice(table, _SIBLINGS_MAX))
        raise NotFound(
            f"no {noun} called {quoted(name)}",
            hint=did_you_mean(close) or _known(table, noun),
            path=field,
        )
    return found


def _known(table: Mapping[str, object], noun: str) -> str:
    """What there is, where nothing is near."""
    plural = counted(0, noun).removeprefix("0 ")
    if not table:
        return f"there are no {plural}"
    more = ", ..." if len(table) > _SHOWN_MAX else ""
    return f"{plural}: {', '.join(sorted(table)[:_SHOWN_MAX])}{more}"
