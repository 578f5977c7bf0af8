"""The fleet at one revision: immutable, complete, and answering in microseconds.

Versions share all they have in common; ``builder`` makes the next one, ``file`` keeps one on disk.
A request holds on to one snapshot, so all parts of its answer belong to one revision.
"""

from __future__ import annotations

from typing import final

from graph.index.catalog import Catalog
from graph.index.clusters import Clusters
from graph.index.fleet import Fleet
from graph.index.forest import Forest
from graph.model.change import Cursor, Numbers


@final
class Snapshot(Fleet):
    """One state of the fleet, never written again."""

    __slots__ = ()

    @staticmethod
    def empty(cursor: Cursor) -> Snapshot:
        """A fleet of nothing."""
        return Snapshot(
            cursor=cursor,
            numbers=Numbers(),
            catalog=Catalog.of(),
            forest=Forest.empty(),
            labels={},
            clusters=Clusters.empty(),
        )
