"""Work that goes on to its end, whether or not its caller still waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from graph.model.errors import TrellisError

T = TypeVar("T")

_log = logging.getLogger(__name__)


async def finished(work: Coroutine[Any, Any, T]) -> T:
    """What comes of ``work``; a caller that goes away does not stop it."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_log_outcome)
        raise


def _log_outcome(task: asyncio.Task[Any]) -> None:
    """Take the outcome nobody waits for; a refusal is no news, a fault of ours is."""
    error = None if task.cancelled() else task.exception()
    if isinstance(error, TrellisError):
        _log.debug("refused after its caller had gone: %s", error.message)
    elif error is not None:
        _log.error("failed after its caller had gone", exc_info=error)
