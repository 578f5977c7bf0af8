"""Media types: what a caller sends, and what it would have.

Both headers repeat endlessly, so the answer to each is remembered.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache


class Media(Enum):
    """The forms an answer can have."""

    GRAPHQL = b"application/graphql-response+json; charset=utf-8"
    JSON = b"application/json; charset=utf-8"
    EVENTS = b"text/event-stream; charset=utf-8"

    def __init__(self, text: bytes) -> None:
        self.header = (b"content-type", text)
        """What says so."""


_FORMS = {
    "application/graphql-response+json": Media.GRAPHQL,
    "application/json": Media.JSON,
    "text/event-stream": Media.EVENTS,
    "application/*": Media.JSON,
    "*/*": Media.JSON,
}


@lru_cache(maxsize=256)
def wanted(accept: bytes) -> Media | None:
    """The form a caller would rather have; None if we have none it takes.

    Without the header it is plain JSON: such callers are older than the other form.
    """
    if not accept.strip():
        return Media.JSON
    best: tuple[float, Media] | None = None
    for part in accept.decode("latin-1").split(","):
        kind, _, parameters = part.partition(";")
        form = _FORMS.get(kind.strip().lower())
        weight = _weight(parameters)
        if form is not None and weight > 0 and (best is None or weight > best[0]):
            best = (weight, form)
    return None if best is None else best[1]


def _weight(parameters: str) -> float:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                return min(max(float(value.strip()), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0


@lru_cache(maxsize=256)
def is_json(content_type: bytes) -> bool:
    """Whether a body is JSON in UTF-8: nothing a form on some web page could send."""
    kind, _, parameters = content_type.decode("latin-1").partition(";")
    if kind.strip().lower() != "application/json":
        return False
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"').lower() in ("utf-8", "utf8")
    return True
