"""``flood.py PORT CONNECTIONS``: one caller that sends requests as fast as they are refused.

The request comes on the standard input. It runs until its input ends, then says on one line how
often it got which status.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter


async def send(port: int, request: bytes, over: asyncio.Event, statuses: Counter[str]) -> None:
    """One connection; what breaks it counts as a status."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while not over.is_set():
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]
            await reader.readexactly(int(length))
            statuses[head.split(b" ", 2)[1].decode()] += 1
    except (ConnectionError, asyncio.IncompleteReadError):
        statuses["broken"] += 1
    finally:
        writer.close()


async def flood(port: int, connections: int, request: bytes) -> Counter[str]:
    """What came of it, once the input ends."""
    over = asyncio.Event()
    statuses: Counter[str] = Counter()
    senders = [asyncio.create_task(send(port, request, over, statuses)) for _ in range(connections)]
    await asyncio.to_thread(sys.stdin.buffer.read)
    over.set()
    await asyncio.gather(*senders)
    return statuses


def main() -> None:
    port, connections = map(int, sys.argv[1:])
    request = bytes.fromhex(sys.stdin.buffer.readline().decode())
    print(json.dumps(asyncio.run(flood(port, connections, request))))


if __name__ == "__main__":
    main()
