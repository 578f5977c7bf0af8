"""GraphQL over HTTP: our own thin view, because everything in front of the engine is overhead.

The order is the order of what a refusal costs: method, media types, token, rate, length, JSON,
document, cost, and only then execution. An answer given before to the same request, at the same
revision and to a caller who may see the same, is sent again as bytes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable

import orjson

from api import problems
from api.caller.identity import Identified
from api.execution.documents import BadDocument
from api.execution.operations import OK, Operations, Outcome, Prepared
from api.execution.request import GraphQLRequest, read_query_string, read_request
from api.refusals import NoMedia, WrongMedia, WrongMethod
from api.settings import ApiSettings
from api.telemetry.traces import Traces
from api.web.body import Gone, read_body
from api.web.cors import check_page
from api.web.door import (
    PRIVATE,
    Door,
    Headers,
    Receive,
    Scope,
    Send,
    headers_of,
    peer_of,
    send_answer,
    send_fault,
    send_refusal,
)
from api.web.media import Media, is_json, wanted
from api.web.responses import REQUEST_KEPT_MAX, Response, Responses, etag_of, is_known
from graph.engine import Engine
from graph.model.access import Role
from graph.model.errors import TrellisError

Stream = Callable[[Prepared | BadDocument, Identified, Scope, Receive, Send], Awaitable[None]]
"""Answers by an event stream; what is wrong with a document is said in it."""


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
        self._keeps = settings.responses_kept_bytes > 0
        self._traces = traces
        self._stream = stream

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Answer one request."""
        answered = self._traced if self._traces.on else self._guarded
        return answered(scope, headers_of(scope), receive, send)

    async def _traced(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
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
        if by_get:
            check_page(scope, peer_of(scope, headers), self._settings)
        identified = await self._door.admit(scope, headers)
        body: bytes = scope["query_string"]
        if not by_get:
            body = await read_body(
                receive,
                length=headers.length,
                bytes_max=self._bytes_max(headers.length, identified),
                within_seconds=self._settings.body_seconds,
            )
        view = self._engine.view
        access = self._engine.access(identified.actor)
        if_none_match = headers.if_none_match if by_get else b""
        key: Hashable = None
        if self._keeps and len(body) <= REQUEST_KEPT_MAX and media is not Media.EVENTS:
            key = (body, media, by_get, access.key)
            kept = self.responses.get(view, key)
            if kept is not None:
                self._door.tell("query", kept.name, OK, started, identified)
                await _send(send, kept, media, if_none_match)
                return
        long = len(body) > self._settings.body_bytes_max
        if long and not by_get:  # long enough to hold up everybody else
            request = await asyncio.to_thread(read_request, body)
            access = self._engine.access(identified.actor)  # it may be another by now
        else:
            request = read_query_string(body) if by_get else read_request(body)
        if media is Media.EVENTS:
            asked = self._prepared(request, queries_only=by_get, long=long)
            await self._stream(asked, identified, scope, receive, send)
            return
        outcome = await self._operations.answer(
            request, identified, access=access, queries_only=by_get, long=long
        )
        data = orjson.dumps(outcome.content)
        self._door.tell(outcome.kind, outcome.name, outcome.code, started, identified)
        if outcome.view is None:
            await send_answer(send, _status(outcome, media), data, media, ())
            return
        made = Response(data, etag_of(media, data), outcome.name)
        if outcome.view is view and key is not None:
            self.responses.keep(view, key, made, len(body))
        await _send(send, made, media, if_none_match)

    def _prepared(
        self, request: GraphQLRequest, *, queries_only: bool, long: bool
    ) -> Prepared | BadDocument:
        try:
            return self._operations.prepare(request, queries_only=queries_only, long=long)
        except BadDocument as error:
            return error

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

    def _bytes_max(self, length: int | None, identified: Identified) -> int:
        """How long a body may be: whoever may change something may send a batch."""
        bytes_max = self._settings.body_bytes_max
        if length is None or length > bytes_max:
            access = self._engine.access(identified.actor)
            if access.holds(Role.EDITOR):
                return self._settings.batch_bytes_max
        return bytes_max


def _status(outcome: Outcome, media: Media) -> int:
    """A request that could not be executed is the caller's fault; only one form may say so."""
    return 200 if outcome.executed or media is Media.JSON else 400


async def _send(send: Send, made: Response, media: Media, if_none_match: bytes) -> None:
    etag = ((b"etag", made.etag),)
    if if_none_match and is_known(made.etag, if_none_match):
        headers = [*PRIVATE, *etag]
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    await send_answer(send, 200, made.body, media, etag)
