"""Refusals as they travel: one type for each branch of the core's tree, one interface for all.

``api.problems`` makes them. What nobody expected is none of them: it is an error of the request,
masked.
"""

from __future__ import annotations

import strawberry

from api.schema.explanation import SelectorProblem
from api.schema.names import Revision


@strawberry.interface(description="Why a request was refused.")
class Failure:
    """What is wrong, where, and what to do next."""

    code: str = strawberry.field(description="The kind of failure, for programs.")
    message: str = strawberry.field(description="What is wrong.")
    hint: str = strawberry.field(description="What to do next; may be empty.")
    path: list[str] = strawberry.field(
        description="Where in the input: field names, and positions in lists from 0. Empty: the"
        " whole."
    )


@strawberry.type(description="The request can never succeed as written.")
class Invalid(Failure):
    """As ``graph.model.errors.Invalid``; so for all below."""

    selector: SelectorProblem | None = strawberry.field(
        description="Where in a selector, if it is a selector that cannot be read."
    )


@strawberry.type(description="The request names something that is not there.")
class NotFound(Failure):
    """A name that leads nowhere."""

    selector: SelectorProblem | None = strawberry.field(
        description="Where in a selector, if it is a selector that names it."
    )


@strawberry.type(description="The fleet has changed, or another holds what this needs.")
class Conflict(Failure):
    """Somebody was faster."""

    revision: Revision = strawberry.field(
        description="Where the fleet is now: read it at least there, and decide anew."
    )


@strawberry.type(description="You may not do this.")
class Denied(Failure):
    """It names nothing that may not be seen."""


@strawberry.type(description="A guard or a standing rule forbids this in the present state.")
class Rejected(Failure):
    """A rule stands against it."""

    reasons: list[str] = strawberry.field(description="What stands against it, a line each.")


@strawberry.type(description="The same request may succeed later.")
class Unavailable(Failure):
    """Whether a batch took effect may then be unknown; the message says so.

    Sent again under its idempotency key it takes effect once.
    """


Refusal = Invalid | NotFound | Conflict | Denied | Rejected | Unavailable
"""Any of them."""
