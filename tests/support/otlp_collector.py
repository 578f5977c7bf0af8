"""A collector of traces by OTLP over HTTP, on 127.0.0.1.

with collecting() as collector:
    ...  # a process with TRELLIS_TELEMETRY_TRACES_URL=collector.url, to its end
assert collector.attributes()["service.name"] == "trellis"
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    media: str
    traces: ExportTraceServiceRequest


@dataclass
class Collector:
    """Where it listens, and what it was sent."""

    url: str = ""
    received: list[Received] = field(default_factory=list[Received])

    def attributes(self) -> dict[str, str]:
        """What the sender says of itself, the same every time."""
        found = [
            {each.key: each.value.string_value for each in spans.resource.attributes}
            for request in self.received
            for spans in request.traces.resource_spans
        ]
        assert found and all(each == found[0] for each in found), found
        return found[0]

    def span_names(self) -> list[str]:
        """The spans, in the order they ended."""
        return [
            span.name
            for request in self.received
            for spans in request.traces.resource_spans
            for scope in spans.scope_spans
            for span in scope.spans
        ]


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that answers until the end."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            traces = ExportTraceServiceRequest.FromString(body)
            collector.received.append(Received(self.path, self.headers["Content-Type"], traces))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_address[1]}/v1/traces"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
