"""A load client that costs the machine little: a few kept connections, one request on each.

The next request goes out as soon as its connection's last answer is in, so the server always has
something to do and never more than ``CONNECTIONS`` at a time. Only the server's CPU is measured.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from urllib.parse import urlsplit

CONNECTIONS = 8
RECEIVE_BYTES = 1 << 18
TIMEOUT_SECONDS = 60

NextRequest = Callable[[], bytes]


def post(url: str, body: bytes) -> bytes:
    """The bytes of a POST of JSON."""
    head = _head("POST", url) + f"Content-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


def get(url: str) -> bytes:
    """The bytes of a GET."""
    return _head("GET", url).encode() + b"\r\n"


def _head(method: str, url: str) -> str:
    at = urlsplit(url)
    return f"{method} {at.path} HTTP/1.1\r\nHost: {at.netloc}\r\nAccept: application/json\r\n"


class Client:
    """Kept connections to one server."""

    def __init__(self, url: str) -> None:
        at = urlsplit(url)
        assert at.hostname is not None
        self._address = (at.hostname, at.port or 80)
        self._connections: list[Connection] = []

    def ask(self, request: bytes) -> bytes:
        """The body of one answer."""
        connection = self._open(1)[0]
        connection.send(request)
        return connection.receive()

    def load(self, following: NextRequest, requests: int) -> None:
        """``requests`` of them, all answered when this returns."""
        connections = self._open(CONNECTIONS)
        for number in range(requests):
            connection = connections[number % CONNECTIONS]
            if number >= CONNECTIONS:
                connection.receive()
            connection.send(following())
        for number in range(max(0, requests - CONNECTIONS), requests):
            connections[number % CONNECTIONS].receive()

    def close(self) -> None:
        """Let the connections go."""
        while self._connections:
            self._connections.pop().close()

    def _open(self, count: int) -> list[Connection]:
        while len(self._connections) < count:
            self._connections.append(Connection(self._address))
        return self._connections


class Connection:
    """One kept connection."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._socket = socket.create_connection(address, timeout=TIMEOUT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, request: bytes) -> None:
        """Put a whole request on the wire."""
        self._socket.sendall(request)

    def receive(self) -> bytes:
        """The body of the next answer, which must be a good one."""
        received = self._more(b"")
        while (end := received.find(b"\r\n\r\n")) < 0:
            received = self._more(received)
        head, body = received[:end].lower(), received[end + 4 :]
        length = _length(head)
        body = self._chunked(body) if length is None else self._exactly(body, length)
        if not head.startswith(b"http/1.1 200"):
            raise AssertionError(f"it answered {head.decode()}\n{body[:2000].decode()}")
        return body

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _exactly(self, body: bytes, length: int) -> bytes:
        parts, missing = [body], length - len(body)
        while missing > 0:
            parts.append(self._more(b""))
            missing -= len(parts[-1])
        return b"".join(parts)

    def _chunked(self, rest: bytes) -> bytes:
        """Chunks up to the empty one."""
        body = b""
        while True:
            while (end := rest.find(b"\r\n")) < 0:
                rest = self._more(rest)
            size = int(rest[:end], 16)
            while len(rest) < end + 2 + size + 2:
                rest = self._more(rest)
            if not size:
                return body
            body += rest[end + 2 : end + 2 + size]
            rest = rest[end + 2 + size + 2 :]

    def _more(self, received: bytes) -> bytes:
        part = self._socket.recv(RECEIVE_BYTES)
        if not part:
            raise AssertionError("the server hung up")
        return received + part


def _length(head: bytes) -> int | None:
    """What the answer says of its length; none if it comes in chunks."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name == b"content-length":
            return int(value)
    assert b"transfer-encoding: chunked" in head, head
    return None
