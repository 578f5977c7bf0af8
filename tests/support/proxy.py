"""A TCP proxy that misbehaves on purpose, between a store and its server.

It knows just enough of Bolt to see COMMIT go by, so it can cut exactly between that and the answer.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto

COMMIT = bytes.fromhex("0002 b012 0000")
"""The whole message: a chunk of two bytes, a structure without fields, and the end."""
PIECE_BYTES = 65_536
FOR_EVER = 1_000_000
"""More often than any test gives a fault the chance to strike."""


class Fault(Enum):
    """What happens to a connection."""

    NONE = auto()
    REFUSE = auto()
    CUT_UP = auto()
    """After so many bytes to the server."""
    CUT_DOWN = auto()
    """After so many bytes to the client."""
    RESET = auto()
    """As CUT_DOWN, but with a reset instead of an orderly end."""
    BLACKHOLE = auto()
    """After so many bytes to the client nothing passes, and nobody is told."""
    DELAY = auto()
    """Every piece to the client comes late."""
    CUT_BEFORE_COMMIT = auto()
    """COMMIT arrives, and the server never sees it."""
    CUT_AFTER_COMMIT = auto()
    """COMMIT is passed on, and the connection is gone before any answer."""
    CUT_COMMIT_ANSWER = auto()
    """COMMIT is answered, and the client never sees it."""


@dataclass
class Proxy:
    """Passes connections on to a server's port ``target``, until ``arm`` says otherwise."""

    host: str
    target: int
    port: int = 0
    fault: Fault = Fault.NONE
    after_bytes: int = 0
    hits_left: int = 0
    hits: int = 0
    """How often a fault has struck."""
    connections: int = 0
    """How many were opened by clients."""
    heard: bytearray = field(default_factory=bytearray)
    """Everything that clients have sent."""
    only: bytes = b""
    """Commits are cut only for transactions that sent these bytes."""
    then: Fault = Fault.NONE
    """What happens to every connection once the fault has struck so many times."""
    _pipes: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def arm(
        self,
        fault: Fault,
        *,
        after_bytes: int = 0,
        hits: int = 1,
        only: bytes = b"",
        then: Fault = Fault.NONE,
    ) -> None:
        """Let ``fault`` strike so many times from now on; ``then`` all is well again, or not."""
        self.fault, self.after_bytes, self.hits_left = fault, after_bytes, hits
        self.only, self.then = only, then

    def strikes(self, *faults: Fault) -> bool:
        """Whether one of ``faults`` strikes now."""
        if self.fault not in faults or self.hits_left == 0:
            return False
        self.hits_left -= 1
        self.hits += 1
        if self.hits_left == 0 and self.then is not Fault.NONE:
            self.arm(self.then, hits=FOR_EVER)
        return True

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from accept to its end."""
        task = asyncio.current_task()
        assert task is not None
        self._pipes.add(task)
        self.connections += 1
        try:
            if not self.strikes(Fault.REFUSE):
                await self._connect(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._pipes.discard(task)
            writer.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection(self.host, self.target)
        link = Link(self)
        ways = {
            asyncio.create_task(link.up(reader, up_writer)),
            asyncio.create_task(link.down(up_reader, writer)),
        }
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            up_writer.close()
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def stop(self) -> None:
        """Close what is open."""
        for pipe in list(self._pipes):
            pipe.cancel()
        await asyncio.gather(*self._pipes, return_exceptions=True)


@asynccontextmanager
async def proxy_to(host: str, target: int) -> AsyncIterator[Proxy]:
    """A proxy on 127.0.0.1 to a server."""
    proxy = Proxy(host, target)
    listener = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        await proxy.stop()
        await listener.wait_closed()


@dataclass
class Link:
    """The two directions of one connection."""

    proxy: Proxy
    tail: bytes = b""
    transaction: bytes = b""
    """What the client has sent since its last COMMIT."""
    sent: int = 0
    received: int = 0
    committing: bool = False
    silent: bool = False

    async def up(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Client to server."""
        while piece := await reader.read(PIECE_BYTES):
            commit = COMMIT in self.tail + piece
            self.tail = (self.tail + piece)[1 - len(COMMIT) :]
            self.sent += len(piece)
            self.proxy.heard += piece
            self.transaction += piece
            ours = commit and self.proxy.only in self.transaction
            if commit:
                self.transaction = b""
            if ours and self.proxy.strikes(Fault.CUT_BEFORE_COMMIT):
                return
            if self.sent > self.proxy.after_bytes and self.proxy.strikes(Fault.CUT_UP):
                writer.write(piece[: len(piece) // 2])
                await writer.drain()
                return
            if self.silent:
                continue
            self.committing = self.committing or commit
            writer.write(piece)
            await writer.drain()
            if ours and self.proxy.strikes(Fault.CUT_AFTER_COMMIT):
                return

    async def down(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Server to client."""
        while piece := await reader.read(PIECE_BYTES):
            self.received += len(piece)
            if self.committing and self.proxy.strikes(Fault.CUT_COMMIT_ANSWER):
                return
            self.committing = False
            if self.received > self.proxy.after_bytes:
                if self.proxy.strikes(Fault.CUT_DOWN):
                    writer.write(piece[: len(piece) // 2])
                    await writer.drain()
                    return
                if self.proxy.strikes(Fault.RESET):
                    reset(writer)
                    return
                self.silent = self.silent or self.proxy.strikes(Fault.BLACKHOLE)
            if self.proxy.strikes(Fault.DELAY):
                await asyncio.sleep(0.05)
            if not self.silent:
                writer.write(piece)
                await writer.drain()


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection as a crashed machine would: with RST."""
    held = writer.get_extra_info("socket")
    with suppress(OSError):
        held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
