"""Frames of graphql-transport-ws: what a client may say, and with which code a socket is closed.

A frame is read strictly. Whatever is no message of the protocol closes the socket with a reason;
what is wrong inside an operation is that operation's matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, cast

import orjson

from api.execution.request import GraphQLRequest, request_of
from graph.model.errors import Invalid

PROTOCOL = "graphql-transport-ws"
ID_LENGTH_MAX = 200
"""Characters of an operation's id."""
REASON_BYTES_MAX = 123
"""Bytes the reason of a close may have; the protocol of sockets says so."""

ACK = '{"type":"connection_ack"}'
PONG = '{"type":"pong"}'


class Close(IntEnum):
    """Why a socket is closed."""

    GOING_AWAY = 1001
    GONE = 1006
    """Never sent: what a connection that broke counts as."""
    FAULT = 1011
    TRY_LATER = 1013
    BAD_REQUEST = 4400
    UNAUTHORIZED = 4401
    FORBIDDEN = 4403
    BAD_PROTOCOL = 4406
    INIT_TIMEOUT = 4408
    DUPLICATE = 4409
    SLOW_READER = 4413
    """Ours: the reader is too slow. The reason has the cursor to resume after."""
    TOO_MANY_INITS = 4429


class Closing(Exception):
    """The socket is to be closed."""

    def __init__(self, code: int, reason: str = "", *, ours: bool = True) -> None:
        super().__init__(f"{int(code)} {reason}")
        self.code = int(code)
        self.ours = ours
        """Whether it is for us to close it."""
        self.reason = reason.encode()[:REASON_BYTES_MAX].decode(errors="ignore")


@dataclass(frozen=True, slots=True)
class Init:
    """The client introduces itself."""

    authorization: str | None


@dataclass(frozen=True, slots=True)
class Subscribe:
    """An operation begins: a query, a mutation or a subscription."""

    id: str
    request: GraphQLRequest


@dataclass(frozen=True, slots=True)
class Complete:
    """The client wants no more of an operation."""

    id: str


@dataclass(frozen=True, slots=True)
class Ping:
    """The client wants to know whether we are there."""


@dataclass(frozen=True, slots=True)
class Pong:
    """The client is there."""


Frame = Init | Subscribe | Complete | Ping | Pong


def read_frame(text: str) -> Frame:
    """The message ``text`` is; ``Closing`` if it is none."""
    try:
        found = orjson.loads(text)
    except (orjson.JSONDecodeError, RecursionError):
        raise _bad("the message is not JSON") from None
    if not isinstance(found, dict):
        raise _bad("the message is not an object")
    return _frame(cast("dict[str, Any]", found))


def next_head(operation_id: str) -> str:
    """What comes before the payload of a result; ``}`` comes after."""
    return f'{{"id":{_text(operation_id)},"type":"next","payload":'


def error_frame(operation_id: str, errors: object) -> str:
    """The operation could not go on."""
    return _frame_text({"id": operation_id, "type": "error", "payload": errors})


def complete_frame(operation_id: str) -> str:
    """The operation has ended."""
    return _frame_text({"id": operation_id, "type": "complete"})


def _frame(found: dict[str, Any]) -> Frame:
    match found.get("type"):
        case "subscribe":
            return Subscribe(_id(found), _request(found))
        case "complete":
            return Complete(_id(found))
        case "connection_init":
            return Init(_authorization(_payload(found)))
        case "ping":
            _payload(found)
            return Ping()
        case "pong":
            _payload(found)
            return Pong()
        case _:
            raise _bad("the message has no type of the protocol")


def _request(found: dict[str, Any]) -> GraphQLRequest:
    payload = found.get("payload")
    if not isinstance(payload, dict):
        raise _bad("the payload of subscribe is not an object")
    try:
        return request_of(cast("dict[str, Any]", payload))
    except Invalid as error:
        raise _bad(error.message) from None


def _payload(found: dict[str, Any]) -> dict[str, Any]:
    payload = found.get("payload")
    if payload is None:
        return {}
    if not isinstance(payload, dict):
        raise _bad("the payload is not an object")
    return cast("dict[str, Any]", payload)


def _authorization(payload: dict[str, Any]) -> str | None:
    for name, value in payload.items():
        if name.lower() == "authorization":
            if not isinstance(value, str):
                raise _bad("authorization is not text")
            return value
    return None


def _id(found: dict[str, Any]) -> str:
    operation_id = found.get("id")
    if not isinstance(operation_id, str) or not operation_id:
        raise _bad("the message has no id")
    if len(operation_id) > ID_LENGTH_MAX:
        raise _bad(f"the id is longer than {ID_LENGTH_MAX} characters")
    return operation_id


def _bad(reason: str) -> Closing:
    return Closing(Close.BAD_REQUEST, reason)


def _text(value: str) -> str:
    return orjson.dumps(value).decode()


def _frame_text(content: dict[str, object]) -> str:
    return orjson.dumps(content).decode()
