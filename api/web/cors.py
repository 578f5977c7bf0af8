"""Pages of other origins: which may send requests from a browser, and read the answers.

A browser asks first, and shows a page of another origin nothing without these headers. No cookie
and no certificate goes along: whoever asks shows a token. An origin that is not listed is told
nothing at all.
"""

from __future__ import annotations

from api.web.door import Endpoint, Message, Receive, Scope, Send

PREFLIGHT_SECONDS = 600
"""How long a browser remembers what it was told before it asks again."""

_VARY = (b"vary", b"Origin")
_EXPOSED = (b"access-control-expose-headers", b"etag, retry-after, trellis-cursor")
_PREFLIGHT = (
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", b"authorization, content-type, if-none-match, last-event-id"),
    (b"access-control-max-age", str(PREFLIGHT_SECONDS).encode()),
    (b"content-length", b"0"),
)


def open_to(origins: str, endpoint: Endpoint) -> Endpoint:
    """``endpoint``, for the pages of ``origins`` too; they are separated by spaces."""
    allowed = frozenset(origin.encode() for origin in origins.split())
    if not allowed:
        return endpoint

    async def shared(scope: Scope, receive: Receive, send: Send) -> None:
        sent = {name: value for name, value in scope["headers"] if b"-request-" in name}
        origin = next((value for name, value in scope["headers"] if name == b"origin"), b"")
        if origin not in allowed:
            await endpoint(scope, receive, _with(send, (_VARY,)))
            return
        shown = (_VARY, (b"access-control-allow-origin", origin))
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in sent:
            await send(_start(204, [*shown, *_PREFLIGHT]))
            await send({"type": "http.response.body", "body": b""})
            return
        await endpoint(scope, receive, _with(send, (*shown, _EXPOSED)))

    return shared


def _with(send: Send, headers: tuple[tuple[bytes, bytes], ...]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = _start(message["status"], [*message["headers"], *headers])
        await send(message)

    return sending


def _start(status: int, headers: list[tuple[bytes, bytes]]) -> Message:
    return {"type": "http.response.start", "status": status, "headers": headers}
