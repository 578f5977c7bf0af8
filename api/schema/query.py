"""The queries: where reading begins."""

from __future__ import annotations

from typing import Annotated

import strawberry

from api.context import Context
from api.schema.access import Grant, Viewer
from api.schema.change import ObjectKind
from api.schema.command import ApplyInput
from api.schema.difference import CHANGESETS
from api.schema.history import LINES, LINES_MAX, AfterRevision, HistoryLine, told
from api.schema.impact import PreviewResult, preview, preview_revert
from api.schema.intent import inside
from api.schema.inventory import Cluster, Group, Hierarchy, SavedSelector
from api.schema.label import LabelKey
from api.schema.listing import First, checked_first
from api.schema.log import ChangesetConnection, changesets
from api.schema.names import Cursor, Name, Revision, RevisionOrTime
from api.schema.page import Ahead
from api.schema.publication import Publication, publications_of
from api.schema.record import Record
from api.schema.ref import Node, named_by, ref_from
from api.schema.revert import RevertScope
from api.schema.view import Fleet
from api.schema.workload import object_of
from graph.model import access, inventory
from graph.model.errors import Invalid, NotFound
from graph.model.names import Revision as CoreRevision
from graph.model.names import quoted
from graph.model.ref import Kind, Ref
from graph.model.view import FleetView, entity_of

NODES_MAX = 1_000

Info = strawberry.Info[Context, None]


@strawberry.type(description="Everything that can be asked.")
class Query:
    """The roots of reading."""

    @strawberry.field(
        description="The fleet at one revision: the newest, or as of an earlier revision or time."
    )
    def fleet(
        self,
        info: Info,
        as_of: Annotated[
            RevisionOrTime | None, strawberry.argument(description="An earlier revision or time.")
        ] = None,
        at_least: Annotated[
            Revision | None,
            strawberry.argument(
                description="Wait, for a bounded time, until this process has this revision."
            ),
        ] = None,
    ) -> Fleet:
        """The fleet; only where waiting is asked for does this wait."""
        context = info.context
        if as_of is None and at_least is None:
            return Fleet(context=context, view=context.seen)
        return _fleet(context, as_of, at_least)  # type: ignore[return-value]  # the executor awaits it

    @strawberry.field(
        description="Any object by its global id, at the revision the id is of; null if it is not"
        " there."
    )
    async def node(
        self, info: Info, id: Annotated[strawberry.ID, strawberry.argument(description="The id.")]
    ) -> Node | None:
        """One object."""
        return await _node(info.context, id)

    @strawberry.field(
        description="Objects by their global ids, each at the revision its id is of; null where one"
        " is not there. As many earlier revisions as asOf may name in one request."
    )
    async def nodes(
        self,
        info: Info,
        ids: Annotated[list[strawberry.ID], strawberry.argument(description="The ids.")],
    ) -> list[Node | None]:
        """Several objects, in the order asked for."""
        if len(ids) > NODES_MAX:
            raise Invalid(f"{len(ids):,} ids", hint=f"ask for at most {NODES_MAX:,}")
        return [await _node(info.context, each) for each in ids]

    @strawberry.field(description="The change log, newest first.")
    async def changesets(
        self,
        info: Info,
        first: First = CHANGESETS,
        after: Annotated[
            Cursor | None, strawberry.argument(description="The endCursor of the page before.")
        ] = None,
        actor: Annotated[
            str | None, strawberry.argument(description="Only those of this actor.")
        ] = None,
        touching: Annotated[
            strawberry.ID | None,
            strawberry.argument(
                description="Only those that changed the object with this id, of whatever revision."
            ),
        ] = None,
    ) -> ChangesetConnection:
        """The log."""
        ref = None if touching is None else ref_from(touching)
        return await changesets(info.context, first=first, after=after, actor=actor, touching=ref)

    @strawberry.field(description="What a batch would do, computed and not written.")
    async def preview(
        self,
        info: Info,
        input: Annotated[ApplyInput, strawberry.argument(description="The batch.")],
    ) -> PreviewResult:
        """A dry run."""
        info.context.usage.fresh = True
        return await preview(info.context, input)

    @strawberry.field(
        description="What a revert would do, and what it would leave as it is; not written."
    )
    async def preview_revert(
        self,
        info: Info,
        to: Annotated[
            RevisionOrTime, strawberry.argument(description="The revision or time to go back to.")
        ],
        scope: Annotated[RevertScope, strawberry.argument(description="What is taken back.")],
    ) -> PreviewResult:
        """A dry run of a revert."""
        info.context.usage.fresh = True
        return await preview_revert(info.context, to, scope)

    @strawberry.field(
        description="What happened to an object that is no longer there, newest first: the last of"
        " its kind to be removed under this name."
    )
    async def history_of_gone(
        self,
        info: Info,
        kind: Annotated[ObjectKind, strawberry.argument(description="What kind of object.")],
        name: Annotated[
            Name, strawberry.argument(description="Its last name; of a group the last segment.")
        ],
        first: First = LINES,
        after: AfterRevision = None,
    ) -> list[HistoryLine] | None:
        """The past of what is gone."""
        context = info.context
        count = checked_first(first, LINES_MAX, "changes")
        with inside("name"):
            gone = Kind(str(kind.value))
            lines = await context.engine.history_of_gone(gone, name, context.access)
        return told(lines, context.seen, count, after)

    @strawberry.field(
        description="What renderers have brought out, by name, and how far it is behind the newest"
        " revision."
    )
    async def publications(self, info: Info) -> list[Publication]:
        """Every publication."""
        return await publications_of(info.context, info.context.view.cursor.revision)

    @strawberry.field(
        description="Is my change in git? What renderers have brought out, by name, and how far it"
        " is behind this revision: 0 where the change has arrived."
    )
    async def published(
        self,
        info: Info,
        revision: Annotated[
            Revision, strawberry.argument(description="The revision of the change's receipt.")
        ],
    ) -> list[Publication] | None:
        """Every publication, seen from a revision that is there or about to be."""
        context, asked = info.context, CoreRevision(revision)
        _need(context, asked)
        return await publications_of(context, asked)

    @strawberry.field(
        description="The record of this fleet: which store it is, how far it has come, and whether"
        " a cursor that somebody kept belongs to it."
    )
    def record(self, info: Info) -> Record:
        """The record; nothing of it is kept."""
        info.context.usage.fresh = True
        return Record(context=info.context)

    @strawberry.field(description="Who you are, and what you may do.")
    def viewer(self, info: Info) -> Viewer:
        """The actor."""
        info.context.usage.fresh = True
        return Viewer(context=info.context)


