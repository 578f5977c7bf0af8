"""GraphQL over HTTP: our own thin view, because everything in front of the engine is overhead.

The order is the order of what a refusal costs: method, media types, token, rate, length, JSON,
document, cost, and only then execution. An answer given before to the same request, at the same
revision and to a caller who may see the same, is sent again as bytes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import orjson

from api import problems
from api.identity import Identified, Identity, Peer
from api.media import Media, is_json, wanted
from api.operations import OK, Operations, Outcome
from api.rate import REFUSAL_SECONDS, Rates
from api.refusals import NoMedia, TooMany, WrongMedia, WrongMethod
from api.request import Gone, GraphQLRequest, read_body, read_query_string, read_request
from api.responses import REQUEST_KEPT_MAX, Response, Responses, etag_of
from api.settings import ApiSettings
from api.telemetry import Telemetry
from api.traces import Traces
from graph.engine import Engine
from graph.model.access import Role
from graph.model.errors import TrellisError, Unavailable

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Header = tuple[bytes, bytes]
Stream = Callable[[GraphQLRequest, Identified, Scope, Receive, Send], Awaitable[None]]

_CONTENT: Mapping[Media, Header] = {media: (b"content-type", media.value) for media in Media}
_PRIVATE: tuple[Header, ...] = (
    (b"cache-control", b"private, no-cache"),
    (b"vary", b"Authorization, Accept"),
)


@dataclass(slots=True)
class Headers:
    """The headers a GraphQL request is judged by."""

    accept: bytes = b""
    content_type: bytes = b""
    authorization: str | None = None
    host: str = ""
    length: int | None = None
    if_none_match: bytes = b""
    traceparent: str | None = None


def headers_of(scope: Scope) -> Headers:
    """One pass over what was sent."""
    found = Headers()
    for name, value in scope["headers"]:
        if name == b"accept":
            found.accept = found.accept + b"," + value if found.accept else value
        elif name == b"content-type":
            found.content_type = value
        elif name == b"authorization":
            found.authorization = value.decode("latin-1")
        elif name == b"host":
            found.host = value.decode("latin-1")
        elif name == b"content-length":
            found.length = int(value) if value.isdigit() and len(value) < 19 else None
        elif name == b"if-none-match":
            found.if_none_match = value
        elif name == b"traceparent":
            found.traceparent = value.decode("latin-1")
    return found


def peer_of(scope: Scope, headers: Headers) -> Peer:
    """Who is at the other end, and whom they think they talk to."""
    client = scope.get("client")
    return Peer(client[0] if client else "", headers.host)


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
            revision=self._engine.view.cursor.revision,
        )


class GraphQLView:
    """The ASGI endpoint of ``/graphql`` over HTTP."""

    def __init__(
        self,
        engine: Engine,
        *,
        settings: ApiSettings,
        door: Door,
        operations: Operations,
        traces: Traces,
        stream: Stream,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._door = door
        self._operations = operations
        self.responses = Responses(settings.responses_kept_bytes, door.tallies)
        self._traces = traces
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = headers_of(scope)
        if not self._traces.on:
            await self._guarded(scope, headers, receive, send)
            return
        with self._traces.operation(headers.traceparent):
            await self._guarded(scope, headers, receive, send)

    async def _guarded(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        media = wanted(headers.accept)
        try:
            await self._answer(scope, headers, media, started, receive, send)
        except Gone:
            return
        except TrellisError as error:
            self._door.tell("refused", "", error.code, started)
            await send_refusal(send, error, media or Media.JSON)
        except Exception as error:
            if media is Media.EVENTS:
                raise  # its answer has begun
            self._door.tell("refused", "", problems.INTERNAL, started)
            await send_fault(send, error, media or Media.JSON)

    async def _answer(
        self,
        scope: Scope,
        headers: Headers,
        media: Media | None,
        started: float,
        receive: Receive,
        send: Send,
    ) -> None:
        by_get = self._check_form(scope["method"], headers, media)
        assert media is not None, "the form was checked"
        identified = await self._door.admit(scope, headers)
        body: bytes = scope["query_string"]
        if not by_get:
            body = await self._body(headers, identified, receive)
        view = self._engine.view
        form: Hashable = (media is Media.GRAPHQL, by_get, self._engine.access(identified.actor).key)
        key: Hashable = None
        if len(body) <= REQUEST_KEPT_MAX and media is not Media.EVENTS:
            key = (body, form)
            kept = self.responses.get(view, key)
            if kept is not None:
                self._door.tell("query", kept.name, OK, started, identified)
                await _send_kept(send, kept, media, headers.if_none_match if by_get else b"")
                return
        request = await self._request(body, by_get=by_get)
        if media is Media.EVENTS:
            await self._stream(request, identified, scope, receive, send)
            return
        long = len(body) > self._settings.body_bytes_max
        outcome = await self._operations.answer(request, identified, queries_only=by_get, long=long)
        data = orjson.dumps(outcome.content)
        self._door.tell(outcome.kind, outcome.name, outcome.code, started, identified)
        if outcome.view is None:
            await _send(send, _status(outcome, media), data, media, ())
            return
        response = Response(data, etag_of(outcome.view.cursor, form), outcome.name)
        if outcome.view is view and key is not None:
            self.responses.keep(view, key, response, len(body))
        await _send(send, 200, data, media, ((b"etag", response.etag),))

    def _check_form(self, method: str, headers: Headers, media: Media | None) -> bool:
        """Whether the request came by GET; refused unless method and media types fit."""
        by_get = method == "GET" and self._settings.get_queries
        if not by_get and method != "POST":
            allow = "GET, POST" if self._settings.get_queries else "POST"
            raise WrongMethod(f"{method} is not answered here", hint="send a POST", allow=allow)
        if media is None:
            raise NoMedia(
                "the answer has none of the forms in Accept",
                hint="accept application/graphql-response+json, application/json or"
                " text/event-stream",
            )
        if not by_get and not is_json(headers.content_type):
            raise WrongMedia("unsupported content type", hint="send Content-Type: application/json")
        return by_get

    async def _body(self, headers: Headers, identified: Identified, receive: Receive) -> bytes:
        bytes_max = self._settings.body_bytes_max
        if headers.length is None or headers.length > bytes_max:
            access = self._engine.access(identified.actor)
            if access.scope(Role.EDITOR) is not None:
                bytes_max = self._settings.batch_bytes_max
        return await read_body(
            receive,
            length=headers.length,
            bytes_max=bytes_max,
            within_seconds=self._settings.body_seconds,
        )

    async def _request(self, body: bytes, *, by_get: bool) -> GraphQLRequest:
        if by_get:
            return read_query_string(body)
        if len(body) > self._settings.body_bytes_max:  # long enough to hold up everybody else
            return await asyncio.to_thread(read_request, body)
        return read_request(body)


def _status(outcome: Outcome, media: Media) -> int:
    """A request that could not be executed is the caller's fault; only one form may say so."""
    return 200 if outcome.executed or media is Media.JSON else 400


async def _send(
    send: Send, status: int, body: bytes, media: Media, more: tuple[Header, ...]
) -> None:
    headers = [
        _CONTENT[media],
        (b"content-length", str(len(body)).encode()),
        *_PRIVATE,
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _send_kept(send: Send, kept: Response, media: Media, if_none_match: bytes) -> None:
    etag = ((b"etag", kept.etag),)
    if if_none_match and kept.etag in if_none_match:
        headers = [*_PRIVATE, *etag]
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    await _send(send, 200, kept.body, media, etag)


async def send_fault(send: Send, error: Exception, media: Media = Media.JSON) -> None:
    """Tell a caller that something went wrong here, and nothing else."""
    await _send(send, 500, orjson.dumps({"errors": [problems.fault(error)]}), media, ())


async def send_refusal(send: Send, error: TrellisError, media: Media = Media.JSON) -> None:
    """Tell a caller why their request is not answered at all."""
    more = tuple((k.encode(), v.encode()) for k, v in problems.headers_of(error).items())
    shown = Media.JSON if media is Media.EVENTS else media
    body = orjson.dumps({"errors": [problems.refusal(error)]})
    await _send(send, problems.status_of(error), body, shown, more)
