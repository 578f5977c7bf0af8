"""What a poll of an unchanged store costs the worker, beside a static file of the same bytes.

Both are asked by HEAD, with the ETag the store has, over connections that stay; the same listener
stands before both. The first round is told apart: in it every pointer is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection
from statistics import median
from urllib.parse import urlsplit

from bench.graphql_process import Server, running
from bench.render_process import Worker, python
from bench.result import Row, row
from bench.scale import Scale
from bench.stores import directory

SERVED, STATIC = "served artifacts", "static files"
CONNECTIONS = 8
POLLS = 4_000
"""In one round."""
ROUNDS_MAX = 5


def polled(worker: Worker, clusters: Sequence[str], scale: Scale, size: str) -> list[Row]:
    """CPU of each server for a poll, and how many a core could answer."""
    files = directory()
    paths = {
        SERVED: [f"/v2/clusters/{name}/manifests/current" for name in clusters],
        STATIC: [f"/static/{name}" for name in clusters],
    }
    made = _spent(worker.server, paths[SERVED], {}) / len(clusters) * 1e6
    for name, path in zip(clusters, paths[SERVED], strict=True):
        (files / name).write_bytes(_body(worker.server, path))
    with running(python("bench.render_static", str(files)), {}) as static:
        spent = _rounds({SERVED: worker.server, STATIC: static}, paths, scale)
    rows = [row(f"a poll of a store for the first time, {size}", SERVED, made, "us")]
    measure, rate = f"a poll of an unchanged store, {size}", f"polls of a core, {size}"
    ours, theirs = spent[SERVED], spent[STATIC]
    rows += [row(measure, SERVED, ours, "us", over=theirs, ratio_to=STATIC)]
    rows += [row(measure, STATIC, theirs, "us")]
    rows += [row(rate, subject, 1e6 / spent[subject], "polls/s") for subject in spent]
    return rows


def _rounds(
    servers: dict[str, Server], paths: dict[str, list[str]], scale: Scale
) -> dict[str, float]:
    """Microseconds of a poll: the median of rounds that take turns."""
    tags: dict[str, dict[str, str]] = {side: {} for side in servers}
    seen: dict[str, list[float]] = {side: [] for side in servers}
    for turn in range(min(scale.rounds, ROUNDS_MAX) + 1):
        for side, server in servers.items():
            many = (paths[side] * (POLLS // len(paths[side]) + 1))[:POLLS]
            spent = _spent(server, many, tags[side]) / len(many) * 1e6
            if turn:  # the first one warms up, and learns the tags
                seen[side].append(spent)
    return {side: median(each) for side, each in seen.items()}


def _spent(server: Server, paths: Sequence[str], tags: dict[str, str]) -> float:
    before = server.cpu_seconds()
    asyncio.run(_asked(urlsplit(server.url).netloc, paths, tags))
    return server.cpu_seconds() - before


async def _asked(address: str, paths: Sequence[str], tags: dict[str, str]) -> None:
    parts = [paths[each::CONNECTIONS] for each in range(CONNECTIONS)]
    await asyncio.gather(*(_poll(address, part, tags) for part in parts))


async def _poll(address: str, paths: Sequence[str], tags: dict[str, str]) -> None:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    for path in paths:
        known = f"If-None-Match: {tags[path]}\r\n" if path in tags else ""
        writer.write(f"HEAD {path} HTTP/1.1\r\nHost: {address}\r\n{known}\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        assert head.startswith("HTTP/1.1 304" if known else "HTTP/1.1 200"), head
        for line in head.split("\r\n"):
            name, _, value = line.partition(":")
            if name.lower() == "etag":
                tags[path] = value.strip()
    writer.close()
    await writer.wait_closed()


def _body(server: Server, path: str) -> bytes:
    with closing(HTTPConnection(urlsplit(server.url).netloc, timeout=60)) as connection:
        connection.request("GET", path)
        return connection.getresponse().read()
