"""What one request works with: who asks, and the one view all of its answer comes from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from secrets import token_hex

from api.caller.identity import Identified
from api.settings import ApiSettings
from graph.access import Access
from graph.effective.reading import Reading
from graph.engine import Engine, Preview
from graph.index.snapshot import Snapshot
from graph.model.access import Actor
from graph.model.errors import Invalid
from graph.model.names import Revision
from graph.model.view import FleetView


def _nothing_earlier() -> set[Revision | datetime]:
    return set()


def _nothing_imagined() -> dict[int, Reading]:
    return {}


@dataclass(slots=True)
class Usage:
    """What a request has read so far, whichever of its views it was read from."""

    earlier: set[Revision | datetime] = field(default_factory=_nothing_earlier)
    """What it has read as of, but for the newest; there is a bound on how many."""
    tree_rows: int = 0
    """Rows of the trees it has read; there is a bound on them all."""
    fresh: bool = False
    """Whether the answer read something that is not of the revision alone, as an age."""
    imagined: dict[int, Reading] = field(default_factory=_nothing_imagined)
    """What would run where in views of a preview, which are of no revision, by the view's id."""


@dataclass(slots=True)
class Context:
    """One request. Make it with ``pin``; resolvers read the fleet through ``seen`` alone."""

    engine: Engine
    settings: ApiSettings
    identified: Identified
    access: Access
    view: Snapshot
    """The newest view when the request began."""
    seen: FleetView
    """What of ``view`` the actor may see."""
    id_suffix: str = ""
    """What the ids of objects end with that are read through it: nothing for those of today."""
    usage: Usage = field(default_factory=Usage)

    @staticmethod
    def pin(
        engine: Engine,
        settings: ApiSettings,
        identified: Identified,
        access: Access | None = None,
    ) -> Context:
        """A request of ``identified``, at the newest view.

        ``access`` is theirs, if it was looked up without waiting for anything since.
        """
        if access is None:
            access = engine.access(identified.actor)
        view = engine.view
        return Context(engine, settings, identified, access, view, engine.seen(access, view))

    @property
    def actor(self) -> Actor:
        """Who asks."""
        return self.identified.actor

    async def at(self, when: Revision | datetime) -> FleetView:
        """What the actor may see of an earlier view; a request reads few distinct ones."""
        if when == self.view.cursor.revision:
            return self.seen
        earlier = self.usage.earlier
        if when not in earlier:
            if len(earlier) >= self.settings.as_of_max:
                raise Invalid(
                    f"the request reads more than {self.settings.as_of_max:,} earlier revisions",
                    hint="ask for them in several requests",
                )
            earlier.add(when)  # before waiting: other fields of the request ask meanwhile
        return self.engine.seen(self.access, await self.engine.as_of(when))

    def showing(self, revision: Revision) -> Context:
        """The same request, for objects as they are at ``revision``, whatever comes after it."""
        return replace(self, id_suffix=f"@{revision}")

    def imagining(self, preview: Preview) -> Context:
        """The same request, for the objects of a preview as they would be."""
        self.usage.imagined[id(preview.after)] = preview.reading
        return replace(self, id_suffix=f"@{preview.base.revision}+{token_hex(8)}")

    async def reading(self, view: FleetView) -> Reading:
        """What runs where in ``view``, as far as it shows that."""
        return self.usage.imagined.get(id(view)) or await self.engine.reading(view)

    def count_tree_rows(self, rows: int) -> None:
        """Refuse trees that together have more rows than one request may read."""
        self.usage.tree_rows += rows
        if self.usage.tree_rows > self.settings.tree_rows_max:
            raise Invalid(
                f"the trees of the request have more than {self.settings.tree_rows_max:,} rows",
                hint="choose a deeper root, a smaller depth or a narrower selector",
            )

    def begin(self) -> None:
        """The answer is made from its beginning, perhaps not for the first time."""
        self.usage.earlier.clear()
        self.usage.tree_rows = 0
