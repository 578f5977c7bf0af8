"""A subscriber: one WebSocket that speaks graphql-transport-ws, read by hand.

It costs the machine little and waits for one message at a time, so a thousand of them fit beside
the server they listen to.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from typing import Any
from urllib.parse import urlsplit

PROTOCOL = "graphql-transport-ws"
TIMEOUT_SECONDS = 60
RECEIVE_BYTES = 1 << 16
TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA


class Subscriber:
    """One subscription on a socket of its own."""

    def __init__(self, url: str, document: str) -> None:
        at = urlsplit(url)
        assert at.hostname is not None
        address = (at.hostname, at.port or 80)
        self._socket = socket.create_connection(address, timeout=TIMEOUT_SECONDS)
        self._received = b""
        self._shake_hands(at.netloc, at.path)
        self._say({"type": "connection_init"})
        self._expect("connection_ack")
        self._say({"id": "1", "type": "subscribe", "payload": {"query": document}})

    def next(self) -> Any:
        """The data of the next event."""
        message = self._expect("next")
        assert "errors" not in message["payload"], message["payload"]
        return message["payload"]["data"]

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _shake_hands(self, host: str, path: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Protocol: {PROTOCOL}",
        ]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        while (end := self._received.find(b"\r\n\r\n")) < 0:
            self._more()
        head, self._received = self._received[:end], self._received[end + 4 :]
        assert head.startswith(b"HTTP/1.1 101"), head.decode()

    def _expect(self, kind: str) -> Any:
        while True:
            message = json.loads(self._text())
            if message["type"] == "ping":
                self._say({"type": "pong"})
            elif message["type"] != "pong":
                assert message["type"] == kind, message
                return message

    def _text(self) -> bytes:
        """The next message; the socket's own pings are answered on the way."""
        while True:
            kind, payload = self._frame()
            if kind == TEXT:
                return payload
            if kind == PING:
                self._send(PONG, payload)
            assert kind != CLOSE, f"the server closed: {payload!r}"

    def _frame(self) -> tuple[int, bytes]:
        """A whole frame, as servers send them: not masked and, here, never in parts."""
        first, length = self._take(2)
        if length == 126:
            (length,) = struct.unpack(">H", self._take(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self._take(8))
        assert first & 0x80, "a message came in parts"
        return first & 0x0F, self._take(length)

    def _take(self, size: int) -> bytes:
        while len(self._received) < size:
            self._more()
        taken, self._received = self._received[:size], self._received[size:]
        return taken

    def _more(self) -> None:
        part = self._socket.recv(RECEIVE_BYTES)
        assert part, "the server hung up"
        self._received += part

    def _say(self, message: dict[str, Any]) -> None:
        self._send(TEXT, json.dumps(message).encode())

    def _send(self, kind: int, payload: bytes) -> None:
        """A frame as clients must send it: masked; with zeros, which leave it as it is."""
        size = len(payload)
        assert size < 1 << 16
        length = bytes([0x80 | size]) if size < 126 else struct.pack(">BH", 0x80 | 126, size)
        self._socket.sendall(bytes([0x80 | kind]) + length + bytes(4) + payload)
