"""The one table that translates refusals: into HTTP statuses and GraphQL errors.

The core speaks of what happened; how that is said over the wire is decided here and nowhere else.
An exception that is no refusal is a fault of ours. It is logged once, with its trace and an id;
the caller gets the id and nothing else.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from secrets import token_hex
from typing import Any

from graphql import GraphQLError

from api.caller.identity import Unauthenticated
from api.refusals import (
    NoMedia,
    PersistedQueryNotFound,
    PersistedQueryNotSupported,
    TooLarge,
    TooMany,
    TooSlow,
    WrongMedia,
    WrongMethod,
)
from graph.model import errors as core
from graph.model.errors import SelectorInvalid, SelectorNotFound, TrellisError
from graph.model.names import shortened

MESSAGE_LENGTH_MAX = 1_000
"""Characters of a message of GraphQL itself, which may quote what was sent."""

BAD_REQUEST = "BAD_REQUEST"
"""The code of a document or variables that GraphQL itself refuses."""
INTERNAL = "INTERNAL"
"""The code of a fault of ours."""

_UNSAID = frozenset({"choice"})
"""Steps of the core's commands that inputs do not have: its fields are theirs."""

_log = logging.getLogger(__name__)


STATUSES: Mapping[type[TrellisError], int] = {
    core.Invalid: 400,
    TooLarge: 413,
    TooSlow: 408,
    WrongMethod: 405,
    NoMedia: 406,
    PersistedQueryNotFound: 200,  # clients that see another status never send the text
    PersistedQueryNotSupported: 200,
    WrongMedia: 415,
    core.NotFound: 404,
    core.RevisionExpired: 410,
    core.Conflict: 409,
    core.Denied: 403,
    Unauthenticated: 401,
    core.Rejected: 422,
    core.Unavailable: 503,
    TooMany: 429,
}
"""The HTTP status of a request that is refused as a whole; a subclass has its parent's."""


def status_of(error: BaseException) -> int:
    """The HTTP status of a request that ``error`` ended; 500 for what is no refusal."""
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 500)


def headers_of(error: BaseException) -> dict[str, str]:
    """What the answer's headers say about ``error``: how to ask, and when to ask again."""
    match error:
        case Unauthenticated():
            return {"www-authenticate": "Bearer"}
        case WrongMethod(allow=methods):
            return {"allow": methods}
        case TooLarge() | TooSlow():
            return {"connection": "close"}  # the rest of it is not read
        case TooMany(retry_seconds=seconds):
            return {"retry-after": str(max(1, math.ceil(seconds)))}
        case _:
            return {}


def graphql_error(
    error: GraphQLError, *, error_id_source: Callable[[], str] = lambda: token_hex(8)
) -> dict[str, Any]:
    """``error`` as an answer lists it; a fault of ours is masked and logged."""
    cause = _cause(error)
    if isinstance(cause, TrellisError):
        message, extensions = _said(error, cause), extensions_of(cause)
    elif cause is None:
        message, extensions = shortened(error.message, MESSAGE_LENGTH_MAX), {"code": BAD_REQUEST}
    else:
        message, extensions = _masked(cause, _place(error), error_id_source())
    found: dict[str, Any] = {"message": message}
    if error.locations:
        found["locations"] = [place.formatted for place in error.locations]
    if error.path is not None:
        found["path"] = list(error.path)
    found["extensions"] = extensions
    return found


def refusal(error: TrellisError) -> dict[str, Any]:
    """A request that ``error`` ends before any document is read, as an answer lists it."""
    return {"message": error.message, "extensions": extensions_of(error)}


def fault(error: Exception) -> dict[str, Any]:
    """A request that a fault of ours ended, as an answer lists it; masked and logged."""
    message, extensions = _masked(error, "the request", token_hex(8))
    return {"message": message, "extensions": extensions}


def extensions_of(error: TrellisError) -> dict[str, Any]:
    """What programs read of ``error``."""
    found: dict[str, Any] = {"code": error.code, "hint": error.hint}
    if error.path:
        found["path"] = told_path(error.path)
    if isinstance(error, SelectorInvalid | SelectorNotFound):
        found |= {"column": error.span.column, "length": error.span.length}
    if isinstance(error, SelectorNotFound):
        found["nearest"] = list(error.nearest)
    if isinstance(error, core.Rejected):
        found["reasons"] = list(error.reasons)
    return found


def told_path(path: Iterable[str | int]) -> list[str]:
    """Where in the input something is wrong, by the names that the input has for it."""
    steps = (str(step) for step in path if step not in _UNSAID)
    return [_camel(step) if "_" in step else step for step in steps]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(each.capitalize() for each in rest)


def _masked(cause: Exception, place: str, error_id: str) -> tuple[str, dict[str, Any]]:
    """What is said of a fault of ours; the log has the rest, under the same id."""
    _log.error("error %s at %s", error_id, place, exc_info=cause)
    return "something went wrong", {"code": INTERNAL, "errorId": error_id}


def _cause(error: GraphQLError) -> Exception | None:
    """What a GraphQL error stands for; None if it is GraphQL's own."""
    cause: Exception | None = error
    while isinstance(cause, GraphQLError):
        cause = cause.original_error
    return cause


def _said(error: GraphQLError, cause: TrellisError) -> str:
    """The refusal's own words; where GraphQL says more, as which variable, its words with them."""
    own = str(cause)
    if error.message == own or not error.message.endswith(own):
        return cause.message
    return shortened(error.message.removesuffix(own), MESSAGE_LENGTH_MAX) + cause.message


def _place(error: GraphQLError) -> str:
    return ".".join(map(str, error.path)) if error.path else "the request"