async def _fleet(
    context: Context, as_of: RevisionOrTime | None, at_least: Revision | None
) -> Fleet:
    if at_least is not None:
        _need(context, CoreRevision(at_least))
    if as_of is None:
        return Fleet(context=context, view=context.seen)
    view = await context.at(as_of.value)
    return Fleet(context=context.showing(view.cursor.revision), view=view)


def _need(context: Context, revision: CoreRevision) -> None:
    """Refuse a revision newer than the request: it is answered again once that is reached."""
    if context.view.cursor.revision < revision:
        raise Ahead(revision)


async def _node(context: Context, identity: str) -> Node | None:
    """The object with a global id, at the revision that the id is of."""
    named = named_by(identity)
    if named.in_preview:
        raise NotFound(
            f"{quoted(identity)} was in a preview, and previews are not kept",
            hint="ask for the preview again, or leave out what follows the @",
        )
    if named.revision is None:
        return node_of(context, context.seen, named.ref)
    view = await context.at(named.revision)
    return node_of(context.showing(named.revision), view, named.ref)


def node_of(context: Context, view: FleetView, ref: Ref) -> Node | None:
    """An object of ``view``, as far as it may be seen."""
    entity = entity_of(view, ref)
    found: Node | None = None
    match entity:
        case inventory.Cluster():
            found = Cluster(context=context, view=view, number=entity.number)
        case inventory.Group():
            found = Group(context=context, view=view, group=entity)
        case inventory.Hierarchy():
            found = Hierarchy(context=context, view=view, hierarchy=entity)
        case inventory.LabelKey():
            found = LabelKey(context=context, view=view, key=entity)
        case inventory.SavedSelector():
            found = SavedSelector(context=context, view=view, saved=entity)
        case access.Grant() if context.access.reads_grants:
            found = Grant(context=context, view=view, grant=entity)
        case access.Grant() | None:
            pass
        case _:
            found = object_of(context, view, entity)
    return found
