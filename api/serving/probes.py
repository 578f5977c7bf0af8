"""Probes: whether the process lives, and whether it should be sent requests.

Both answer without a token, from memory. Alive is whoever turns its event loop: a process that is
cut off from its store lives on and serves what it knows. Ready is whoever has heard from the store
lately enough for its answers to be worth having, and is not about to stop.
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.web.stopping import Stopping
from graph.engine import Engine
from graph.model.names import Revision


@dataclass(frozen=True, slots=True)
class State:
    """What ``/readyz`` says."""

    revision: Revision
    age_seconds: float
    """Since the store last answered."""
    why_not: str
    """Why requests should go elsewhere; empty if they should not."""

    @property
    def ready(self) -> bool:
        """Whether requests should be sent here."""
        return not self.why_not


class Readiness:
    """Whether requests should be sent to this process."""

    def __init__(self, engine: Engine, *, stale_seconds: float) -> None:
        self._engine = engine
        self._stale_seconds = stale_seconds
        self.stopping = Stopping()

    @property
    def draining(self) -> bool:
        """Whether the process is about to stop."""
        return self.stopping.begun.is_set()

    def drain(self) -> None:
        """Send no more requests, and let go of streams."""
        self.stopping.begun.set()

    def state(self) -> State:
        """How it stands now."""
        age_seconds = self._engine.age_seconds
        why_not = ""
        if self.draining:
            why_not = "the process is stopping"
        elif age_seconds > self._stale_seconds:
            why_not = (
                f"the store has not answered for {age_seconds:,.0f} s,"
                f" more than the {self._stale_seconds:,.0f} s allowed"
            )
        return State(self._engine.view.cursor.revision, age_seconds, why_not)


def probe_routes(readiness: Readiness) -> list[Route]:
    """``/livez`` and ``/readyz``."""

    async def livez(request: Request) -> Response:
        return _answer({"live": True}, 200)

    async def readyz(request: Request) -> Response:
        state = readiness.state()
        body: dict[str, object] = {
            "ready": state.ready,
            "revision": state.revision,
            "ageSeconds": round(state.age_seconds, 3),
        }
        if not state.ready:
            body["why"] = state.why_not
        return _answer(body, 200 if state.ready else 503)

    return [Route("/livez", livez), Route("/readyz", readyz)]


def _answer(body: dict[str, object], status: int) -> Response:
    headers = {"cache-control": "no-store"}
    return Response(orjson.dumps(body), status, headers, "application/json")
