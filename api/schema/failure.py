"""A refusal of the core as a member of a result: one type for each branch of the tree."""

from __future__ import annotations

from typing import Any

from api.problems import told_path
from api.schema import errors as wire
from api.schema.explanation import SelectorProblem, problem_of
from api.schema.names import Revision
from graph.model import errors as core
from graph.model.errors import SelectorInvalid, SelectorNotFound, TrellisError


def failure_of(error: TrellisError, head: int) -> wire.Refusal:
    """``error`` as a member of a result; ``head`` is the revision the fleet is at."""
    said: dict[str, Any] = {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "path": told_path(error.path),
    }
    match error:
        case core.Invalid():
            return wire.Invalid(**said, selector=_selector_problem(error))
        case core.NotFound():
            return wire.NotFound(**said, selector=_selector_problem(error))
        case core.Conflict():
            return wire.Conflict(**said, revision=Revision(head))
        case core.Denied():
            return wire.Denied(**said)
        case core.Rejected():
            return wire.Rejected(**said, reasons=list(error.reasons))
        case core.Unavailable():
            return wire.Unavailable(**said)
        case _:
            raise error  # a branch of the tree that this table does not know


def _selector_problem(error: TrellisError) -> SelectorProblem | None:
    located = isinstance(error, SelectorInvalid | SelectorNotFound)
    return problem_of(error) if located else None
