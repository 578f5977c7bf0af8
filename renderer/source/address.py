"""Where the API is: a URL, checked before a token is shown to whoever answers there."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from graph.model.errors import Invalid
from graph.model.names import quoted
from renderer.settings import SourceSettings

PATH = "/graphql"
_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


def address_of(settings: SourceSettings) -> str:
    """The socket's URL; a refusal of what would show the token to others."""
    parts = _parts(settings.url)
    host, scheme = parts.hostname, _SCHEMES.get(parts.scheme.lower())
    if host is None or scheme is None:
        raise _no_address(settings.url)
    if "@" in parts.netloc:
        raise Invalid(
            "the API's URL carries a user or password",
            hint="set TRELLIS_SOURCE_TOKEN or TRELLIS_SOURCE_TOKEN_FILE instead",
        )
    if scheme == "ws" and not settings.plain and not _is_loopback(host):
        raise Invalid(
            f"{quoted(host)} is another machine, and ws:// is read by whoever is between",
            hint="use wss://, or set TRELLIS_SOURCE_PLAIN where the network itself is private",
        )
    path = parts.path if parts.path not in ("", "/") else PATH
    return f"{scheme}://{parts.netloc}{path}"


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # refused where it is no number
    except ValueError:
        raise _no_address(url) from None
    return parts


def _no_address(url: str) -> Invalid:
    return Invalid(
        f"{quoted(url)} is no address of an API",
        hint="write it as wss://trellis.example.com/graphql",
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
