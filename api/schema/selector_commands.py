"""Commands on saved selectors as they travel."""

from __future__ import annotations

import strawberry

from api.schema.names import Name
from api.schema.selector import SelectorInput, written
from graph.model import command as core

BATCH = " It may name what earlier commands of the same batch make."
"""What a description says about a selector inside a command."""


@strawberry.input(description="Keep a selector under a name, new or existing.")
class SaveSelectorInput:
    """As ``graph.model.command.SaveSelector``; so for all below."""

    name: Name = strawberry.field(description="The name; others use it as @name.")
    selector: SelectorInput = strawberry.field(description="The selector." + BATCH)
    title: str = strawberry.field(default="", description="What people call it.")

    def command(self) -> core.SaveSelector:
        """The core's command."""
        return core.SaveSelector(self.name, written(self.selector), self.title)


@strawberry.input(description="Forget a saved selector nobody uses.")
class DeleteSelectorInput:
    """What to forget."""

    name: Name = strawberry.field(description="The saved selector.")

    def command(self) -> core.DeleteSelector:
        """The core's command."""
        return core.DeleteSelector(self.name)
