"""What a worker counts and times, as OpenTelemetry's instruments, read by Prometheus.

A worker does few things a second and large ones, so it tells its instruments directly.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.resources import Resource
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client import start_http_server as serve_http

from graph.model.errors import Unavailable

SCOPE = "trellis"
BOUNDS_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0)
"""Upper ends of the buckets of a duration."""


class Measures:
    """The metrics of one worker."""

    def __init__(self) -> None:
        self.heard_revision = 0
        """The newest revision that was told."""
        self.published_revision = 0
        self.held = 0
        """Applications, by reason, of which something is held back."""
        self._registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self._registry)
        reader = PrometheusMetricReader(registry=self._registry)
        self._provider = MeterProvider([reader], resource=Resource({}), shutdown_on_exit=False)
        meter = self._provider.get_meter(SCOPE)
        counter, seconds = meter.create_counter, meter.create_histogram
        self._commits = counter("trellis.render.commits", description="Commits published.")
        self._files = counter("trellis.render.files", description="Files written and removed.")
        self._steps = counter("trellis.render.steps", description="Steps planned.")
        self._overtaken = counter(
            "trellis.render.conflicts", description="Plans made anew: another worker was first."
        )
        self._reconnects = counter(
            "trellis.render.reconnects", description="Times it was begun again after a failure."
        )
        self._seconds = seconds(
            "trellis.render.duration",
            unit="s",
            description="How long planning and publishing took.",
            explicit_bucket_boundaries_advisory=BOUNDS_SECONDS,
        )
        meter.create_observable_gauge(
            "trellis.render.behind",
            [self._behind],
            description="Revisions told and not published yet.",
        )
        meter.create_observable_gauge(
            "trellis.render.revision", [self._revision], description="The revision published."
        )
        meter.create_observable_gauge(
            "trellis.render.held", [self._held], description="What is held back."
        )

    def published(self, revision: int, written: int, removed: int, held: int) -> None:
        """Something came out; where nothing differed, no file did."""
        self.published_revision = revision
        self.held = held
        if written or removed:
            self._commits.add(1)
            self._files.add(written, {"action": "written"})
            self._files.add(removed, {"action": "removed"})

    def heard(self, revision: int) -> None:
        """A step is complete."""
        self.heard_revision = revision
        self._steps.add(1)

    def overtaken(self) -> None:
        """Another worker was first."""
        self._overtaken.add(1)

    def failed(self) -> None:
        """It has to be begun again."""
        self._reconnects.add(1)

    @contextmanager
    def timed(self, what: str) -> Generator[None]:
        """How long ``what`` takes: plan or publish."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._seconds.record(time.monotonic() - began, {"work": what})

    def exposition(self) -> bytes:
        """Everything, in Prometheus' text form."""
        return generate_latest(self._registry)

    @contextmanager
    def served(self, host: str, port: int) -> Generator[None]:
        """Answer Prometheus at an address; port 0 is none."""
        if not port:
            yield
            return
        try:
            server, thread = serve_http(port, host, self._registry)
        except OSError as error:
            raise Unavailable(
                f"cannot serve metrics on {host} port {port}: {error.strerror or error}",
                hint="choose another TRELLIS_RENDER_METRICS_PORT",
            ) from None
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def close(self) -> None:
        """No more."""
        self._provider.shutdown()

    def _behind(self, _: CallbackOptions) -> Iterable[Observation]:
        return [Observation(max(0, self.heard_revision - self.published_revision))]

    def _revision(self, _: CallbackOptions) -> Iterable[Observation]:
        return [Observation(self.published_revision)]

    def _held(self, _: CallbackOptions) -> Iterable[Observation]:
        return [Observation(self.held)]
