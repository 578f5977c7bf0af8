"""Work that blocks, done beside the event loop: one piece at a time, each to its end.

A plan or a commit that has begun cannot be taken back half-way. Whoever is cancelled while one is
under way leaves when it is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


class Thread:
    """One thread for everything that touches what is published."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, "render")

    async def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``work`` returns or raises."""
        doing = asyncio.wrap_future(self._executor.submit(work, *args, **kwargs))
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            await asyncio.gather(doing, return_exceptions=True)
            raise

    def close(self) -> None:
        """No more."""
        self._executor.shutdown()
