"""Sockets: the handshake of graphql-transport-ws, and the end of every conversation.

A socket is refused before it is open where that is possible, with a status and a reason. Nothing
is raised out of here, and every end leaves a line in the log.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

import orjson

from api.caller.identity import Identified, Peer
from api.problems import headers_of as headers_of_refusal
from api.problems import refusal, status_of
from api.refusals import SlowReader
from api.streaming.conversation import Conversation, House
from api.streaming.frames import PROTOCOL, Close, Closing
from api.web.cors import check_origin
from api.web.door import Receive, Scope, Send, headers_of, is_stalled, peer_of
from api.web.quota import Quota
from graph.model.errors import TrellisError

CLOSE_SECONDS = 2.0
"""How long the last words to a socket may take."""

_log = logging.getLogger(__name__)


class SocketView:
    """The ASGI endpoint of ``/graphql`` over sockets."""

    def __init__(self, house: House, quota: Quota) -> None:
        self._house = house
        self._quota = quota

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold one conversation."""
        await receive()  # websocket.connect
        headers = headers_of(scope)
        peer = peer_of(scope, headers)
        try:
            check_origin(_origin(scope), peer, self._house.settings)
            caller = await self._caller(headers.authorization, peer)
            self._quota.enter(caller)
        except TrellisError as error:
            _log.info("socket of %s refused: %s", peer.client, error.message)
            await _refuse(scope, send, error)
            return
        entry = _Entry(self._quota, caller)
        try:
            with self._house.stopping.waits():
                await self._open(scope, peer, headers.authorization, entry, receive, send)
        except OSError:
            _log.info("socket of %s gone before it was open", peer.client)
        finally:
            entry.leave()

    async def _caller(self, authorization: str | None, peer: Peer) -> str:
        """Whose quota the socket counts for until it has introduced itself."""
        if authorization is None:
            return peer.client
        return (await self._house.identity.identify(authorization, peer)).actor.name

    async def _open(
        self,
        scope: Scope,
        peer: Peer,
        authorization: str | None,
        entry: _Entry,
        receive: Receive,
        send: Send,
    ) -> None:
        if PROTOCOL not in scope["subprotocols"]:
            await send({"type": "websocket.accept"})
            await _close(send, Closing(Close.BAD_PROTOCOL, f"speak {PROTOCOL}"), peer, None)
            return
        await send({"type": "websocket.accept", "subprotocol": PROTOCOL})
        conversation = Conversation(self._house, peer, authorization, receive, send)
        closing = await conversation.hold(entry.arrived)
        if is_stalled(scope):
            closing = Closing(Close.SLOW_READER, "the reader takes nothing", ours=False)
        if closing.code == Close.SLOW_READER:
            self._quota.dropped()
        await _close(send, closing, peer, conversation)


class _Entry:
    """One socket's place in the quota."""

    def __init__(self, quota: Quota, caller: str) -> None:
        self._quota = quota
        self._caller = caller

    def arrived(self, identified: Identified) -> None:
        """It is known whose it is."""
        self._quota.move(self._caller, identified.actor.name)
        self._caller = identified.actor.name

    def leave(self) -> None:
        """It is closed."""
        self._quota.leave(self._caller)


def _origin(scope: Scope) -> str | None:
    found = [value for name, value in scope["headers"] if name == b"origin"]
    return found[0].decode("latin-1") if found else None


async def _refuse(scope: Scope, send: Send, error: TrellisError) -> None:
    """Answer the handshake with a status; a server that cannot do that says 403."""
    with suppress(OSError):
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": Close.FORBIDDEN})
            return
        body = orjson.dumps({"errors": [refusal(error)]})
        headers = [(b"content-type", b"application/json; charset=utf-8")]
        headers += [(k.encode(), v.encode()) for k, v in headers_of_refusal(error).items()]
        status = status_of(error)
        await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
        await send({"type": "websocket.http.response.body", "body": body})


async def _close(
    send: Send, closing: Closing, peer: Peer, conversation: Conversation | None
) -> None:
    cause = closing.__cause__
    level = logging.INFO if cause is None else logging.ERROR
    _log.log(level, "socket of %s closed: %s", peer.client, closing, exc_info=cause)
    if not closing.ours:
        return
    with suppress(OSError, TimeoutError, SlowReader):
        async with asyncio.timeout(CLOSE_SECONDS):
            if conversation is not None and closing.code != Close.SLOW_READER:
                await conversation.last_words()
            await send(
                {"type": "websocket.close", "code": int(closing.code), "reason": closing.reason}
            )
