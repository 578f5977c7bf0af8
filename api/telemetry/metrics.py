"""Metrics: plain numbers while requests are served, OpenTelemetry's when somebody looks.

An instrument of OpenTelemetry takes eight microseconds to be told one number, a good part of what
a small request takes. So the process counts in plain integers, and its instruments are observed:
they read those when Prometheus asks. Histograms cannot be observed; theirs are handed over as
finished data points.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    ResourceMetrics,
    ScopeMetrics,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

BOUNDS_SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Upper ends of the buckets of a duration."""
SCOPE = "trellis"

Labels = tuple[str, ...]


@dataclass(slots=True)
class _Spread:
    """How long things of one sort took."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_SECONDS) + 1))
    sum_seconds: float = 0.0
    least: float = float("inf")
    most: float = 0.0


class Durations:
    """How long things took, apart by labels that have few values."""

    def __init__(self, name: str, description: str, labels: Labels) -> None:
        self.name = name
        self.description = description
        self._labels = labels
        self._spreads: dict[Labels, _Spread] = {}
        self._start_ns = time.time_ns()

    def add(self, seconds: float, *values: str) -> None:
        """One more, with a value for each label."""
        spread = self._spreads.get(values)
        if spread is None:
            spread = self._spreads[values] = _Spread()
        spread.counts[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        spread.sum_seconds += seconds
        if seconds < spread.least:
            spread.least = seconds
        if seconds > spread.most:
            spread.most = seconds

    def metric(self) -> Metric:
        """All of them, as OpenTelemetry has it."""
        points = [*self._points(time.time_ns())]
        data = Histogram(points, AggregationTemporality.CUMULATIVE)
        return Metric(self.name, self.description, "s", data)

    def _points(self, now_ns: int) -> Iterator[HistogramDataPoint]:
        for values, spread in self._spreads.items():
            yield HistogramDataPoint(
                attributes=dict(zip(self._labels, values, strict=True)),
                start_time_unix_nano=self._start_ns,
                time_unix_nano=now_ns,
                count=sum(spread.counts),
                sum=spread.sum_seconds,
                bucket_counts=[*spread.counts],
                explicit_bounds=BOUNDS_SECONDS,
                min=spread.least,
                max=spread.most,
            )


def _operations() -> Durations:
    about = "Operations by kind and outcome, and how long they took."
    return Durations("trellis.operation.duration", about, ("kind", "outcome"))


def _commits() -> Durations:
    about = "Commits by outcome, and how long the store took."
    return Durations("trellis.commit.duration", about, ("outcome",))


def _reconstructions() -> Durations:
    about = "Earlier revisions reconstructed, by outcome, and how long that took."
    return Durations("trellis.reconstruction.duration", about, ("outcome",))


@dataclass(slots=True)
class Tallies:
    """What a serving process counts. Whoever does a thing adds to its number."""

    operations: Durations = field(default_factory=_operations)
    commits: Durations = field(default_factory=_commits)
    reconstructions: Durations = field(default_factory=_reconstructions)
    documents_hit: int = 0
    """Documents found parsed and validated."""
    documents_missed: int = 0
    responses_hit: int = 0
    """Answers given from memory."""
    responses_missed: int = 0
    sockets_open: int = 0
    """Sockets and event streams."""
    subscriptions_open: int = 0
    shapes_open: int = 0
    """Distinct subscriptions among them."""
    messages_executed: int = 0
    """Messages worked out for shapes, each once, however many subscribe."""
    readers_dropped: int = 0
    """Readers closed because they were too slow."""
    rate_refused: int = 0
    """Requests refused because their caller sent too many."""


@dataclass(frozen=True, slots=True)
class Gauges:
    """What is read off the fleet when somebody looks."""

    revision: Callable[[], int]
    age_seconds: Callable[[], float]
    clusters: Callable[[], int]


class Metrics:
    """The metrics of one process; nothing is shared with another in the same interpreter."""

    def __init__(self, tallies: Tallies, gauges: Gauges) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self._registry)  # start, processor time, memory, open files
        durations = [tallies.operations, tallies.commits, tallies.reconstructions]
        self._reader = _Reader(durations, registry=self._registry)
        self._provider = MeterProvider(
            [self._reader], resource=Resource({}), shutdown_on_exit=False
        )
        self._observe(tallies, gauges)

    def exposition(self) -> bytes:
        """Everything, in Prometheus' text form."""
        return generate_latest(self._registry)

    def close(self) -> None:
        """No more."""
        self._provider.shutdown()

    def _observe(self, tallies: Tallies, gauges: Gauges) -> None:
        meter = self._provider.get_meter(SCOPE)
        counters: dict[str, tuple[str, Callable[[], Iterable[Observation]]]] = {
            "trellis.document.lookups": (
                "Looks for a parsed document.",
                lambda: _looks(tallies.documents_hit, tallies.documents_missed),
            ),
            "trellis.response.lookups": (
                "Looks for an answer in memory.",
                lambda: _looks(tallies.responses_hit, tallies.responses_missed),
            ),
            "trellis.messages.executed": (
                "Messages worked out for shapes, each once, however many subscribe.",
                lambda: [Observation(tallies.messages_executed)],
            ),
            "trellis.readers.dropped": (
                "Readers closed because they were too slow.",
                lambda: [Observation(tallies.readers_dropped)],
            ),
            "trellis.rate.refused": (
                "Requests refused because their caller sent too many.",
                lambda: [Observation(tallies.rate_refused)],
            ),
        }
        for name, (about, observe) in counters.items():
            meter.create_observable_counter(name, [_callback(observe)], description=about)
        numbers: dict[str, tuple[str, str, Callable[[], float]]] = {
            "trellis.sockets.open": ("Sockets and streams.", "", lambda: tallies.sockets_open),
            "trellis.subscriptions.open": (
                "Subscriptions on them.",
                "",
                lambda: tallies.subscriptions_open,
            ),
            "trellis.shapes": ("Distinct ones among them.", "", lambda: tallies.shapes_open),
            "trellis.index.revision": ("The revision served.", "", gauges.revision),
            "trellis.index.age": ("Since the store last answered.", "s", gauges.age_seconds),
            "trellis.clusters": ("Clusters in the fleet.", "", gauges.clusters),
        }
        for name, (about, unit, read) in numbers.items():
            meter.create_observable_gauge(
                name, [_callback(_one(read))], unit=unit, description=about
            )


class _Reader(PrometheusMetricReader):
    """Adds the durations to what the instruments observe."""

    def __init__(self, durations: list[Durations], *, registry: CollectorRegistry) -> None:
        super().__init__(disable_target_info=True, scope_info_enabled=False, registry=registry)
        self._durations = durations

    def _receive_metrics(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any
    ) -> None:
        metrics = [each.metric() for each in self._durations]
        scope = ScopeMetrics(InstrumentationScope(SCOPE), metrics, "")
        ours = ResourceMetrics(Resource({}), [scope], "")
        whole = MetricsData([*metrics_data.resource_metrics, ours])
        super()._receive_metrics(whole, timeout_millis)  # pyright: ignore[reportUnknownMemberType] - its other arguments are untyped, and unused


def _looks(hit: int, missed: int) -> list[Observation]:
    return [Observation(hit, {"found": "yes"}), Observation(missed, {"found": "no"})]


def _one(read: Callable[[], float]) -> Callable[[], Iterable[Observation]]:
    return lambda: [Observation(read())]


def _callback(
    observe: Callable[[], Iterable[Observation]],
) -> Callable[[CallbackOptions], Iterable[Observation]]:
    return lambda _: observe()
