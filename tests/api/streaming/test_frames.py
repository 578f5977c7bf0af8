"""Frames: whatever is sent is a message of the protocol or a reason to close."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from api.execution.request import GraphQLRequest
from api.streaming.frames import (
    REASON_BYTES_MAX,
    Close,
    Closing,
    Complete,
    Init,
    Ping,
    Pong,
    Subscribe,
    next_head,
    read_frame,
)

FRAMES = {"test": 1_000, "campaign": 20_000}
ATOMS: list[Any] = [
    None, True, 0, -1, 1.5, 10**25, "", "x", "subscribe", "connection_init", "ping", "é\u2028", [],
    {}, ["1"], {"query": "{a}"}, {"query": 5}, {"authorization": 5}, "\x00", "\U0001d4b3" * 50,
]  # fmt: skip


def test_each_message_of_the_protocol_is_read() -> None:
    assert read_frame('{"type": "connection_init"}') == Init(None)
    given = '{"type": "connection_init", "payload": {"Authorization": "Bearer x", "more": 1}}'
    assert read_frame(given) == Init("Bearer x")
    request = GraphQLRequest("{a}", "A", {"b": 1})
    payload = {"query": "{a}", "operationName": "A", "variables": {"b": 1}, "extensions": {}}
    given = json.dumps({"type": "subscribe", "id": "1", "payload": payload})
    assert read_frame(given) == Subscribe("1", request)
    assert read_frame('{"type": "complete", "id": "1"}') == Complete("1")
    assert read_frame('{"type": "ping", "payload": {}}') == Ping()
    assert read_frame('{"type": "pong", "payload": null}') == Pong()


def test_an_id_is_sent_back_whatever_is_in_it() -> None:
    odd = 'a"b\\c\u2028d'
    assert json.loads(f"{next_head(odd)}{{}}}}") == {"id": odd, "type": "next", "payload": {}}


def test_a_reason_is_never_longer_than_a_close_may_carry() -> None:
    reason = Closing(Close.DUPLICATE, "é" * 200).reason
    assert len(reason.encode()) <= REASON_BYTES_MAX
    assert set(reason) == {"é"}


@pytest.mark.volume
def test_generated_frames_are_read_or_refused_and_nothing_else(scale: str) -> None:
    rng = random.Random(11)
    refused = 0
    for _ in range(FRAMES[scale]):
        text = _frame(rng)
        try:
            read_frame(text)
        except Closing as closing:
            refused += 1
            assert closing.code == 4400, text
            assert closing.reason, text
    assert FRAMES[scale] * 0.5 < refused < FRAMES[scale]


def _frame(rng: random.Random) -> str:
    keys = ["type", "id", "payload", "query", "x"]
    frame = {key: rng.choice(ATOMS) for key in rng.sample(keys, rng.randrange(len(keys)))}
    if rng.random() < 0.7:
        frame["type"] = rng.choice(["subscribe", "complete", "connection_init", "ping", "pong"])
    text = json.dumps(frame, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.3:
        cut = rng.randrange(len(text))
        text = text[:cut] + rng.choice(["", "[", "}", '"', "\\", "9" * 400]) + text[cut + 1 :]
    return text
