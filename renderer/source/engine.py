"""The engine of the same process as a source: what the API would say, without the way there."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing

from graph.effective.portion import Bounds, Definitions
from graph.effective.rendition import rendition
from graph.effective.spelling import portions
from graph.engine import Engine
from graph.model.change import Cursor
from graph.model.errors import Unavailable
from graph.model.publication import Report
from graph.model.ref import Kind, Ref
from graph.model.workload import Workload
from graph.rendering import RenderingStep
from renderer.definition import trimmed_application, trimmed_namespace, trimmed_policy
from renderer.message import Complete, Defined, Message, Reason
from renderer.source.port import Located
from renderer.source.reasons import Page, reasons_between
from renderer.source.report import bounded

BOUNDS = Bounds()
"""How much is said at once."""


class EngineSource:
    """A fleet of this process. ``reporting``: its store may be written to, and keeps reports."""

    def __init__(
        self,
        engine: Engine,
        *,
        reporting: bool = True,
        reasons_max: int = 100,
        bounds: Bounds = BOUNDS,
    ) -> None:
        self._engine = engine
        self._reporting = reporting
        self._reasons_max = reasons_max
        self._bounds = bounds

    async def follow(self, after: str | None) -> AsyncGenerator[Message]:
        """Everything behind ``after``; then whatever comes, without end."""
        rendering = self._engine.rendering
        step = await rendering.begin(None if after is None else Cursor.parse(after))
        for message in self._said(step):
            yield message
        async with aclosing(self._engine.follow(step.now.view.cursor)) as changesets:
            async for changeset in changesets:
                if changeset.revision > step.now.view.cursor.revision:
                    step = rendering.go_on(step, changeset)
                    for message in self._said(step):
                        yield message
        raise Unavailable("the fleet of this process is closed", hint="start it again")

    async def reasons(self, after: str | None, until: int) -> Sequence[Reason]:
        """Why the revisions behind a cursor are there, oldest first; the newest of too many."""
        return await reasons_between(self._page, after, until, self._reasons_max)

    async def locate(self, cursors: Sequence[str], commit: str) -> Located:
        """How cursors relate to the history of this fleet."""
        found = [
            await self._engine.relation(Cursor.parse(each), "" if place else commit)
            for place, each in enumerate(cursors)
        ]
        return Located(self._engine.view.cursor.revision, tuple(found))

    async def report(self, report: Report) -> None:
        """Say what was published."""
        if self._reporting:
            await self._engine.report_published(bounded(report))

    async def _page(self, behind: str | None, first: int) -> Page:
        after = None if behind is None else Cursor.parse(behind)
        page = await self._engine.changesets(first=first, after=after)
        headers = [each.header for each in page.entries]
        told = [Reason(each.revision, each.actor, each.reason) for each in headers]
        return Page(told, str(page.end) if page.more else None)

    def _said(self, step: RenderingStep) -> Iterator[Message]:
        workload, cursor = step.now.view.workload, step.now.view.cursor
        for portion in portions(rendition(step.was, step.now), self._bounds):
            yield _defined(portion.refs, workload) if isinstance(portion, Definitions) else portion
        yield Complete(str(step.cursor), cursor.revision, step.accepted_loss)


def _defined(refs: Sequence[Ref], workload: Workload) -> Defined:
    names = {
        kind: [str(ref.key) for ref in refs if ref.kind is kind]
        for kind in (Kind.APPLICATION, Kind.NAMESPACE, Kind.POLICY)
    }
    return Defined(
        tuple(trimmed_application(workload.applications[n]) for n in names[Kind.APPLICATION]),
        tuple(trimmed_namespace(workload.namespaces[n]) for n in names[Kind.NAMESPACE]),
        tuple(trimmed_policy(workload.policies[n]) for n in names[Kind.POLICY]),
    )
