"""How the core tells how long its slow parts take, without knowing who listens.

Whoever opens an engine may hand it a ``Trace``. It is entered around a commit and around every
transaction of a server, and sees how they end. The core itself neither measures nor records.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Trace(Protocol):
    """Something to enter while ``what`` is being done."""

    def __call__(self, what: str, /, **facts: str | int) -> AbstractContextManager[object]:
        """A context for one piece of work; ``facts`` say more about it."""
        ...


_NOTHING = nullcontext()


def untraced(what: str, /, **facts: str | int) -> AbstractContextManager[object]:
    """Nobody listens."""
    return _NOTHING
