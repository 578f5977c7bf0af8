"""The declared standards: what every cluster must satisfy, and who does not.

A standard may be declared over a fleet that breaks it already: those clusters are reported. A
batch that would make a cluster break a standing one is refused; that is judged on the batch's net
result, so a cluster may be registered first and join its places later in the same batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from graph.model.cluster_set import ClusterSet
from graph.model.errors import Rejected
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey
from graph.model.label import show
from graph.model.names import ClusterNumber, GroupNumber, counted
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView


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
                f"every cluster is in /{hierarchy.name}",
                view.everything() - view.members(root),
            )
    for key in view.label_keys():
        if key.allowed:
            fine = ClusterSet.union(view.label_equal(key.name, each) for each in key.allowed)
            broken = view.labelled(key.name) - fine
            yield Standard(Ref(Kind.LABEL_KEY, key.name), _allowed(key), broken)


def refuse_newly_broken(before: FleetView, after: FleetView) -> None:
    """Refuse when a standard that stood before is broken by more clusters after."""
    standing = {each.declared_by: each.broken for each in standards(before)}
    for standard in standards(after):
        if standard.declared_by not in standing:
            continue
        newly = standard.broken - standing[standard.declared_by]
        if _restated(standard, before, after):
            newly = _by_own_change(newly, str(standard.declared_by.key), before, after)
        if newly:
            names = tuple(after.cluster_name(number) for number in islice(newly, 20))
            raise Rejected(
                f"{counted(len(newly), 'cluster')} would break the standard: {standard.rule}",
                hint="give them a place or value in the same batch, or change the standard",
                reasons=names,
            )


def standard_newly_broken(cluster: Cluster, before: FleetView, after: Declared) -> str:
    """The standing standard that ``cluster`` would break by becoming so; empty if none.

    What ``refuse_newly_broken`` is for a fleet that has been built, this is for one cluster of a
    fleet that is only thought of.
    """
    was = before.cluster(cluster.number)
    for hierarchy in before.hierarchies():
        then = after.hierarchy(hierarchy.name)
        if not hierarchy.required or then is None or not then.required:
            continue
        if not _is_in(cluster, then.name, after) and (
            was is None or _is_in(was, then.name, before)
        ):
            return f"every cluster is in /{then.name}"
    for name, value in cluster.labels.items():
        old, key, then_key = was and was.labels.get(name), before.label_key(name), after.label_key(name)
        if key is None or then_key is None or not key.allowed or not then_key.allowed:
            continue
        fine_before = old is None or old in key.allowed
        if old != value and fine_before and value not in then_key.allowed:
            return _allowed(then_key)
    return ""


def _is_in(cluster: Cluster, hierarchy: str, view: Declared) -> bool:
    groups = (view.group(number) for number in cluster.memberships)
    return any(group is not None and group.hierarchy == hierarchy for group in groups)


def _allowed(key: LabelKey) -> str:
    shown = ", ".join(show(each) for each in key.allowed[:5])
    return f"{key.name} is one of {shown}{', ...' if len(key.allowed) > 5 else ''}"


def _restated(standard: Standard, before: FleetView, after: FleetView) -> bool:
    """Whether the batch changed the list of allowed values itself."""
    if standard.declared_by.kind is not Kind.LABEL_KEY:
        return False
    name = str(standard.declared_by.key)
    was, now = before.label_key(name), after.label_key(name)
    return was is not None and now is not None and was.allowed != now.allowed


def _by_own_change(
    newly: ClusterSet, key: str, before: FleetView, after: FleetView
) -> ClusterSet:
    """Those whose own value changed; the others only the new list has broken: they are reported."""

    def changed(number: ClusterNumber) -> bool:
        was, now = before.label(number, key), after.label(number, key)
        return was != now or type(was) is not type(now)

    return ClusterSet.of(number for number in newly if changed(number))
