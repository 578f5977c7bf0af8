"""Commands run to their end, or to the point where somebody interrupts them.

``asyncio.run`` cancels from inside the signal's handler, in the middle of whatever the loop is
doing. Where that is just filling in an answer, the answer is cancelled half way and the loop tells
of an error that is none. So here an interrupt waits for its turn in the loop; a second does not.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any, TypeVar

_T = TypeVar("_T")
Handler = Callable[[int, FrameType | None], object]


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run ``work``; ``KeyboardInterrupt`` when it was interrupted and has cleaned up."""
    return asyncio.run(_interruptible(work))


def interrupted_at_once() -> AbstractContextManager[None]:
    """What waits outside of the loop, as for standard input, is ended by the first interrupt."""
    return _interrupted_by(signal.default_int_handler)


async def _interruptible(work: Coroutine[Any, Any, _T]) -> _T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "it runs in one"
    interrupts = 0

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(task.cancel)

    with _interrupted_by(interrupt):
        try:
            return await work
        except asyncio.CancelledError:
            if interrupts:
                raise KeyboardInterrupt from None
            raise


@contextmanager
def _interrupted_by(handler: Handler) -> Generator[None]:
    """Interrupts go to ``handler``, unless whoever started this process wants none to."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
