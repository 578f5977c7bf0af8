"""Every refusal of the core, one tree.

    TrellisError
    |- Invalid            the request can never succeed as written
    |  '- SelectorInvalid    ... and this column of the selector is why
    |- NotFound           it names something that is not there
    |  |- SelectorNotFound   ... and this column of the selector names it
    |  |- LabelUndeclared    ... a label key that is to be declared before it is used
    |  '- RevisionExpired    ... a revision older than the log keeps
    |- Conflict           the fleet has changed, or another holds what this needs
    |  '- ResyncRequired     ... and a follower must start again from a snapshot
    |- Denied             the actor may not
    |- Rejected           a guard or a standing rule forbids it in this state
    '- Unavailable        it may succeed later, unchanged
       '- OutcomeUnknown     ... or it has succeeded: nobody could find out

Each carries what happened (``message``), what to do next (``hint``) and, when a batch is refused,
where in the batch (``path``). The core knows no HTTP or GraphQL code; the doors translate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class TrellisError(Exception):
    """Base of the tree; catch it at a door, never in the core."""

    code = "ERROR"

    def __init__(self, message: str, *, hint: str = "", path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = path

    def at(self, *prefix: str | int) -> TrellisError:
        """The same error, seen from further out: ``prefix`` leads to where it happened."""
        self.path = (*prefix, *self.path)
        return self

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class Invalid(TrellisError):
    """The request can never succeed as written."""

    code = "INVALID"


class NotFound(TrellisError):
    """The request names something that is not there."""

    code = "NOT_FOUND"


class Conflict(TrellisError):
    """The fleet has changed, or somebody else holds what this needs."""

    code = "CONFLICT"


class Denied(TrellisError):
    """The actor may not do this."""

    code = "DENIED"


class Rejected(TrellisError):
    """A guard or standing rule forbids this in the present state."""

    code = "REJECTED"

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        path: tuple[str | int, ...] = (),
        reasons: Sequence[str] = (),
        loss: int | None = None,
    ) -> None:
        super().__init__(message, hint=hint, path=path)
        self.reasons = tuple(reasons)
        self.loss = loss
        """What has to be stated as expected loss to go on, where that is what is wrong."""


class Unavailable(TrellisError):
    """The same request may succeed later."""

    code = "UNAVAILABLE"


class OutcomeUnknown(Unavailable):
    """A commit was cut off: it may have happened."""


class RevisionExpired(NotFound):
    """The revision is older than the log keeps."""

    code = "REVISION_EXPIRED"


class LabelUndeclared(NotFound):
    """A cluster would get a label whose key nobody declared; ``nearest`` are keys that are."""

    code = "LABEL_UNDECLARED"

    def __init__(
        self,
        message: str,
        *,
        nearest: Sequence[str] = (),
        hint: str = "",
        path: tuple[str | int, ...] = (),
    ) -> None:
        super().__init__(message, hint=hint, path=path)
        self.nearest = tuple(nearest)


class ResyncRequired(Conflict):
    """The cursor is too old, or of another history: start again from a snapshot."""

    code = "RESYNC_REQUIRED"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of selector text; columns count characters from 1."""

    column: int
    length: int


class SelectorInvalid(Invalid):
    """The selector cannot be read; ``span`` is where."""

    code = "SELECTOR_INVALID"

    def __init__(self, message: str, *, text: str, span: Span, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.text = text
        self.span = span


class SelectorNotFound(NotFound):
    """The selector names something that is not there; ``nearest`` are names that are."""

    code = "SELECTOR_NOT_FOUND"

    def __init__(
        self,
        message: str,
        *,
        text: str,
        span: Span,
        hint: str = "",
        nearest: Sequence[str] = (),
    ) -> None:
        super().__init__(message, hint=hint)
        self.text = text
        self.span = span
        self.nearest = tuple(nearest)
