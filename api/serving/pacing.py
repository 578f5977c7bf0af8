"""Pacing: what one connection sends at once is taken in small pieces, so that others have turns.

One read may bring a quarter of a megabyte: forty thousand pings, or ten thousand requests, and the
parsers take all of it before anybody else is served. Here a read that is longer than a piece waits,
and with it the connection: no more is read from it. Its pieces get a share of the time and no more.
"""

from __future__ import annotations

import asyncio
import time

PIECE_BYTES = 1_024
"""Bytes taken in one turn, unless they are known to be of one request: most requests are fewer."""
SHARE = 4
"""For every second spent on the pieces of one connection, others have so many."""


class Paced(asyncio.Protocol):
    """A protocol whose bytes come in pieces. Goes before the one that takes them."""

    transport: asyncio.Transport
    _rest: bytes = b""
    _at: int = 0
    """How far the rest has been taken."""
    _turn: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Take what came, or its first piece and the rest in later turns."""
        if not self._rest and len(data) <= PIECE_BYTES and self.ready():
            self.take(data)
            return
        self._rest, self._at = self._rest[self._at :] + data, 0
        self.hold()
        if self._turn is None:
            self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is left to be taken."""
        self.forget()
        super().connection_lost(exc)

    def take(self, data: bytes) -> None:
        """Hand bytes to the parser."""
        super().data_received(data)

    def go_on(self) -> None:
        """Take the next piece soon, if one waits: what held it up may be over."""
        if self._rest and self._turn is None:
            self._turn = asyncio.get_running_loop().call_later(0, self._next)

    def forget(self) -> None:
        """Let go of what has not been taken."""
        self._rest, self._at = b"", 0
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None

    # what the protocols know better

    def ready(self) -> bool:
        """Whether more may be taken now; if not, ``go_on`` is called when it may."""
        return True

    def known_bytes(self) -> int:
        """How many of the next bytes are the rest of a request, and cheap to take at once."""
        return 0

    def hold(self) -> None:
        """Read no more."""
        self.transport.pause_reading()

    def release(self) -> None:
        """Read on."""
        self.transport.resume_reading()

    def _next(self) -> None:
        self._turn = None
        if self.transport.is_closing():
            self.forget()
        elif self._rest and self.ready():
            started = time.perf_counter()
            self._take_piece(PIECE_BYTES)
            self._take_piece(self.known_bytes())
            if self._at >= len(self._rest):
                self.forget()
                self.release()
            else:
                wait_seconds = SHARE * (time.perf_counter() - started)
                self._turn = asyncio.get_running_loop().call_later(wait_seconds, self._next)

    def _take_piece(self, size: int) -> None:
        piece = self._rest[self._at : self._at + size]
        self._at += len(piece)
        if piece:
            self.take(piece)
