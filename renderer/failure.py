"""Why something cannot be rendered, said so that its owner finds the place."""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.errors import TrellisError, Unavailable


@dataclass(frozen=True, slots=True)
class Failure:
    """An overlay that could not be made. It is held; nothing else is."""

    message: str
    hint: str = ""
    file: str = ""
    """The template or the owner's file."""
    line: int = 0
    """Counted from one; zero where there is none."""
    layer: str = ""
    """The layer that gave the value, where one is to blame."""
    stopped: bool = False
    """Whether it took too long or too much: to try it again costs as much again."""


class Unrenderable(Exception):
    """Raised where an overlay is made; caught where the step is planned."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def failure_of(error: Unrenderable | TrellisError) -> Failure:
    """What is held because of ``error``; raised again where the same may succeed later."""
    if isinstance(error, Unrenderable):
        return error.failure
    if isinstance(error, Unavailable):
        raise error
    return Failure(error.message, error.hint)
