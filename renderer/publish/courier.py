"""Artifacts brought out beside the worker: a registry that is away holds nobody up.

After each commit, and now and then without one, the newest commit is delivered. What fails is said
and tried again; commits in between are not delivered one by one, only the newest counts.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable

from graph.model.errors import TrellisError
from renderer.artifact.edition import Edition
from renderer.publish.oci import Delivered, Delivery
from renderer.tree import Head

_log = logging.getLogger(__name__)


class Courier:
    """Delivers the newest commit whenever there is one."""

    def __init__(
        self,
        delivery: Delivery,
        look: Callable[[], Head],
        *,
        retry_seconds: float = 60.0,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._delivery = delivery
        self._look = look
        self._retry_seconds = retry_seconds
        self._now = now
        self._news = asyncio.Event()
        self._alone = threading.Lock()

    def notice(self) -> None:
        """There is a new commit; on the event loop."""
        self._news.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        self._news.set()
        while True:
            try:
                async with asyncio.timeout(self._retry_seconds):
                    await self._news.wait()
            except TimeoutError:
                pass  # something may wait to be collected, or to be tried again
            self._news.clear()
            try:
                await self.deliver()
            except (TrellisError, OSError) as error:
                _log.warning("artifacts are not brought out: %s", error)

    def wait(self) -> None:
        """Until no delivery is on its way any more: one that was cancelled may still be."""
        with self._alone:
            pass

    async def deliver(self) -> Delivered:
        """Deliver the newest commit now."""
        done = await asyncio.to_thread(self._deliver)
        for each in done.refused:
            _log.warning("no artifact is made: %s", each)
        for place in done.left:
            _log.warning("the registry keeps %s:%s", *place)
        return done

    def _deliver(self) -> Delivered:
        with self._alone:
            head = self._look()
            return self._delivery.deliver(Edition(head.tree, head.commit), self._now())
