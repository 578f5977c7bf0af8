"""The door: what every request passes first, and how it is answered when that is all it passes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import orjson

from api import problems
from api.caller.identity import Identified, Identity, Peer
from api.caller.rate import REFUSAL_SECONDS, Rates
from api.refusals import TooMany
from api.settings import ApiSettings
from api.telemetry.telemetry import Telemetry
from api.web.media import Media
from graph.engine import Engine
from graph.model.errors import TrellisError, Unavailable

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Endpoint = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

_STALLED = "trellis.stalled"
"""Where the server tells the app so: to the app, every end of a connection looks the same."""
PRIVATE: tuple[Header, ...] = (
    (b"cache-control", b"private, no-cache"),
    (b"vary", b"Authorization, Accept"),
)
"""An answer is its caller's alone."""


@dataclass(slots=True)
class Headers:
    """The headers a GraphQL request is judged by."""

    accept: bytes
    content_type: bytes
    authorization: str | None
    host: str
    length: int | None
    if_none_match: bytes
    traceparent: str | None


def headers_of(scope: Scope) -> Headers:
    """Those of what was sent; where one is there twice, the last, but every ``Accept``."""
    sent: list[Header] = scope["headers"]
    last = dict(sent)
    get = last.get
    accept = get(b"accept", b"")
    if len(last) < len(sent):
        accept = b",".join([value for name, value in sent if name == b"accept" and value])
    authorization, trace, length = (
        get(b"authorization"),
        get(b"traceparent"),
        get(b"content-length"),
    )
    return Headers(
        accept,
        get(b"content-type", b""),
        None if authorization is None else authorization.decode("latin-1"),
        get(b"host", b"").decode("latin-1"),
        int(length) if length and length.isdigit() and len(length) < 19 else None,
        get(b"if-none-match", b""),
        None if trace is None else trace.decode("latin-1"),
    )


def peer_of(scope: Scope, headers: Headers) -> Peer:
    """Who is at the other end, and whom they think they talk to."""
    client = scope.get("client")
    return Peer(client[0] if client else "", headers.host)


def mark_stalled(scope: Scope) -> None:
    """Note that a connection is broken off because its reader takes nothing."""
    scope["state"][_STALLED] = True


def is_stalled(scope: Scope) -> bool:
    """Whether a connection that is gone was broken off because its reader took nothing."""
    return _STALLED in scope.get("state", ())


class Door:
    """What every request passes first: who asks, how often, and whether this process may answer."""

    def __init__(
        self, engine: Engine, *, settings: ApiSettings, identity: Identity, telemetry: Telemetry
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._identity = identity
        self._rates = Rates(settings)
        self._telemetry = telemetry
        self.tallies = telemetry.tallies

    async def admit(self, scope: Scope, headers: Headers) -> Identified:
        """Who asks; refused if that is not known, too often, or what is known here is too old."""
        peer = peer_of(scope, headers)
        identified = self._identity.known(headers.authorization, peer)
        if identified is None:
            identified = await self._identity.identify(headers.authorization, peer)
        try:
            self.allow(identified)
        except TooMany:
            await asyncio.sleep(REFUSAL_SECONDS)
            raise
        return identified

    def allow(self, identified: Identified) -> None:
        """Count an operation of theirs; refused if too often, or what is known here is too old."""
        wait_seconds = self._rates.take(identified.actor.name, time.monotonic())
        if wait_seconds is not None:
            self.tallies.rate_refused += 1
            raise TooMany(
                "more requests than one caller may send",
                hint=f"wait {wait_seconds:.1f} s, and send fewer at a time",
                retry_seconds=wait_seconds,
            )
        age_seconds = self._engine.age_seconds
        if age_seconds > self._settings.stale_seconds:
            raise Unavailable(
                f"this process has not reached the store for {age_seconds:,.0f} s",
                hint="ask another process, or try again later",
            )

    def tell(
        self, kind: str, name: str, code: str, started: float, identified: Identified | None = None
    ) -> None:
        """An operation that began at ``started`` has ended."""
        self._telemetry.done(
            kind,
            name,
            code,
            seconds=time.perf_counter() - started,
            actor="" if identified is None else identified.actor.name,
            revision=self._revision,
        )

    def _revision(self) -> int:
        return self._engine.view.cursor.revision


async def send_answer(
    send: Send, status: int, body: bytes, media: Media, more: tuple[Header, ...]
) -> None:
    """Send a whole answer, which is its caller's alone."""
    headers = [
        media.header,
        (b"content-length", str(len(body)).encode()),
        *PRIVATE,
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def send_fault(send: Send, error: Exception, media: Media = Media.JSON) -> None:
    """Tell a caller that something went wrong here, and nothing else."""
    await send_answer(send, 500, orjson.dumps({"errors": [problems.fault(error)]}), media, ())


async def send_refusal(send: Send, error: TrellisError, media: Media = Media.JSON) -> None:
    """Tell a caller why their request is not answered at all."""
    more = tuple((k.encode(), v.encode()) for k, v in problems.headers_of(error).items())
    shown = Media.JSON if media is Media.EVENTS else media
    body = orjson.dumps({"errors": [problems.refusal(error)]})
    await send_answer(send, problems.status_of(error), body, shown, more)
