"""The declared standards: what every cluster must satisfy, and who does not.

A standard may be declared over a fleet that breaks it already: those clusters are reported. A
batch that would make a cluster break a standing one is refused; that is judged on the batch's net
result, so a cluster may be registered first and join its places later in the same batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from graph.model.change import Change
from graph.model.cluster_set import ClusterSet
from graph.model.errors import Rejected
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, LabelValue
from graph.model.label import show
from graph.model.names import GroupNumber, counted
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView

REASONS_MAX = 20
"""Clusters a refusal names."""


class Declared(Protocol):
    """As much of a fleet as standards are declared on."""

    def hierarchy(self, name: str) -> Hierarchy | None:
        """The hierarchy called ``name``."""
        ...

    def group(self, number: GroupNumber) -> Group | None:
        """The group with ``number``."""
        ...

    def label_key(self, name: str) -> LabelKey | None:
        """The label key called ``name``."""
        ...


@dataclass(frozen=True, slots=True)
class Standard:
    """One declared standard and the clusters that break it."""

    declared_by: Ref
    rule: str
    broken: ClusterSet


def standards(view: FleetView) -> Iterator[Standard]:
    """Every declared standard, hierarchies first, each by name."""
    for hierarchy in view.hierarchies():
        root = view.root(hierarchy.name)
        if hierarchy.required and root is not None:
            yield Standard(
                Ref(Kind.HIERARCHY, hierarchy.name),
                _required(hierarchy.name),
                view.everything() - view.members(root),
            )
    for key in view.label_keys():
        if key.allowed:
            fine = ClusterSet.union(view.label_equal(key.name, each) for each in key.allowed)
            broken = view.labelled(key.name) - fine
            yield Standard(Ref(Kind.LABEL_KEY, key.name), _allowed(key), broken)


def refuse_newly_broken(changes: Sequence[Change], before: FleetView, after: FleetView) -> None:
    """Refuse when clusters among ``changes`` newly break a standing standard.

    Only what changed is looked at. Whom a stricter standard catches unchanged is reported.
    """
    broken: dict[str, list[str]] = {}
    for change in changes:
        if isinstance(change.after, Cluster):
            was = change.before if isinstance(change.before, Cluster) else None
            if rule := standard_newly_broken(was, change.after, before, after):
                broken.setdefault(rule, []).append(change.after.name)
    for rule, names in broken.items():
        raise Rejected(
            f"{counted(len(names), 'cluster')} would break the standard: {rule}",
            hint="give them a place or value in the same batch, or change the standard",
            reasons=names[:REASONS_MAX],
        )


def standard_newly_broken(
    was: Cluster | None, cluster: Cluster, before: FleetView, after: Declared
) -> str:
    """The standing standard that a cluster would break by becoming so; empty if none."""
    missing = refused = ""
    if was is None or was.memberships != cluster.memberships:  # a group stays in its hierarchy
        missing = _place_newly_missing(was, cluster, before, after)
    if not missing and (was is None or was.labels is not cluster.labels):
        refused = _value_newly_refused(was, cluster, before, after)
    return missing or refused


def _place_newly_missing(
    was: Cluster | None, cluster: Cluster, before: FleetView, after: Declared
) -> str:
    held = () if was is None else was.memberships
    left, joined = set(held).difference(cluster.memberships), set(cluster.memberships) - set(held)
    for hierarchy in before.hierarchies():
        name, kept = hierarchy.name, after.hierarchy(hierarchy.name)
        if not hierarchy.required or kept is None or not kept.required:
            continue
        if was is not None and not _is_any_in(left, name, before):
            continue  # it had no place there, or has it still
        if not (_is_any_in(joined, name, after) or _is_any_in(cluster.memberships, name, after)):
            return _required(name)
    return ""


def _value_newly_refused(
    was: Cluster | None, cluster: Cluster, before: FleetView, after: Declared
) -> str:
    for name, value in cluster.labels.items():
        key, kept = before.label_key(name), after.label_key(name)
        if key is None or kept is None or not key.allowed or value in kept.allowed:
            continue
        old = None if was is None else was.labels.get(name)
        if kept.allowed and _differs(old, value) and (old is None or old in key.allowed):
            return _allowed(kept)
    return ""


def _differs(old: LabelValue | None, value: LabelValue | None) -> bool:
    """Whether the value is another; true is not 1, where a key has taken another type."""
    return old != value or type(old) is not type(value)


def _is_any_in(groups: Iterable[GroupNumber], hierarchy: str, view: Declared) -> bool:
    found = map(view.group, groups)
    return any(group is not None and group.hierarchy == hierarchy for group in found)


def _required(hierarchy: str) -> str:
    return f"every cluster is in /{hierarchy}"


def _allowed(key: LabelKey) -> str:
    shown = ", ".join(show(each) for each in key.allowed[:5])
    return f"{key.name} is one of {shown}{', ...' if len(key.allowed) > 5 else ''}"
