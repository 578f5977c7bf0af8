"""The declared standards: what every cluster must satisfy, and who does not.

A standard may be declared over a fleet that breaks it already: those clusters are reported. A
batch that would make a cluster break a standing one is refused; that is judged on the batch's net
result, so a cluster may be registered first and join its places later in the same batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from graph.model.cluster_set import ClusterSet
from graph.model.errors import Rejected
from graph.model.label import show
from graph.model.names import counted
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView


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
            shown = ", ".join(show(each) for each in key.allowed[:5])
            yield Standard(
                Ref(Kind.LABEL_KEY, key.name),
                f"{key.name} is one of {shown}{', ...' if len(key.allowed) > 5 else ''}",
                view.labelled(key.name) - fine,
            )


def refuse_newly_broken(before: FleetView, after: FleetView) -> None:
    """Refuse when a standard that stood before is broken by more clusters after."""
    standing = {each.declared_by: each.broken for each in standards(before)}
    for standard in standards(after):
        if standard.declared_by not in standing:
            continue
        newly = standard.broken - standing[standard.declared_by]
        if newly and not _narrowed(standard, before, after):
            names = tuple(after.cluster_name(number) for number in islice(newly, 20))
            raise Rejected(
                f"{counted(len(newly), 'cluster')} would break the standard: {standard.rule}",
                hint="give them a place or value in the same batch, or change the standard",
                reasons=names,
            )


def _narrowed(standard: Standard, before: FleetView, after: FleetView) -> bool:
    """Whether the batch restated the standard itself, which is reported and not refused."""
    if standard.declared_by.kind is not Kind.LABEL_KEY:
        return False
    name = str(standard.declared_by.key)
    was, now = before.label_key(name), after.label_key(name)
    return was is not None and now is not None and was.allowed != now.allowed
