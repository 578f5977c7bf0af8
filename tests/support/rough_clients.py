"""Clients that behave badly on purpose: bare connections, half requests, frames that are none.

Nothing here waits longer than it says; what a server does to such a client is for the test to see.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from typing import Any

SMALL_SEGMENT = 536
"""With segments this small a sender's buffer in the kernel stays small too, on loopback as well."""
SMALL_BUFFER = 4_096
TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9


@dataclass
class Bare:
    """One connection, as bytes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, sent: bytes) -> None:
        """Send bytes, whatever they are."""
        self.writer.write(sent)

    async def answer(self) -> tuple[int, bytes]:
        """The status and body of the next answer, which says how long it is."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]
        return int(head.split(b" ", 2)[1]), await self.reader.readexactly(int(length))

    async def rest(self) -> bytes:
        """Everything until the other side hangs up."""
        with suppress(ConnectionError):
            return await self.reader.read()
        return b""

    async def is_told_to_close(self) -> bool:
        """Whether a close comes before the end of the connection."""
        heard = b""
        while b"\x88" not in heard:
            try:
                piece = await self.reader.read(4_096)
            except ConnectionError:
                return False
            if not piece:
                return False
            heard += piece
        return True

    def close(self) -> None:
        """Let go of it."""
        self.writer.transport.abort()


async def bare(port: int, sent: bytes = b"") -> Bare:
    """A connection that has sent some bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    return Bare(reader, writer)


async def deaf(port: int, handshake: bytes, *frames: bytes) -> socket.socket:
    """A socket that reads nothing once it is open; the kernel keeps little of what it is sent."""
    loop = asyncio.get_running_loop()
    held = socket.socket()
    held.setblocking(False)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
    held.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SMALL_SEGMENT)
    await loop.sock_connect(held, ("127.0.0.1", port))
    await loop.sock_sendall(held, handshake)
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        answer += await loop.sock_recv(held, 1)
    assert answer.startswith(b"HTTP/1.1 101"), answer
    await loop.sock_sendall(held, b"".join(frames))
    return held


def post(body: object, token: str | None = None) -> bytes:
    """An operation as bytes."""
    data = json.dumps(body).encode()
    return post_head(len(data), token) + data


def post_head(length: int, token: str | None = None) -> bytes:
    """What comes before a body of that length."""
    return (
        "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"{_authorization(token)}Content-Length: {length}\r\n\r\n"
    ).encode()


def upgrade(token: str | None = None) -> bytes:
    """The handshake of a socket."""
    return (
        "GET /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Protocol: graphql-transport-ws\r\n{_authorization(token)}\r\n"
    ).encode()


def _authorization(token: str | None) -> str:
    return "" if token is None else f"Authorization: Bearer {token}\r\n"


def said(message: object) -> bytes:
    """A message in a frame as it should be."""
    return frame(TEXT, json.dumps(message).encode())


def frame(
    opcode: int,
    payload: bytes = b"",
    *,
    fin: bool = True,
    reserved: int = 0,
    masked: bool = True,
    length: int | None = None,
) -> bytes:
    """A frame, right or wrong; ``length`` is what it claims to hold."""
    claimed = len(payload) if length is None else length
    head = bytes([fin << 7 | reserved << 4 | opcode])
    bit = 0x80 if masked else 0
    if claimed < 126:
        head += bytes([bit | claimed])
    elif claimed < 1 << 16:
        head += bytes([bit | 126]) + struct.pack("!H", claimed)
    else:
        head += bytes([bit | 127]) + struct.pack("!Q", claimed)
    if not masked:
        return head + payload
    key = os.urandom(4)
    return head + key + bytes(byte ^ key[place % 4] for place, byte in enumerate(payload))


INIT = {"type": "connection_init"}


def wrong_frames() -> Iterator[tuple[str, bytes]]:
    """What no client should send after the handshake, each with what is wrong."""
    yield "not masked", frame(TEXT, b"{}", masked=False)
    yield "reserved opcode", frame(3, b"x")
    yield "reserved control opcode", frame(0xB)
    yield "reserved bit", frame(TEXT, b"{}", reserved=4)
    yield "long ping", frame(PING, b"x" * 126)
    yield "ping in parts", frame(PING, b"x", fin=False)
    yield "continues nothing", frame(0, b"x")
    yield "two beginnings", frame(TEXT, b"a", fin=False) + frame(TEXT, b"b")
    yield "length with the top bit", frame(TEXT, b"", length=1 << 63)
    yield "longer than may be", frame(TEXT, b"x", length=1 << 30)
    yield "not UTF-8", frame(TEXT, b"\xff\xfe\xfd")
    yield "close of one byte", frame(CLOSE, b"\x03")
    yield "close with a reserved code", frame(CLOSE, struct.pack("!H", 1005))
    yield "binary", frame(BINARY, b"{}")
    yield "nothing at all", frame(TEXT)
    yield "not JSON", frame(TEXT, b"{")
    yield "not an object", said([1])
    yield "no type", said({})
    yield "payload of a number", said({"type": "connection_init", "payload": 5})
    yield "subscribe first", said({"type": "subscribe", "id": "1", "payload": {"query": "{a}"}})
    yield "two inits", said(INIT) + said(INIT)
    yield "id of a list", said(INIT) + said({"type": "subscribe", "id": [], "payload": {}})
    yield "nested deeply", frame(TEXT, b"[" * 10_000)
    yield "noise", os.urandom(512)


@dataclass(frozen=True)
class Asker:
    """Somebody well-behaved, who takes the time of every answer."""

    connection: Bare
    times: list[float]

    async def ask(self, request: bytes) -> dict[str, Any]:
        """The answer to one operation."""
        started = time.perf_counter()
        self.connection.send(request)
        status, body = await self.connection.answer()
        self.times.append(time.perf_counter() - started)
        assert status == 200, body
        answer: dict[str, Any] = json.loads(body)
        assert "errors" not in answer, answer
        return answer

    @property
    def median_seconds(self) -> float:
        return median(self.times)
