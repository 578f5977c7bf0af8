"""How much of each kind a fleet holds: no list in an answer about it is longer."""

from __future__ import annotations

from typing import Final, NamedTuple

from graph.model.view import FleetView

UNBOUNDED: Final = 10**20
"""A count that bounds nothing."""


class FleetCounts(NamedTuple):
    """Objects of one view, by kind; at least one of each, so that nothing is free of charge."""

    clusters: int = 1
    groups: int = 1
    hierarchies: int = 1
    label_keys: int = 1
    applications: int = 1
    namespaces: int = 1
    assignments: int = 1
    prohibitions: int = 1
    layers: int = 1
    policies: int = 1

    @property
    def buckets(self) -> int:
        """A dimension has a bucket for each child of a group, or for each value of a label."""
        return max(self.clusters, self.groups)

    @staticmethod
    def of(view: FleetView, *, whole: bool) -> FleetCounts:
        """The counts of a view; ``whole`` if nothing of the fleet is hidden in it.

        Groups are counted by the numbers that were ever given to one. Where part of the fleet is
        hidden that would tell of the rest, so there groups bound nothing.
        """
        workload = view.workload
        counts = (
            len(view.everything()),
            int(view.numbers.group) if whole else UNBOUNDED,
            len(view.hierarchies()),
            len(view.label_keys()),
            len(workload.applications),
            len(workload.namespaces),
            len(workload.assignments),
            len(workload.prohibitions),
            len(workload.layers),
            len(workload.policies),
        )
        return FleetCounts(*(max(1, count) for count in counts))


LEAST: Final = FleetCounts()
"""The counts of an empty fleet."""
