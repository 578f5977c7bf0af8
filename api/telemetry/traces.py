"""Traces: spans for an operation, its parse, validation and execution, commits and Bolt calls.

Never one per field. Spans go to a collector by OTLP over HTTP, in the background, and a collector
that is away costs nothing but the spans. Where no collector is set nothing is made at all.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import cast
from urllib.parse import unquote

import opentelemetry.trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from api.settings import TelemetrySettings

SERVICE = "trellis"
EXPORT_SECONDS_MAX = 5
"""Longest wait for the collector, also when the process ends."""

_log = logging.getLogger(__name__)
_NOTHING = nullcontext()
_PROPAGATOR = TraceContextTextMapPropagator()


class Traces:
    """Makes spans, or nothing."""

    def __init__(
        self,
        settings: TelemetrySettings,
        exporter: Callable[[str], SpanExporter] | None = None,
    ) -> None:
        self.on = bool(settings.traces_url)
        """Whether there is a collector. Asked once a request."""
        self._provider: TracerProvider | None = None
        if not self.on:
            return
        provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(settings.traces_share)),
            resource=Resource(resource_attributes(settings)),
            shutdown_on_exit=False,
        )
        made = (exporter or _otlp)(settings.traces_url)
        provider.add_span_processor(
            BatchSpanProcessor(made, export_timeout_millis=EXPORT_SECONDS_MAX * 1000)
        )
        self._provider = provider
        self._tracer = provider.get_tracer(SERVICE)

    def operation(
        self, traceparent: str | None = None
    ) -> AbstractContextManager[Span] | AbstractContextManager[None]:
        """The span of a whole request; part of the caller's trace if it sent a ``traceparent``."""
        if self._provider is None:
            return _NOTHING
        carrier = {"traceparent": traceparent} if traceparent else {}
        # an empty context, not the current one: a server's tasks may inherit a finished request's
        parent = _PROPAGATOR.extract(carrier, context=Context())
        return self._tracer.start_as_current_span(
            "operation", context=parent, kind=SpanKind.SERVER, record_exception=False
        )

    def span(
        self, name: str, /, **facts: str | int
    ) -> AbstractContextManager[Span] | AbstractContextManager[None]:
        """A part of the request under way; nothing outside of one."""
        if self._provider is None or not is_traced():
            return _NOTHING
        return self.work(name, **facts)

    def work(
        self, name: str, /, **facts: str | int
    ) -> AbstractContextManager[Span] | AbstractContextManager[None]:
        """Something done, whether or not it was asked for by a request."""
        if self._provider is None:
            return _NOTHING
        return self._tracer.start_as_current_span(
            name, attributes={f"trellis.{key}": value for key, value in facts.items()}
        )

    def describe(self, kind: str, name: str, outcome: str) -> None:
        """Say what the current operation turned out to be."""
        span = opentelemetry.trace.get_current_span()
        if self._provider is None or not span.is_recording():
            return
        span.update_name(kind)
        span.set_attribute("graphql.operation.type", kind)
        span.set_attribute("graphql.operation.name", name)
        span.set_attribute("trellis.outcome", outcome)
        if outcome != "ok":
            span.set_status(Status(StatusCode.ERROR, outcome))

    def close(self) -> None:
        """Send what waits. It blocks, for a bounded time: not for an event loop."""
        if self._provider is not None:
            # the provider waits for every batch in turn, however many; this process does not
            closing = threading.Thread(target=self._provider.shutdown, daemon=True)
            closing.start()
            closing.join(EXPORT_SECONDS_MAX)


def resource_attributes(settings: TelemetrySettings) -> dict[str, str]:
    """What every span says of this process; a part that cannot be read is left out."""
    found = {SERVICE_NAME: SERVICE}
    for part in settings.resource_attributes.split(","):
        key, equals, value = (each.strip() for each in part.partition("="))
        if key and equals:
            found[unquote(key)] = unquote(value)
        elif part.strip():
            _log.warning("a resource attribute without key and = is ignored: %s", part.strip())
    if settings.service_name:
        found[SERVICE_NAME] = settings.service_name
    return found


def is_traced() -> bool:
    """Whether a request that is traced is under way here."""
    return opentelemetry.trace.get_current_span().is_recording()


def trace_id() -> str:
    """The trace of the request under way here, as 32 hexadecimal digits; empty without one."""
    context = opentelemetry.trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else ""


def _otlp(url: str) -> SpanExporter:
    # a heavy dependency that nobody needs who has no collector
    import requests
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    logging.getLogger("opentelemetry.exporter").setLevel(logging.ERROR)  # not every retry
    session = requests.Session()
    session.trust_env = False  # settings say where traces go; a proxy of the environment does not
    exporter = OTLPSpanExporter(endpoint=url, timeout=EXPORT_SECONDS_MAX, session=session)
    return cast(SpanExporter, exporter)
