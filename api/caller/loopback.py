"""Whether an address or a host name can only mean this machine.

A page from elsewhere can make a browser send requests to 127.0.0.1 under a host name of its own
(DNS rebinding), so where being local is all a caller has to show, the name counts as well.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address

_REMEMBERED = 1_024


@lru_cache(_REMEMBERED)
def is_loopback_address(text: str) -> bool:
    """``127.0.0.0/8`` and ``::1``, also written as an IPv4 address within IPv6."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


@lru_cache(_REMEMBERED)
def is_loopback_host(header: str) -> bool:
    """``localhost``, an address of 127.0.0.0/8 or ``[::1]``, with any port or none."""
    name, bracket, rest = header.partition("]")
    if not bracket:
        name, colon, port = header.partition(":")
        return _is_port(colon, port) and (name.lower() == "localhost" or is_loopback_address(name))
    colon, port = rest[:1], rest[1:]
    return name.startswith("[") and _is_port(colon, port) and is_loopback_address(name[1:])


def is_loopback_name(host: str) -> bool:
    """Whether a process that listens on ``host`` is reached from this machine alone."""
    return host.lower() == "localhost" or is_loopback_address(host)


def _is_port(colon: str, port: str) -> bool:
    return (not colon and not port) or (colon == ":" and port.isascii() and port.isdigit())
