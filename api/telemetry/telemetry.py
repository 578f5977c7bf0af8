"""What the process tells about itself: one object that metrics, traces and log lines go through.

It is made before the engine, which is handed ``trace``, and before the app, which tells it of
every operation. Nothing of it is global, so two of them in one process do not meet.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from hmac import compare_digest

from opentelemetry.sdk.trace.export import SpanExporter
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.settings import TelemetrySettings
from api.telemetry.logs import AccessLines, bounded
from api.telemetry.metrics import Durations, Gauges, Metrics, Tallies
from api.telemetry.traces import Traces, trace_id
from graph.engine import Engine
from graph.model.errors import TrellisError

COMMIT = "commit"
RECONSTRUCT = "reconstruct"
"""The work of the core that is measured as well as traced."""


class Telemetry:
    """Metrics, traces and operations' lines of one serving process."""

    def __init__(
        self,
        settings: TelemetrySettings,
        *,
        access: AccessLines | None = None,
        exporter: Callable[[str], SpanExporter] | None = None,
    ) -> None:
        self.tallies = Tallies()
        self._measured = {
            COMMIT: self.tallies.commits,
            RECONSTRUCT: self.tallies.reconstructions,
        }
        self.traces = Traces(settings, exporter)
        self._serves_metrics = settings.metrics
        self._metrics_token = settings.metrics_token.get_secret_value()
        self._access = access if access is not None and access.wanted else None
        self._slow_seconds = settings.slow_seconds
        self._metrics: Metrics | None = None

    def watch(self, engine: Engine) -> None:
        """Read the fleet's numbers off ``engine``; there are no metrics before."""
        if self._serves_metrics:
            gauges = Gauges(
                revision=lambda: engine.view.cursor.revision,
                age_seconds=lambda: engine.age_seconds,
                clusters=lambda: len(engine.view.everything()),
            )
            self._metrics = Metrics(self.tallies, gauges)

    def trace(self, what: str, /, **facts: str | int) -> AbstractContextManager[object]:
        """What the core enters around its slow parts."""
        durations = self._measured.get(what)
        if durations is None:
            return self.traces.span(what, **facts)
        return self._measure(durations, what, facts)

    def done(
        self,
        kind: str,
        name: str,
        outcome: str,
        *,
        seconds: float,
        actor: str = "",
        revision: Callable[[], int] = int,
    ) -> None:
        """An operation has ended: ``outcome`` is ok, or the code of its first error.

        To be called inside the operation's span, if it has one. ``revision`` is asked only where a
        line shows it.
        """
        self.tallies.operations.add(seconds, kind, outcome)
        if self.traces.on:
            self.traces.describe(kind, bounded(name), outcome)
        access = self._access
        if access is not None and (access.all_wanted or self._is_notable(kind, outcome, seconds)):
            fields: dict[str, object] = {
                "kind": kind,
                "name": bounded(name),
                "outcome": outcome,
                "milliseconds": round(seconds * 1000, 3),
                "actor": bounded(actor),
                "revision": revision(),
            }
            if self.traces.on and (trace := trace_id()):
                fields["trace_id"] = trace
            access.add(time.time(), fields)

    def _is_notable(self, kind: str, outcome: str, seconds: float) -> bool:
        """Whether an operation is worth a line: it changed something, failed, or took long."""
        return kind != "query" or outcome != "ok" or seconds >= self._slow_seconds

    def routes(self) -> list[Route]:
        """``/metrics``, if it is served."""
        return [Route("/metrics", self._show)] if self._serves_metrics else []

    async def close(self) -> None:
        """Write and send what waits."""
        if self._access is not None:
            self._access.flush()
        if self._metrics is not None:
            self._metrics.close()
        await asyncio.to_thread(self.traces.close)

    async def _show(self, request: Request) -> Response:
        if self._metrics_token and not self._is_shown(request):
            return Response("show the metrics token", 401, {"www-authenticate": "Bearer"})
        body = self._metrics.exposition() if self._metrics is not None else b""
        return Response(body, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    def _is_shown(self, request: Request) -> bool:
        """Whether a request has the token; comparing tells nothing of it."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        wanted = self._metrics_token.encode()
        return scheme.lower() == "bearer" and compare_digest(token.strip().encode(), wanted)

    @contextmanager
    def _measure(
        self, durations: Durations, what: str, facts: dict[str, str | int]
    ) -> Generator[None]:
        started = time.perf_counter()
        outcome = "ok"
        try:
            with self.traces.span(what, **facts):
                yield
        except TrellisError as error:
            outcome = error.code
            raise
        except BaseException:
            outcome = "INTERNAL"
            raise
        finally:
            durations.add(time.perf_counter() - started, outcome)
