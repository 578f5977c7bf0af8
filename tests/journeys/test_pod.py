"""The process in a pod: beside Services named after it, and told who it is by OpenTelemetry."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx

from otlp_collector import collecting
from serving import serve
from trellis_process import Trellis

COUNT = {"query": "{ fleet { revision } }"}


def links_of(service: str, address: str, port: int) -> dict[str, str]:
    """What Kubernetes puts into every container beside a Service with one named port."""
    name = service.upper().replace("-", "_")
    url = f"tcp://{address}:{port}"
    each = f"{name}_PORT_{port}_TCP"
    return {
        f"{name}_SERVICE_HOST": address.strip("[]"),
        f"{name}_SERVICE_PORT": str(port),
        f"{name}_SERVICE_PORT_HTTP_METRICS": str(port),
        f"{name}_PORT": url,
        each: url,
        f"{each}_PROTO": "tcp",
        f"{each}_PORT": str(port),
        f"{each}_ADDR": address.strip("[]"),
    }


LINKS = {
    **links_of("trellis", "10.96.0.17", 8000),
    **links_of("trellis-worker", "10.96.0.18", 8001),
    **links_of("trellis-service", "[fd00:10:96::11]", 8002),
}
HIDING = links_of("trellis-api", "10.96.0.19", 8000)
"""One of them has the name of a setting."""


def test_a_pod_starts_beside_services_named_after_it_and_says_what_it_is(tmp_path: Path) -> None:
    given = {
        **HIDING,
        **LINKS,
        "TRELLIS_API_PORT": "0",  # set by hand, it takes the place of the link of that name
        "TRELLIS_TELEMETRY_LEVEL": "debug",
        "OTEL_SERVICE_NAME": "edge-fleet",
        "OTEL_RESOURCE_ATTRIBUTES": "k8s.pod.name=trellis-0,service.name=hidden,note=a%2Cb",
    }
    with collecting() as collector:
        given["TRELLIS_TELEMETRY_TRACES_URL"] = collector.url
        with serve(tmp_path / "trellis.db", given, arguments=["--create"]) as server:
            assert httpx.post(server.graphql, json=COUNT).status_code == 200
            assert server.stop() == 0
            said = server.said()
    assert "query" in collector.span_names()
    assert collector.attributes() == {
        "service.name": "edge-fleet",
        "k8s.pod.name": "trellis-0",
        "note": "a,b",
    }
    ignored = {line.split()[0] for line in said.split('"message": "') if "is ignored: " in line}
    assert ignored == (LINKS.keys() | HIDING.keys()) - {"TRELLIS_API_PORT"}


def test_a_verb_starts_beside_them_and_a_mistyped_setting_is_still_refused(
    trellis: Trellis,
) -> None:
    pod = replace(trellis, settings={**LINKS, **HIDING})
    pod("generate", "--clusters", "10", "-o", "fleet.jsonl")
    pod("load", "fleet.jsonl")
    mistyped = replace(pod, settings={**pod.settings, "TRELLIS_PORT": "8000"})
    assert 'there is no setting "TRELLIS_PORT"' in mistyped("select", "all", expect=1)
