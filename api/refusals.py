"""What only a door refuses: the form of a request, never what it asks of the fleet."""

from __future__ import annotations

from graph.model.errors import Invalid, Unavailable


class TooLarge(Invalid):
    """The request is larger than the door lets in."""

    code = "TOO_LARGE"


class TooSlow(Invalid):
    """The request did not arrive in time."""

    code = "TOO_SLOW"


class WrongMethod(Invalid):
    """The method is not answered here."""

    code = "METHOD_NOT_ALLOWED"

    def __init__(self, message: str, *, hint: str = "", allow: str = "POST") -> None:
        super().__init__(message, hint=hint)
        self.allow = allow


class WrongMedia(Invalid):
    """The body is in a form that is not taken."""

    code = "UNSUPPORTED_MEDIA_TYPE"


class NoMedia(Invalid):
    """The answer cannot be had in a form the caller takes."""

    code = "NOT_ACCEPTABLE"


class PersistedQueryNotFound(Invalid):
    """The hash of a document that is not known here; clients know this message."""

    code = "PERSISTED_QUERY_NOT_FOUND"

    def __init__(self) -> None:
        super().__init__(
            "PersistedQueryNotFound", hint="send the text of the query beside its hash, once"
        )


class PersistedQueryNotSupported(Invalid):
    """The hash of a document, where none is ever known; clients know this message."""

    code = "PERSISTED_QUERY_NOT_SUPPORTED"

    def __init__(self) -> None:
        super().__init__("PersistedQueryNotSupported", hint="send the text of the query")


class SlowReader(Unavailable):
    """The reader takes less than it is sent."""

    code = "SLOW_READER"


class TooMany(Unavailable):
    """The caller sends more than its share."""

    code = "TOO_MANY_REQUESTS"

    def __init__(self, message: str, *, hint: str = "", retry_seconds: float = 1.0) -> None:
        super().__init__(message, hint=hint)
        self.retry_seconds = retry_seconds
