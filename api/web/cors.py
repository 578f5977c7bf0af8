"""Pages of other origins: which may send requests from a browser, and read the answers.

A browser asks first, and shows a page of another origin nothing without these headers. No cookie
and no certificate goes along: whoever asks shows a token. An origin that is not listed is told
nothing at all.
"""

from __future__ import annotations

from api.caller.identity import Peer
from api.settings import ApiSettings
from api.web.door import Endpoint, Message, Receive, Scope, Send
from graph.model.errors import Denied
from graph.model.names import quoted

PREFLIGHT_SECONDS = 600
"""How long a browser remembers what it was told before it asks again."""

_VARY = (b"vary", b"Origin")
_EXPOSED = (b"access-control-expose-headers", b"etag, retry-after, trellis-cursor")
_PREFLIGHT = (
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-max-age", str(PREFLIGHT_SECONDS).encode()),
    (b"content-length", b"0"),
)


def open_to(settings: ApiSettings, endpoint: Endpoint) -> Endpoint:
    """``endpoint``, for the pages of the origins in ``settings`` too."""
    allowed = frozenset(origin.encode() for origin in settings.origins.split())
    if not allowed:
        return endpoint
    headers = ", ".join(settings.origin_headers.lower().split()).encode()
    preflight = (*_PREFLIGHT, (b"access-control-allow-headers", headers))

    async def shared(scope: Scope, receive: Receive, send: Send) -> None:
        sent = {name: value for name, value in scope["headers"] if b"-request-" in name}
        origin = next((value for name, value in scope["headers"] if name == b"origin"), b"")
        if origin not in allowed:
            await endpoint(scope, receive, _with(send, (_VARY,)))
            return
        shown = (_VARY, (b"access-control-allow-origin", origin))
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in sent:
            await send(_start(204, [*shown, *preflight]))
            await send({"type": "http.response.body", "body": b""})
            return
        await endpoint(scope, receive, _with(send, (*shown, _EXPOSED)))

    return shared


def check_origin(origin: str | None, peer: Peer, settings: ApiSettings) -> None:
    """Refuse the pages of other sites; who is no browser sends no origin and shows a token."""
    if origin is None or origin in settings.origins.split():
        return
    if origin.partition("://")[2].lower() != peer.host.lower():
        raise _stranger(f"pages of {quoted(origin)}")


def check_page(scope: Scope, peer: Peer, settings: ApiSettings) -> None:
    """Refuse a request that a page of another site has a browser send without asking first.

    A POST of JSON is only sent once a preflight has allowed it. A GET is sent at once, by an image
    or a link too, and then without an origin; but every browser says that it comes from elsewhere.
    """
    sent: dict[bytes, bytes] = dict(scope["headers"])
    origin = sent.get(b"origin")
    if origin is not None:
        check_origin(origin.decode("latin-1"), peer, settings)
    elif sent.get(b"sec-fetch-site", b"") in (b"cross-site", b"same-site"):
        raise _stranger("pages of other sites")


def _stranger(pages: str) -> Denied:
    return Denied(
        f"{pages} may not send requests here",
        hint="list the origin in TRELLIS_API_ORIGINS if it should",
    )


def _with(send: Send, headers: tuple[tuple[bytes, bytes], ...]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = _start(message["status"], [*message["headers"], *headers])
        await send(message)

    return sending


def _start(status: int, headers: list[tuple[bytes, bytes]]) -> Message:
    return {"type": "http.response.start", "status": status, "headers": headers}
