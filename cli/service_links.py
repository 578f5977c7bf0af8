"""Names that Kubernetes puts into the environment of a pod for every Service beside it.

A Service called ``trellis-api`` gives every container of its namespace

    TRELLIS_API_SERVICE_HOST=10.0.0.1      TRELLIS_API_PORT=tcp://10.0.0.1:8000
    TRELLIS_API_SERVICE_PORT=8000          TRELLIS_API_PORT_8000_TCP=tcp://10.0.0.1:8000
    TRELLIS_API_SERVICE_PORT_HTTP=8000     TRELLIS_API_PORT_8000_TCP_PROTO=tcp (_PORT, _ADDR)

and one called ``trellis`` the same without ``API_``. They look like settings of ours, and one of
them can have a setting's very name. Name and value together tell them apart: the port of a setting
is a number, that of a link an address with its protocol.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address

_SERVICE = re.compile(r"(?P<service>.+?)_SERVICE_(?P<about>HOST|PORT(?:_[A-Z0-9_]+)?)")
_PORT = re.compile(
    r".+?_PORT(?:_(?P<port>[0-9]+)_(?P<protocol>TCP|UDP|SCTP)(?:_(?P<part>PROTO|PORT|ADDR))?)?"
)
_ADDRESS = re.compile(r"(?P<protocol>tcp|udp|sctp)://(?P<host>[^/]+):(?P<port>[0-9]+)")


def service_links(environment: Mapping[str, str], *, prefix: str) -> frozenset[str]:
    """The names under ``prefix`` that are links to Services."""
    return frozenset(
        name
        for name, value in environment.items()
        if name.startswith(prefix) and _is_link(name, value, environment)
    )


def _is_link(name: str, value: str, environment: Mapping[str, str]) -> bool:
    service, port = _SERVICE.fullmatch(name), _PORT.fullmatch(name)
    return (service is not None and _is_of_service(service, value, environment)) or (
        port is not None and _is_of_port(port, value)
    )


def _is_of_service(name: re.Match[str], value: str, environment: Mapping[str, str]) -> bool:
    if name["about"] == "HOST":
        return _is_host(value)
    # a bare number says little: it is a link if the Service has its address there as well
    return _is_number(value) and _is_host(environment.get(f"{name['service']}_SERVICE_HOST", ""))


def _is_of_port(name: re.Match[str], value: str) -> bool:
    match name["part"]:
        case "PROTO":
            return value == name["protocol"].lower()
        case "PORT":
            return value == name["port"]
        case "ADDR":
            return _is_host(value)
        case _:
            return _is_address(value, name["protocol"], name["port"])


def _is_address(value: str, protocol: str | None, port: str | None) -> bool:
    found = _ADDRESS.fullmatch(value)
    if found is None or not _is_host(found["host"].removeprefix("[").removesuffix("]")):
        return False
    return port is None or (found["port"], found["protocol"].upper()) == (port, protocol)


def _is_host(value: str) -> bool:
    """Whether it can be the address of a Service, which is none to listen on."""
    try:
        address = ip_address(value)
    except ValueError:
        return False
    return not (address.is_unspecified or address.is_loopback)


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= len("65535")
