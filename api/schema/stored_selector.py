"""Selectors that objects hold, as they travel: as text, as a tree, and what they choose."""

from __future__ import annotations

import strawberry

from api.context import Context
from api.schema.listing import First
from api.schema.names import Json
from api.schema.page import PAGE, After, Asked, ClusterConnection
from graph.model.selector import Selector
from graph.model.view import FleetView
from graph.page import Order
from graph.scoped import readable
from graph.targeting.structured import to_structured
from graph.targeting.syntax import to_text


@strawberry.type(
    description="A selector an object holds. It means the groups it names, wherever they are now."
)
class StoredSelector:
    """A selector of one view."""

    context: strawberry.Private[Context]
    view: strawberry.Private[FleetView]
    selector: strawberry.Private[Selector]

    @strawberry.field(
        description="Its canonical text; null when it names something you may not see."
    )
    def text(self) -> str | None:
        """The one text of this selector."""
        return to_text(self.selector, self.view) if self._is_readable() else None

    @strawberry.field(
        description="The same as a tree; what SelectorInput takes. Null where the text is."
    )
    def tree(self) -> Json | None:
        """The structured form."""
        return Json(to_structured(self.selector, self.view)) if self._is_readable() else None

    @strawberry.field(description="How many clusters it chooses.")
    def count(self) -> int:
        """The size of its answer."""
        return self.context.engine.count(self.selector, self.view)

    @strawberry.field(description="The clusters it chooses, by name.")
    def clusters(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """Its answer, a page at a time."""
        asked = Asked(self.context, self.view, self.selector, first, Order.NAME, after)
        return ClusterConnection(asked=asked)

    def _is_readable(self) -> bool:
        return readable(self.selector, self.view)
