"""Connections under floods: taken in pieces, in order, whole, and with turns for others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.serving.connections import HEAD_BYTES_MAX
from api.serving.pacing import PIECE_BYTES
from rough_clients import INIT, PING, TEXT, Bare, bare, frame, post, said, upgrade
from small_door import SmallDoor, small_door, small_engine

WAIT_SECONDS = 30
FLOOD_BYTES = 600_000
"""More than any single read brings."""
PATIENT: dict[str, Any] = {
    "requests_per_second": 1_000_000,
    "requests_burst": 1_000_000,
    "operations_per_socket_max": 1_000_000,
}
COUNT = "query ($n: Int!) { fleet { clusters(first: $n) { nodes { name } totalCount } } }"


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[SmallDoor]:
    async with small_engine(tmp_path) as engine, small_door(engine, **PATIENT) as door:
        yield door


def port_of(door: SmallDoor) -> int:
    return int(door.url.rpartition(":")[2])


async def opened(door: SmallDoor) -> Bare:
    """An introduced socket."""
    connection = await bare(port_of(door), upgrade())
    await connection.reader.readuntil(b"\r\n\r\n")
    connection.send(said(INIT))
    await connection.reader.readuntil(b'"connection_ack"}')
    return connection


def asking(number: int) -> bytes:
    body = {"query": COUNT, "variables": {"n": number % 3}}
    return post(body)


async def test_requests_sent_all_at_once_are_all_answered_in_order(door: SmallDoor) -> None:
    connection = await bare(port_of(door))
    count = FLOOD_BYTES // len(asking(0))
    connection.send(b"".join(map(asking, range(count))))
    async with asyncio.timeout(WAIT_SECONDS):
        for number in range(count):
            status, body = await connection.answer()
            assert status == 200
            assert len(json.loads(body)["data"]["fleet"]["clusters"]["nodes"]) == number % 3
    connection.close()


@pytest.mark.parametrize("size", [PIECE_BYTES - 1, PIECE_BYTES * 3, 900_000])
async def test_a_body_longer_than_a_piece_arrives_whole(door: SmallDoor, size: int) -> None:
    async with httpx.AsyncClient(timeout=WAIT_SECONDS, trust_env=False) as client:
        for sent in (dict(content=long_body(size)), dict(content=in_parts(long_body(size)))):
            headers = {"content-type": "application/json"}
            answer = await client.post(door.graphql, headers=headers, **sent)
            assert answer.json() == {"data": {"__typename": "Query"}}


def long_body(size: int) -> bytes:
    return json.dumps({"query": "{ __typename }", "extensions": {"x": "y" * size}}).encode()


async def in_parts(body: bytes) -> AsyncIterator[bytes]:
    """Its length is not said."""
    for start in range(0, len(body), 50_000):
        yield body[start : start + 50_000]


async def test_a_head_without_an_end_is_refused(door: SmallDoor) -> None:
    connection = await bare(port_of(door), b"GET /livez HTTP/1.1\r\n")
    connection.send(b"X: y\r\n" * (HEAD_BYTES_MAX // 6 + PIECE_BYTES))
    async with asyncio.timeout(WAIT_SECONDS):
        assert b"400 Bad Request" in await connection.reader.readuntil(b"\r\n")
        await connection.rest()
    connection.close()


async def test_a_flood_of_pings_leaves_turns_to_others(door: SmallDoor) -> None:
    connection = await opened(door)
    connection.send(frame(PING, b"p") * (FLOOD_BYTES // 7))
    connection.send(said({"type": "ping"}))
    pongs = asyncio.create_task(connection.reader.readuntil(b'{"type":"pong"}'))
    async with httpx.AsyncClient(trust_env=False) as client:
        for _ in range(5):
            assert (await client.get(f"{door.url}/livez")).status_code == 200
    assert not pongs.done(), "the flood was over before anybody else had a turn"
    connection.close()
    await asyncio.gather(pongs, return_exceptions=True)


async def test_messages_sent_all_at_once_are_all_heard_in_order(door: SmallDoor) -> None:
    connection = await opened(door)
    count = 300
    for number in range(count):
        payload = {"query": COUNT, "variables": {"n": 1}}
        connection.send(said({"type": "subscribe", "id": f"op-{number}", "payload": payload}))
        connection.send(frame(TEXT, b'{"type":', fin=False) + frame(0, b'"pong"}'))
    heard: list[bytes] = []
    async with asyncio.timeout(WAIT_SECONDS):
        for _ in range(count):
            heard.append(await connection.reader.readuntil(b'"type":"complete"}'))
    for place, each in enumerate(heard):
        assert b'"id":"op-%d","type":"next"' % place in each
    connection.close()


async def test_a_handshake_that_is_refused_is_no_fault_of_ours(
    door: SmallDoor, caplog: pytest.LogCaptureFixture
) -> None:
    connection = await bare(port_of(door), upgrade("nobodys-token"))
    async with asyncio.timeout(WAIT_SECONDS):
        assert (await connection.rest()).startswith(b"HTTP/1.1 401")
    assert not [each for each in caplog.records if each.levelname == "ERROR"]
    connection.close()


async def test_a_frame_longer_than_a_piece_arrives_whole(door: SmallDoor) -> None:
    connection = await opened(door)
    payload = {"query": "{ __typename }", "extensions": {"x": "y" * 200_000}}
    connection.send(said({"type": "subscribe", "id": "long", "payload": payload}))
    async with asyncio.timeout(WAIT_SECONDS):
        heard = await connection.reader.readuntil(b'"complete"}')
    assert b'{"id":"long","type":"next","payload":{"data":{"__typename":"Query"}}}' in heard
    connection.close()


async def test_bytes_that_are_no_text_end_their_socket_without_noise(
    door: SmallDoor, caplog: pytest.LogCaptureFixture
) -> None:
    connection = await opened(door)
    connection.send(frame(TEXT, b"\xff\xfe"))
    async with asyncio.timeout(WAIT_SECONDS):
        assert await connection.rest() == b"\x88\x02\x03\xef"  # 1007
    assert not [each for each in caplog.records if each.levelname == "ERROR"]
    connection.close()
