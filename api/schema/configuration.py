"""The distinct configurations of an application as they travel."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error

import strawberry

from api.context import Context
from api.schema.effective import LayeredValue, Obstacle, leaves_of, obstacles_of
from api.schema.listing import First, checked_first
from api.schema.names import Json, Name
from api.schema.page import PAGE, After, ClusterConnection, PageInfo, page_of
from graph.effective.configuration import Configuration as CoreConfiguration
from graph.effective.configuration import Told, configurations, layers_of, told
from graph.effective.obstacle import problem_told
from graph.effective.reading import Reading
from graph.model.errors import Invalid

CONFIGURATIONS = 20
CONFIGURATIONS_MAX = 200
"""Configurations in one page."""


@strawberry.type(description="One distinct configuration of an application.")
class Configuration:
    """Clusters that the same layers reach."""

    context: strawberry.Private[Context]
    reading: strawberry.Private[Reading]
    application: strawberry.Private[str]
    found: strawberry.Private[CoreConfiguration]

    @strawberry.field(description="Its key, which names its overlay.")
    def key(self) -> str:
        """The overlay's key."""
        return self.found.key

    @strawberry.field(
        description="The layers that tell it from others, weakest first, of those you may see."
    )
    def layers(self) -> list[Name]:
        """The layers."""
        definition = self.reading.state.definitions[self.application]
        return [Name(name) for name in layers_of(definition, self.found.names, self.reading)]

    @strawberry.field(description="The same for the same values.")
    def digest(self) -> str:
        """The digest of its values."""
        return self._told().digest

    @strawberry.field(description="How many clusters have it.")
    def count(self) -> int:
        """The count."""
        return len(self.found.clusters)

    @strawberry.field(description="The clusters that have it, by name.")
    def clusters(self, first: First = PAGE, after: After = None) -> ClusterConnection:
        """The clusters, a page at a time."""
        return page_of(self.context, self.reading.view, self.found.clusters, first, after)

    @strawberry.field(
        description="Its composed values. What layers set that you may not see is left out."
    )
    def values(self) -> Json:
        """The values."""
        return Json(self._told().values)

    @strawberry.field(description="Every one of its values with the layer that gave it.")
    def origins(self) -> list[LayeredValue]:
        """The values with their layers."""
        return leaves_of(self._told().leaves)

    @strawberry.field(description="What is wrong with its values.")
    def obstacles(self) -> list[Obstacle]:
        """Problems of schema and order."""
        placement = self.reading.placement(self.application)
        problems = placement.problems.get(self.found.names, ())
        found = (problem_told(each, self.reading) for each in problems)
        return obstacles_of(found, self.context.id_suffix)

    def _told(self) -> Told:
        stack = self.reading.state.definitions[self.application].stack
        return told(stack, self.found.names, self.reading)


@strawberry.type(description="A configuration and its place in the page.")
class ConfigurationEdge:
    """The Relay edge."""

    cursor: str = strawberry.field(description="Pass it as `after` to begin right behind.")
    node: Configuration = strawberry.field(description="The configuration.")


@strawberry.type(description="Configurations, those of most clusters first, a page at a time.")
class ConfigurationConnection:
    """The Relay connection."""

    shown: strawberry.Private[list[Configuration]]
    begun: strawberry.Private[bool]
    more: strawberry.Private[bool]

    total_count: int = strawberry.field(description="How many there are in all.")

    @strawberry.field(description="The configurations of this page.")
    def nodes(self) -> list[Configuration]:
        """The configurations, without cursors."""
        return self.shown

    @strawberry.field(description="The configurations of this page with their cursors.")
    def edges(self) -> list[ConfigurationEdge]:
        """The configurations with cursors."""
        return [ConfigurationEdge(cursor=_cursor(each.found), node=each) for each in self.shown]

    @strawberry.field(description="Where the page begins and ends.")
    def page_info(self) -> PageInfo:
        """The Relay page."""
        ends = [_cursor(each.found) for each in (*self.shown[:1], *self.shown[-1:])]
        return PageInfo(
            has_next_page=self.more,
            has_previous_page=self.begun,
            start_cursor=ends[0] if ends else None,
            end_cursor=ends[-1] if ends else None,
        )


def connection_of(
    context: Context, reading: Reading, application: str, first: int, after: str | None
) -> ConfigurationConnection:
    """A page of the configurations of an application."""
    count = checked_first(first, CONFIGURATIONS_MAX, "configurations")
    found = configurations(reading, application)
    behind = found if after is None else _behind(found, after)
    shown = [
        Configuration(context=context, reading=reading, application=application, found=each)
        for each in behind[:count]
    ]
    return ConfigurationConnection(
        shown=shown, begun=after is not None, more=len(behind) > count, total_count=len(found)
    )


def _cursor(found: CoreConfiguration) -> str:
    return urlsafe_b64encode(f"{len(found.clusters)}.{found.key}".encode()).decode().rstrip("=")


def _behind(found: list[CoreConfiguration], after: str) -> list[CoreConfiguration]:
    """Those behind a cursor, in the order of the list, whether it is still there or not."""
    try:
        count, key = urlsafe_b64decode(after + "=" * (-len(after) % 4)).decode().split(".", 1)
        place = (-int(count[:10]), key)
    except (Base64Error, ValueError):
        raise Invalid(
            "`after` is no cursor of this list",
            hint="pass an endCursor exactly as it was received",
            path=("after",),
        ) from None
    return [each for each in found if (-len(each.clusters), each.key) > place]
