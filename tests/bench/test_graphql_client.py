from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from bench.graphql_client import CONNECTIONS, Client, post

BODY = b'{"data": null}'
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n%s\r\n9\r\n%s\r\n0\r\n\r\n" % (
    BODY[:5],
    BODY[5:],
)
BAD = b"HTTP/1.1 503 Gone\r\nContent-Length: 4\r\n\r\nbusy"


class Answering:
    """A server that says ``parts`` to each request, and counts requests and connections."""

    def __init__(self, *parts: bytes) -> None:
        self._parts = parts
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/graphql"
        self.connections = 0
        self.requests = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=[connection], daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection:
            while connection.recv(65_536):
                with self._lock:
                    self.requests += 1
                for part in self._parts:
                    connection.sendall(part)


@pytest.fixture
def answering() -> Iterator[type[Answering]]:
    made: list[Answering] = []

    class Kept(Answering):
        def __init__(self, *parts: bytes) -> None:
            super().__init__(*parts)
            made.append(self)

    yield Kept
    for each in made:
        each.close()


def in_bytes(answer: bytes) -> list[bytes]:
    return [answer[at : at + 1] for at in range(len(answer))]


@pytest.mark.parametrize("answer", [WHOLE, CHUNKS], ids=["whole", "chunks"])
@pytest.mark.parametrize("cut", [lambda answer: [answer], in_bytes], ids=["at once", "by the byte"])
def test_an_answer_is_read_however_it_arrives(answering, answer, cut):
    server = answering(*cut(answer))
    client = Client(server.url)
    assert [client.ask(post(server.url, b"{}")) for _ in range(3)] == [BODY] * 3
    client.close()
    assert server.connections == 1


@pytest.mark.parametrize("requests", [1, CONNECTIONS, CONNECTIONS + 3, 40])
def test_a_load_is_as_many_requests_as_it_says_and_all_are_answered(answering, requests):
    server = answering(WHOLE)
    client = Client(server.url)
    client.load(lambda: post(server.url, b"{}"), requests)
    assert server.requests == requests
    assert client.ask(post(server.url, b"{}")) == BODY
    client.close()


def test_a_refusal_is_not_taken_for_an_answer(answering):
    server = answering(BAD)
    client = Client(server.url)
    with pytest.raises(AssertionError, match=r"(?s)503.*busy"):
        client.load(lambda: post(server.url, b"{}"), 1)
    client.close()
