"""A preview in a request: its clusters as they are, and as they would be."""

from __future__ import annotations

from dataclasses import dataclass

from api.context import Context
from api.schema.page import ClusterConnection, page_of
from graph.engine import Preview
from graph.model.cluster_set import ClusterSet


@dataclass(frozen=True, slots=True)
class DryRun:
    """What the core computed, and for whom."""

    now: Context
    """For objects as they are at the revision it was computed on."""
    then: Context
    """For objects as they would be."""
    found: Preview

    @staticmethod
    def of(context: Context, found: Preview) -> DryRun:
        """A preview in a request: what it was computed on may be newer than the request."""
        same = found.base == context.view.cursor
        now = context if same else context.showing(found.base.revision)
        return DryRun(now, context.imagining(found), found)

    def coming(self, chosen: ClusterSet, first: int, after: str | None) -> ClusterConnection:
        """Clusters as they would be, a page at a time."""
        return page_of(self.then, self.found.after, chosen, first, after)

    def going(self, chosen: ClusterSet, first: int, after: str | None) -> ClusterConnection:
        """Clusters as they are, a page at a time."""
        return page_of(self.now, self.found.before, chosen, first, after)
