from __future__ import annotations

import pytest

from cli.service_links import service_links
from cli.settings import names, read_settings
from graph.model.errors import Invalid

HOST = "10.96.0.17"
URL = f"tcp://{HOST}:8000"


def links(**environment: str) -> set[str]:
    return set(service_links(environment, prefix="TRELLIS_"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TRELLIS_PORT", URL),
        ("TRELLIS_PORT", "udp://10.96.0.17:53"),
        ("TRELLIS_PORT", "tcp://[fd00::1]:8000"),
        ("TRELLIS_API_PORT", URL),
        ("TRELLIS_SERVE_PORT", URL),
        ("TRELLIS_SERVICE_PORT", URL),
        ("TRELLIS_SERVICE_HOST", HOST),
        ("TRELLIS_API_SERVICE_HOST", "fd00::1"),
        ("TRELLIS_PORT_8000_TCP", URL),
        ("TRELLIS_WORKER_2_PORT_8000_TCP", URL),
        ("TRELLIS_SERVICE_PORT_8000_TCP", URL),
        ("TRELLIS_PORT_8000_TCP_PROTO", "tcp"),
        ("TRELLIS_PORT_8000_TCP_PORT", "8000"),
        ("TRELLIS_PORT_8000_TCP_ADDR", HOST),
    ],
)
def test_a_link_is_known_by_name_and_value(name: str, value: str) -> None:
    assert links(**{name: value}) == {name}
    assert read_settings({name: value}) == read_settings({})


@pytest.mark.parametrize("name", ["TRELLIS_SERVICE_PORT", "TRELLIS_SERVICE_PORT_HTTP"])
def test_the_bare_port_of_a_service_needs_its_address(name: str) -> None:
    assert links(**{name: "8000", "TRELLIS_SERVICE_HOST": HOST}) == {name, "TRELLIS_SERVICE_HOST"}
    with pytest.raises(Invalid, match="there is no setting"):
        read_settings({name: "8000"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TRELLIS_PORT", "8000"),
        ("TRELLIS_PORT", "http://10.96.0.17:8000"),
        ("TRELLIS_PORT", "tcp://trellis:8000"),
        ("TRELLIS_PORTS", URL),
        ("TRELLIS_SERVICE_HOST", "0.0.0.0"),
        ("TRELLIS_SERVICE_HOST", "127.0.0.1"),
        ("TRELLIS_SERVICE_HOST", "trellis.example.com"),
        ("TRELLIS_SERVER_HOST", HOST),
        ("TRELLIS_PORT_8000_TCP", "tcp://10.96.0.17:9000"),
        ("TRELLIS_PORT_8000_TCP", "udp://10.96.0.17:8000"),
        ("TRELLIS_PORT_8000_TCP_PROTO", "udp"),
        ("TRELLIS_PORT_8000_TCP_PORT", "9000"),
        ("TRELLIS_PORT_HTTP", URL),
        ("TRELLIS_STOER_URL", URL),
    ],
)
def test_what_is_almost_a_link_is_a_mistyped_setting(name: str, value: str) -> None:
    assert not links(**{name: value})
    with pytest.raises(Invalid, match="there is no setting"):
        read_settings({name: value})


def test_a_setting_keeps_its_meaning_beside_the_links_of_its_name() -> None:
    beside = {"TRELLIS_API_SERVICE_HOST": HOST, "TRELLIS_API_SERVICE_PORT": "8000"}
    assert read_settings({**beside, "TRELLIS_API_PORT": "8123"}).api.port == 8123
    assert read_settings({**beside, "TRELLIS_API_PORT": URL}).api.port == 8000
    with pytest.raises(Invalid, match="TRELLIS_API_PORT: "):
        read_settings({**beside, "TRELLIS_API_PORT": "eighty"})


def test_no_other_setting_can_be_taken_for_a_link() -> None:
    for value in (URL, HOST, "8000", "tcp"):
        found = links(TRELLIS_SERVICE_HOST=HOST, **dict.fromkeys(names(), value))
        found.discard("TRELLIS_SERVICE_HOST")
        assert all(name.endswith("_PORT") for name in found)
        assert not found or value == URL


def test_names_of_opentelemetry_are_settings() -> None:
    given = {"OTEL_SERVICE_NAME": "edge", "OTEL_RESOURCE_ATTRIBUTES": "a=b", "OTEL_LOG_LEVEL": "x"}
    telemetry = read_settings(given).telemetry
    assert (telemetry.service_name, telemetry.resource_attributes) == ("edge", "a=b")
    with pytest.raises(Invalid, match="there is no setting"):
        read_settings({"TRELLIS_TELEMETRY_SERVICE_NAME": "edge"})
